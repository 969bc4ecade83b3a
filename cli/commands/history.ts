import { withClient } from '../io';
import { emit } from '../output';
import { historyTable } from '../render/lists';
import { examples, type Register } from './command';

export const history: Register = (program, cli) => {
  program
    .command('history <pipeline>')
    .description('the releases of a pipeline: what was deployed, how it ended, how long it took')
    .addHelpText('after', examples('conveyor history kvstore', 'conveyor history kvstore -o json'))
    .action(
      cli.handle<object, [string]>(({ io, output, connect }, pipeline) =>
        withClient(io, connect, async (client) => {
          const rows = await client.history(pipeline);
          emit(io, output, rows, {
            text: (view) => historyTable(rows, view, output.wide),
            name: rows.map((row) => row.id),
          });
          return 0;
        }),
      ),
    );
};
