import { historyTable } from '../../render/lists';
import { renderHistorySummary, summarizeHistory } from '../../render/summary';
import { withClient } from '../door';
import { withLastKnownFallback } from '../lastKnown';
import { emit } from '../output';
import { examples, type Register } from './command';

export const historyCommand: Register = (program, cli) => {
  program
    .command('history <pipeline>')
    .description('the releases of a pipeline: versions, outcomes, durations')
    .option('--summary', 'how many ended in each state, and why')
    .addHelpText(
      'after',
      examples('conveyor history kvstore', 'conveyor history kvstore --summary', 'conveyor history kvstore -o json'),
    )
    .action(
      cli.handle<{ readonly summary?: boolean }, [string]>(({ io, output, connect, options }, pipeline) =>
        withClient(io, connect, async (client) => {
          const rows = await withLastKnownFallback({ io, output, client }, pipeline, () => client.history(pipeline));
          if (options.summary) {
            const summary = summarizeHistory(pipeline, rows);
            emit(io, output, summary, { text: (view, shown) => renderHistorySummary(shown, view), name: [pipeline] });
            return 0;
          }
          emit(io, output, rows, {
            text: (view, shown) => historyTable(shown, view, output.wide),
            name: rows.map((row) => row.id),
          });
          return 0;
        }),
      ),
    );
};
