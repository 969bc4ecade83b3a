import { actorOf } from '../../door';
import { EXIT } from '../../exit';
import { emit } from '../../output';
import { renderConfigProblems } from '../../render/config';
import { examples, type Register } from '../command';
import { draftOf } from './draft';
import { baseOf, REPOSITORY, repositoryOf, type RepositoryOptions } from './repository';

interface Options extends RepositoryOptions {
  readonly message: string;
  readonly base?: string;
}

export const propose: Register = (group, cli) => {
  group
    .command('propose <dir>')
    .description('makes a change of a folder: a commit with its values, which nobody reads until it is released')
    .requiredOption('-m, --message <text>', 'what changes, and why')
    .option('--base <commit>', 'what the folder is based on (default: the commit of its checkout, else the newest)')
    .option(...REPOSITORY)
    .addHelpText(
      'after',
      examples(
        "conveyor config propose flags -m 'Halve the soft limit of feeds'",
        "conveyor config propose flags -m 'Try it' -r flags -o json",
      ),
    )
    .action(
      cli.handle<Options, [string]>(async ({ io, output, connect, options }, folder) => {
        const repository = await repositoryOf(io, options);
        const draft = await draftOf(repository, await baseOf(repository, folder, options.base), folder);
        if (draft.problems.length > 0) {
          const problems = draft.problems.map(({ code, message, hint }) => ({ code, message, hint }));
          emit(
            io,
            output,
            { problems },
            { text: (view, shown) => renderConfigProblems(shown.problems, view).join('\n'), name: [] },
          );
          return EXIT.usage;
        }
        const by = { author: actorOf(io, connect), message: options.message, nowMs: io.now() };
        const made = await (await import('../../../config/repository/propose')).propose(repository, draft, by);
        const proposed = { repository: repository.ref.name, ...made, values: [...draft.values.keys()].sort() };
        emit(io, output, proposed, {
          text: (_view, shown) => [`${shown.version}`, ...shown.values.map((path) => `  ${path}`)].join('\n'),
          name: [made.version],
        });
        return EXIT.ok;
      }),
    );
};
