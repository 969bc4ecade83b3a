import { existsSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { ConveyorError, conveyorError } from '../../domain/errors';
import { NAME } from '../../domain/ids';
import { firstPipeline } from '../../domain/spec/firstPipeline';
import { installRoot } from '../../settings/registry';
import { paint } from '../../render/paint';
import type { ConnectOptions, Io } from '../io';
import { resolveActor } from '../door';
import { emit, printNote } from '../output';
import { findSelf } from '../self';
import { asWord } from '../typedCommand';
import { examples, type Register } from './command';

export const initCommand: Register = (program, cli) => {
  program
    .command('init [name]')
    .description('write a first, commented pipeline file; you become its owner')
    .option('-f, --file <path>', 'where to write it', 'pipeline.yaml')
    .addHelpText('after', examples('conveyor init kvstore', 'conveyor init web --file web/pipeline.yaml'))
    .action(
      cli.handle<{ readonly file: string }, [string | undefined]>(
        async ({ io, output, connect, options: { file } }, given) => {
          const name = given ?? pipelineNameFor(resolve('.'));
          if (!NAME.test(name))
            throw conveyorError('usage', {
              text: `${name} is not a pipeline name`,
              hint: 'lower-case letters, digits and hyphens, such as kvstore',
            });
          const owner = await findOwner(io, connect);
          writeNew(file, firstPipeline(name, owner, locateSchema(file)));
          const next = [
            `conveyor lint ${asWord(file)}`,
            `conveyor simulate job ${name}`,
            `conveyor apply ${asWord(file)}`,
            `conveyor release ${name} --artifact source=1 --wait`,
          ];
          emit(
            io,
            output,
            { file, pipeline: name, owner, next },
            {
              text: (view) => {
                const colors = paint(view.color);
                return [
                  `${colors.green('✔')} wrote ${file}, owned by ${owner}`,
                  colors.bold('Next'),
                  ...next.map((line) => `  ${colors.cyan(line)}`),
                ].join('\n');
              },
              name: [file],
            },
          );
          return 0;
        },
      ),
    );
};

/** The user's principal, as the server knows it if there is one. The file can be written without a server. */
async function findOwner(io: Io, connect: ConnectOptions): Promise<string> {
  try {
    return (await findSelf(io, connect)).principal;
  } catch (error) {
    if (!(error instanceof ConveyorError) || error.code === 'usage') throw error;
    printNote(io, `warning: ${error.message}; correct owners in the file before you apply it`);
    return resolveActor(io, connect);
  }
}

/** Null if this installation has none: editors complain about a missing schema. */
function locateSchema(file: string): string | null {
  const schema = join(installRoot(), 'conveyor.schema.json');
  const path = relative(dirname(resolve(file)), schema);
  return existsSync(schema) ? (path.startsWith('.') ? path : `./${path}`) : null;
}

/** The folder's name, as far as it can be a pipeline's. */
const pipelineNameFor = (folder: string): string =>
  basename(folder)
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 63) || 'pipeline';

function writeNew(file: string, text: string): void {
  try {
    writeFileSync(file, text, { flag: 'wx' });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST')
      throw conveyorError('usage', {
        text: `${file} already exists`,
        hint: 'choose another with --file; nothing was written',
      });
    throw conveyorError('usage', {
      text: `cannot write ${file}: ${message}`,
      hint: 'choose another place with --file',
    });
  }
}
