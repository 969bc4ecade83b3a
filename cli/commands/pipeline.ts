import { writeFileSync } from 'node:fs';
import { ZodError } from 'zod';
import { conveyorError } from '../../domain/errors';
import { lintImportedSpec, parsePipelineDocument } from '../../domain/spec/pipelineDocument';
import { createShapeError, readData } from '../dataFile';
import { EXIT } from '../exit';
import { resolveActor, withClient } from '../door';
import { emit, isFormat, jsonText, printNote } from '../output';
import { asWord } from '../typedCommand';
import { examples, type Register } from './command';

const exportCommand: Register = (group, cli) => {
  group
    .command('export <pipeline>')
    .description(
      'print everything that a pipeline remembers, as JSON: spec, records, known-bad, numbers; -o FILE writes a file',
    )
    .addHelpText(
      'after',
      examples('conveyor pipeline export kvstore -o kvstore.json', 'conveyor pipeline export kvstore > kvstore.json'),
    )
    .action(
      cli.handle<{ readonly output: string }, [string]>(
        ({ io, connect, options: { output: file } }, pipeline) =>
          withClient(io, connect, async (client) => {
            const document = await client.exportPipeline(pipeline);
            const text = `${jsonText(document, 2)}\n`;
            // An export is always JSON, regardless of the requested format.
            if (isFormat(file)) io.stdout.write(text);
            else {
              write(file, text);
              printNote(io, `${pipeline} is in ${file}; conveyor pipeline import ${asWord(file)} puts it back`);
            }
            return EXIT.ok;
          }),
        { toFile: true },
      ),
    );
};

const importCommand: Register = (group, cli) => {
  group
    .command('import <file>')
    .description('restore an export; refused if the pipeline is ahead of it')
    .addHelpText('after', examples('conveyor pipeline import kvstore.json'))
    .action(
      cli.handle<object, [string]>(({ io, output, connect }, file) => {
        const document = parsePipelineDocument(readData(file));
        if (document instanceof ZodError) throw createShapeError(file, document);
        return withClient(io, connect, async (client) => {
          const { created, continued } = await client.importPipeline(document, resolveActor(io, connect));
          for (const problem of lintImportedSpec(document)) printNote(io, `warning: ${problem}`);
          const { pipeline, nextNumber } = document;
          const next = Math.max(nextNumber, (continued?.after ?? 0) + 1);
          const done = { pipeline, file, result: created ? 'created' : 'replaced', nextRelease: next };
          emit(io, output, done, {
            text: (_, shown) =>
              `${pipeline} ${done.result} from ${shown.file}; its next release is ${pipeline}/${next}`,
            name: [pipeline],
          });
          return EXIT.ok;
        });
      }),
    );
};

/** Exports a pipeline's state from Temporal and imports it again. */
export const pipelineCommand: Register = (program, cli) => {
  const group = program
    .command('pipeline')
    .description('export what a pipeline remembers, and restore it')
    .helpCommand(false);
  for (const register of [exportCommand, importCommand]) register(group, cli);
};

function write(file: string, text: string): void {
  try {
    writeFileSync(file, text, { mode: 0o600 });
  } catch (error) {
    throw conveyorError('usage', {
      text: `${file} cannot be written: ${error instanceof Error ? error.message : String(error)}`,
      hint: 'name another file with -o',
    });
  }
}
