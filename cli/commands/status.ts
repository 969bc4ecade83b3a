import { takeSnapshot } from '../../client/snapshot';
import { parseId } from '../../domain/ids';
import { renderPipeline } from '../../render/pipeline';
import { forPeople } from '../../render/times';
import { withLastKnownFallback } from '../lastKnown';
import { emit } from '../output';
import { withClient } from '../door';
import { renderWatched, getSubject } from '../presenter';
import { watchUntilEnd } from '../watch';
import { durationOption, examples, type Register } from './command';

interface StatusOptions {
  readonly watch?: boolean;
  readonly timeout?: string;
}

export const statusCommand: Register = (program, cli) => {
  program
    .command('status <id>')
    .description('the state of a pipeline, release or deploy, and the reason and end of each wait')
    .option('-w, --watch', 'follow it until it ends, like `conveyor watch`')
    .option('--timeout <duration>', 'with --watch: stop watching after this long (exit 5)')
    .addHelpText('after', examples('conveyor status kvstore', 'conveyor status kvstore/12/deploy -o json'))
    .action(
      cli.handle<StatusOptions, [string]>(({ io, output, connect, options }, id) =>
        withClient(io, connect, async (client) => {
          const timeoutMs = durationOption('--timeout', options.timeout);
          if (options.watch)
            return watchUntilEnd(io, client, id, { output, ...(timeoutMs === undefined ? {} : { timeoutMs }) });
          if (parseId(id)?.kind === 'pipeline') {
            const pipeline = await withLastKnownFallback({ io, output, client }, id, () => client.status(id));
            emit(io, output, pipeline, {
              text: (view, shown) => (shown.kind === 'pipeline' ? renderPipeline(shown, view) : ''),
              name: [pipeline.id],
            });
            return 0;
          }
          const seen = await withLastKnownFallback({ io, output, client }, id, () => takeSnapshot(client, id, null));
          emit(io, output, getSubject(seen), {
            text: (view) => renderWatched(forPeople(seen, view), view),
            name: [id],
          });
          return 0;
        }),
      ),
    );
};
