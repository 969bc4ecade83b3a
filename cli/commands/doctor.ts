import { runChecks } from '../doctor/checks';
import { EXIT } from '../exit';
import { emit } from '../output';
import { renderChecks } from '../render/checks';
import { examples, type Register } from './command';

export const doctorCommand: Register = (program, cli) => {
  program
    .command('doctor')
    .description('what is missing on this machine, and how to get it; changes nothing')
    .addHelpText('after', examples('conveyor doctor', 'conveyor doctor -o json'))
    .action(
      cli.handle<object>(async ({ io, output, connect }) => {
        const checks = await runChecks(io.env, connect, io);
        emit(
          io,
          output,
          { checks },
          {
            text: (view, shown) => renderChecks(shown.checks, view),
            name: checks.filter((check) => check.state !== 'ok').map((check) => check.name),
          },
        );
        return checks.some((check) => check.state === 'missing') ? EXIT.error : EXIT.ok;
      }),
    );
};
