import { EXIT } from '../../exit';
import { emit } from '../../output';
import { renderDiff } from '../../render/config';
import { examples, type Register } from '../command';
import { draftOf } from './draft';
import { REPOSITORY, type RepositoryOptions } from './choice';

export const diff: Register = (group, cli) => {
  group
    .command('diff <dir>')
    .description('which values a folder would change on the branch; changes nothing')
    .option('--base <commit>', 'what the folder is based on (default: the commit of its checkout, else the newest)')
    .option(...REPOSITORY)
    .addHelpText('after', examples('conveyor config diff flags', 'conveyor config diff flags -o json'))
    .action(
      cli.handle<RepositoryOptions & { readonly base?: string }, [string]>(async ({ io, output, options }, folder) => {
        const { baseOf, repositoryOf } = await import('./repository');
        const repository = await repositoryOf(io, options);
        const base = await baseOf(repository, folder, options.base);
        const draft = await draftOf(repository, base, folder);
        const values = await Promise.all(
          [...draft.values]
            .sort()
            .map(async ([path, after]) => ({ path, before: await repository.value(path, base), after })),
        );
        const report = {
          ...{ repository: repository.ref.name, base, files: [...draft.edits.keys()].sort(), values },
          problems: draft.problems.map(({ code, message, hint }) => ({ code, message, hint })),
        };
        emit(io, output, report, {
          text: (view, shown) => renderDiff({ ...shown, values }, view).join('\n'),
          name: values.map(({ path }) => path),
        });
        return report.problems.length === 0 ? EXIT.ok : EXIT.usage;
      }),
    );
};
