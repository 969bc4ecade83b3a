import type { ReleaseSummary } from '../../../domain/views';
import { locateChanges, renderChanges, renderLog } from '../../../render/config';
import { withClient } from '../../door';
import { EXIT } from '../../exit';
import { emit, printNote } from '../../output';
import { countOption, examples, type CommandCall, type Register } from '../command';
import { REPOSITORY, type RepositoryOptions } from './choice';
import { openFolderClient } from './openFolderClient';

interface ListOptions extends RepositoryOptions {
  readonly limit?: string;
}

interface StatusOptions extends ListOptions {
  readonly change?: string;
}

export const status: Register = (group, cli) => {
  group
    .command('status')
    .description(
      'changes, newest first: who proposed them, and their state: landed, in a release, abandoned, or proposed',
    )
    .option('--limit <n>', 'how many', '20')
    .option('--change <n>', 'only this change, whatever its age')
    .option(...REPOSITORY)
    .addHelpText('after', examples('conveyor config status', 'conveyor config status --change 12 -o json'))
    .action(
      cli.handle<StatusOptions>(async (call) => {
        const { io, output, options } = call;
        const repository = await openFolderClient(call, options);
        const number = countOption('--change', options.change, 0);
        const found =
          number === 0
            ? await repository.changes(countOption('--limit', options.limit, 20))
            : [await repository.change(number)];
        const releases = found.some(({ landed }) => landed === null) ? await fetchRecentReleases(call) : [];
        const changes = locateChanges(found, releases);
        emit(io, output, changes, {
          text: (view, shown) => renderChanges(shown, view).join('\n'),
          name: changes.map(({ change, commit }) => `${change}@${commit}`),
        });
        return EXIT.ok;
      }),
    );
};

/** How many releases are searched. */
const RELEASES = 500;
/** Git has the rest, so the wait for Temporal or a server ends then. */
const RELEASES_PATIENCE_MS = 5_000;

/** The newest releases; none, and a note, if they cannot be read. */
async function fetchRecentReleases({ io, connect }: CommandCall<unknown>): Promise<readonly ReleaseSummary[]> {
  const asked = withClient(io, connect, (client) => client.listReleases({ limit: RELEASES }));
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new Error(`no answer within ${RELEASES_PATIENCE_MS / 1_000}s`)),
      RELEASES_PATIENCE_MS,
    );
  });
  try {
    return await Promise.race([asked, late]);
  } catch (error) {
    printNote(io, `note: the releases of these changes are unknown: ${(error as Error).message}`);
    return [];
  } finally {
    clearTimeout(timer);
  }
}

export const log: Register = (group, cli) => {
  group
    .command('log')
    .description('landed changes, newest first')
    .option('--limit <n>', 'how many', '20')
    .option(...REPOSITORY)
    .addHelpText('after', examples('conveyor config log', 'conveyor config log --limit 100 -o json'))
    .action(
      cli.handle<ListOptions>(async (call) => {
        const { io, output, options } = call;
        const repository = await openFolderClient(call, options);
        const commits = await repository.log(countOption('--limit', options.limit, 20));
        emit(io, output, commits, {
          text: (view, shown) => renderLog(shown, view).join('\n'),
          name: commits.map(({ commit }) => commit),
        });
        return EXIT.ok;
      }),
    );
};
