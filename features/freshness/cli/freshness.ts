import { freshnessText } from '../render/freshness';
import { withClient } from '../../../cli/door';
import { emit } from '../../../cli/output';
import { countOption, examples, type Register } from '../../../cli/commands/command';

const DEFAULT_LIMIT = 50;

export const freshnessCommand: Register = (program, cli) => {
  program
    .command('freshness')
    .description('pipelines that have not been deployed for long, worst first')
    .option('-n, --limit <count>', `at most this many (default ${DEFAULT_LIMIT})`)
    .addHelpText(
      'after',
      examples(
        'conveyor freshness',
        `conveyor freshness -o json | jq -r '.pipelines[] | select(.state == "overdue") | .id'`,
      ),
    )
    .action(
      cli.handle<{ readonly limit?: string }>(({ io, output, connect, options }) => {
        const limit = countOption('--limit', options.limit, DEFAULT_LIMIT);
        return withClient(io, connect, async (client) => {
          const report = await client.freshness();
          const shown = { ...report, pipelines: report.pipelines.slice(0, limit) };
          const more = report.pipelines.length - shown.pipelines.length;
          emit(io, output, shown, {
            text: (view, it) => freshnessText(it, more, view, output.wide),
            name: shown.pipelines.map(({ id }) => id),
          });
          return 0;
        });
      }),
    );
};
