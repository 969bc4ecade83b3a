import { conveyorError } from '../../../domain/errors';
import { EXIT } from '../../exit';
import { emit } from '../../output';
import { renderConfigProblems, renderWhy } from '../../render/config';
import { examples, type Register } from '../command';
import { compileFolder } from './folder';

export const why: Register = (group, cli) => {
  group
    .command('why <path>')
    .description('which files a value comes from, or which values a file contributes to')
    .option('--dir <dir>', 'the folder of the sources', '.')
    .addHelpText(
      'after',
      examples('conveyor config why feed/limits', 'conveyor config why feed/shared.ts --dir flags -o json'),
    )
    .action(
      cli.handle<{ readonly dir: string }, [string]>(async ({ io, output, options: { dir } }, path) => {
        const { values, problems } = await compileFolder(dir);
        const files = values.find((value) => value.path === path)?.sources ?? [];
        const contributesTo = values.filter(({ sources }) => sources.includes(path)).map((value) => value.path);
        if (files.length === 0 && contributesTo.length === 0) throw unknown(path, dir, problems.length);
        const found = { path, files, contributesTo, problems };
        emit(io, output, found, {
          text: (view, shown) => [...renderWhy(shown), ...renderConfigProblems(shown.problems, view)].join('\n'),
          name: files.length > 0 ? files : contributesTo,
        });
        return EXIT.ok;
      }),
    );
};

function unknown(path: string, dir: string, problems: number): Error {
  const broken = problems === 0 ? '' : `, and ${problems} of its files or values are refused`;
  return conveyorError('usage', {
    text: `${path} is neither a value of ${dir} nor a file that one comes from${broken}`,
    hint: `conveyor config compile ${dir} lists the values and what is refused`,
  });
}
