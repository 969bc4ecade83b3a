import { withClient } from '../door';
import { watchUntilEnd } from '../watch';
import { durationOption, examples, type Register } from './command';

export const watchCommand: Register = (program, cli) => {
  program
    .command('watch <id>')
    .description('follow a release or deploy live until it ends; exit 0 only if it succeeded')
    .option('--timeout <duration>', 'stop watching after this long (exit 5); it continues')
    .addHelpText(
      'after',
      examples(
        'conveyor watch kvstore',
        'conveyor watch kvstore/12 --timeout 2h',
        'conveyor watch kvstore/12 -o jsonl',
      ),
    )
    .action(
      cli.handle<{ readonly timeout?: string }, [string]>(({ io, output, connect, options }, id) =>
        withClient(io, connect, (client) => {
          const timeoutMs = durationOption('--timeout', options.timeout);
          return watchUntilEnd(io, client, id, { output, ...(timeoutMs === undefined ? {} : { timeoutMs }) });
        }),
      ),
    );
};
