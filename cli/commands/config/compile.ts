import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { valueFile } from '../../../configerator/compiler/tree';
import { plural } from '../../../domain/text';
import { renderCompiled } from '../../../render/config';
import { EXIT } from '../../exit';
import { emit } from '../../output';
import { examples, type Register } from '../command';
import { compileFolder } from './folder';

export const compileCommand: Register = (group, cli) => {
  group
    .command('compile <dir>')
    .description('runs the programs of a folder and checks all values; changes nothing without --out')
    .option('--out <dir>', 'write each value into this folder, as PATH.json')
    .addHelpText(
      'after',
      examples('conveyor config compile flags', 'conveyor config compile flags --out values -o json'),
    )
    .action(
      cli.handle<{ readonly out?: string }, [string]>(async ({ io, output, options: { out } }, folder) => {
        const { values, problems } = await compileFolder(folder);
        const isSound = problems.length === 0;
        if (out !== undefined && isSound)
          for (const { path, text } of values) {
            const file = join(out, valueFile(path));
            mkdirSync(dirname(file), { recursive: true });
            writeFileSync(file, text);
          }
        emit(
          io,
          output,
          { values, problems },
          {
            text: (view, shown) =>
              [
                ...renderCompiled(shown, view),
                ...(out !== undefined && isSound ? [`${plural(values.length, 'value')} written to ${out}`] : []),
              ].join('\n'),
            name: values.map(({ path }) => path),
          },
        );
        return isSound ? EXIT.ok : EXIT.usage;
      }),
    );
};
