import { renderConfigProblems, renderDeleted } from '../../../render/config';
import type { View } from '../../../render/paint';
import { EXIT } from '../../exit';
import { emit } from '../../output';
import { examples, type Register } from '../command';
import { REPOSITORY, type RepositoryOptions } from './choice';
import { rememberBasis } from './basis';
import { openFolderClient } from './openFolderClient';

interface ProposeOptions extends RepositoryOptions {
  readonly message: string;
  readonly base?: string;
}

export const propose: Register = (group, cli) => {
  group
    .command('propose <dir>')
    .description(
      'makes a change from a folder: a commit with its values, which reach no host until the change is released',
    )
    .requiredOption('-m, --message <text>', 'what changes, and why')
    .option(
      '--base <commit>',
      'what the folder is based on (default: the commit of its checkout, or what the folder remembers)',
    )
    .option(...REPOSITORY)
    .addHelpText(
      'after',
      examples(
        "conveyor config propose flags -m 'Halve the soft limit of feeds'",
        "conveyor config propose flags -m 'Try it' -r flags -o json",
      ),
    )
    .action(
      cli.handle<ProposeOptions, [string]>(async (call, folder) => {
        const { io, output, options } = call;
        const repository = await openFolderClient(call, options);
        const outcome = await repository.propose(folder, options.message, options.base);
        if ('problems' in outcome) {
          const text = (view: View, shown: typeof outcome) => renderConfigProblems(shown.problems, view).join('\n');
          emit(io, output, outcome, { text, name: [] });
          return EXIT.usage;
        }
        const { change, version, base, paths, basis, deleted = [] } = outcome;
        const proposed = { repository: repository.name, change, version, base, paths, deleted };
        emit(io, output, proposed, {
          text: (view, shown) =>
            [shown.version, ...shown.paths.map((path) => `  ${path}`), ...renderDeleted(shown.deleted, view)].join(
              '\n',
            ),
          name: [version],
        });
        const commit = version.slice(`${change}@`.length);
        const forgotten = rememberBasis(folder, { repository: repository.name, base: basis, commit });
        if (forgotten !== undefined) io.stderr.write(`${forgotten}\n`);
        return EXIT.ok;
      }),
    );
};
