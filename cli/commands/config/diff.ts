import { renderDiff } from '../../../render/config';
import { EXIT } from '../../exit';
import { emit } from '../../output';
import { examples, type Register } from '../command';
import { REPOSITORY, type RepositoryOptions } from './choice';
import { openFolderClient } from './openFolderClient';

export const diff: Register = (group, cli) => {
  group
    .command('diff <dir>')
    .description('show the values that a folder would change on the branch; changes nothing')
    .option(
      '--base <commit>',
      'what the folder is based on (default: the commit of its checkout, or what the folder remembers)',
    )
    .option(...REPOSITORY)
    .addHelpText('after', examples('conveyor config diff flags', 'conveyor config diff flags -o json'))
    .action(
      cli.handle<RepositoryOptions & { readonly base?: string }, [string]>(async (call, folder) => {
        const { io, output, options } = call;
        const repository = await openFolderClient(call, options);
        const { base, files, deleted, values, problems } = await repository.diff(folder, options.base);
        emit(
          io,
          output,
          { repository: repository.name, base, files, deleted, values, problems },
          {
            text: (view, shown) => renderDiff({ ...shown, values }, view).join('\n'),
            name: values.map(({ path }) => path),
          },
        );
        return problems.length === 0 ? EXIT.ok : EXIT.usage;
      }),
    );
};
