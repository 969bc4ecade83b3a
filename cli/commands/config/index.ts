import { examples, type Register } from '../command';
import { compileCommand } from './compile';
import { diff } from './diff';
import { lockStore } from './lockStore';
import { log, status } from './look';
import { propose } from './propose';
import { publishModel } from './publishModel';
import { showValue } from './show';
import { why } from './why';

/** Configuration as programs: their values, the changes, and how these land. */
export const config: Register = (program, cli) => {
  const group = program
    .command('config')
    .description('configuration as programs: compile values, propose changes, and trace where values come from')
    .addHelpText(
      'after',
      examples(
        'conveyor config compile flags',
        'conveyor config diff flags',
        "conveyor config propose flags -m 'Halve the soft limit'",
      ),
    )
    .helpCommand(false);
  for (const register of [compileCommand, diff, propose, publishModel, status, log, showValue, why, lockStore])
    register(group, cli);
};
