import { ZodError } from 'zod';
import { lintImportedSpec, parsePipelineDocument } from '../../domain/spec/pipelineDocument';
import { createShapeError, readData } from '../dataFile';
import { EXIT } from '../exit';
import { resolveActor, withClient } from '../door';
import { printExport } from '../exportFile';
import { emit, printNote } from '../output';
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
            const done = `${pipeline} is in ${file}; conveyor pipeline import ${asWord(file)} puts it back`;
            printExport(io, document, file, done);
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
          const answer = await client.importPipeline(document, resolveActor(io, connect));
          const { created, continued, configNotes = [] } = answer;
          for (const problem of lintImportedSpec(document)) printNote(io, `warning: ${problem}`);
          for (const note of configNotes) printNote(io, `note: ${note}`);
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
