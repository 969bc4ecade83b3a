import { REQUEST_LIMITS } from '../../domain/limits';
import { parseQuestion } from '../../domain/where/revision';
import { whereText } from '../../render/where';
import { withClient } from '../door';
import { EXIT } from '../exit';
import { emit } from '../output';
import { countOption, examples, type Register } from './command';

const DEFAULT_RELEASES = 50;

export const whereCommand: Register = (program, cli) => {
  program
    .command('where <revision>')
    .description('the releases that contain a commit, a version or a digest, and how far each is')
    .option('-n, --limit <count>', `at most this many releases (default ${DEFAULT_RELEASES})`)
    .addHelpText(
      'after',
      examples(
        'conveyor where 4f0c1d2',
        'conveyor where "$(git rev-parse HEAD)"',
        'conveyor where kv:12 -o wide',
        `conveyor where 4f0c1d2 -o json | jq '.releases[] | {id, stage, share, everywhereAt}'`,
      ),
    )
    .action(
      cli.handle<{ readonly limit?: string }, [string]>(({ io, output, connect, options }, text) => {
        const revision = parseQuestion(text).text;
        const limit = Math.min(countOption('--limit', options.limit, DEFAULT_RELEASES), REQUEST_LIMITS.rows.max);
        return withClient(io, connect, async (client) => {
          const found = await client.where({ revision, limit });
          emit(io, output, found, {
            text: (view, shown) => whereText(shown, view, output.wide),
            name: found.releases.map(({ id }) => id),
          });
          if (found.candidates.length > 0) return EXIT.usage;
          return found.releases.length === 0 ? EXIT.notFound : EXIT.ok;
        });
      }),
    );
};
