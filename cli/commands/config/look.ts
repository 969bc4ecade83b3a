import { conveyorError } from '../../../domain/errors';
import { EXIT } from '../../exit';
import { emit } from '../../output';
import { renderChanges, renderLog } from '../../render/config';
import { countOption, examples, type Register } from '../command';
import { REPOSITORY, repositoryOf, type RepositoryOptions } from './repository';

interface ListOptions extends RepositoryOptions {
  readonly limit?: string;
}

export const status: Register = (group, cli) => {
  group
    .command('status')
    .description('changes, newest first: who proposed them, and whether they have landed')
    .option('--limit <n>', 'how many', '20')
    .option(...REPOSITORY)
    .addHelpText('after', examples('conveyor config status', 'conveyor config status --limit 100 -o jsonl'))
    .action(
      cli.handle<ListOptions>(async ({ io, output, options }) => {
        const repository = await repositoryOf(io, options);
        const changes = await repository.changes(countOption('--limit', options.limit, 20));
        emit(io, output, changes, {
          text: (view, shown) => renderChanges(shown, view).join('\n'),
          name: changes.map(({ change, commit }) => `${change}@${commit}`),
        });
        return EXIT.ok;
      }),
    );
};

export const log: Register = (group, cli) => {
  group
    .command('log')
    .description('what has landed, newest first')
    .option('--limit <n>', 'how many', '20')
    .option(...REPOSITORY)
    .addHelpText('after', examples('conveyor config log', 'conveyor config log --limit 100 -o json'))
    .action(
      cli.handle<ListOptions>(async ({ io, output, options }) => {
        const repository = await repositoryOf(io, options);
        const commits = await repository.log(countOption('--limit', options.limit, 20));
        emit(io, output, commits, {
          text: (view, shown) => renderLog(shown, view).join('\n'),
          name: commits.map(({ commit }) => commit),
        });
        return EXIT.ok;
      }),
    );
};

export const show: Register = (group, cli) => {
  group
    .command('show <path>')
    .description('a value as it is on the branch, or in a change')
    .option('--change <n>', 'as this change would have it')
    .option(...REPOSITORY)
    .addHelpText(
      'after',
      examples('conveyor config show feed/limits', 'conveyor config show feed/limits --change 12 -o json'),
    )
    .action(
      cli.handle<RepositoryOptions & { readonly change?: string }, [string]>(async ({ io, output, options }, path) => {
        const repository = await repositoryOf(io, options);
        const number = countOption('--change', options.change, 0);
        const [change] = number === 0 ? [] : await repository.changesOf([number]);
        const commit = change?.commit ?? (await repository.head());
        const value = await repository.value(path, commit);
        if (value === null)
          throw conveyorError('not-found', {
            what: `${path} of ${commit === null ? 'a branch without commits' : commit.slice(0, 12)}`,
          });
        emit(io, output, { path, commit, value }, { text: () => value.trimEnd(), name: [path] });
        return EXIT.ok;
      }),
    );
};
