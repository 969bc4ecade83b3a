import { conveyorError } from '../../../domain/errors';
import { makeExcerpt } from '../../../domain/offers/excerpts';
import type { Excerpt } from '../../../domain/spec/excerpts';
import { withClient } from '../../door';
import { EXIT } from '../../exit';
import { printExport } from '../../exportFile';
import { isFile, requirePipelineFile } from '../../pipelineFile';
import { asWord } from '../../typedCommand';
import { examples, type CommandCall, type Register } from '../command';

interface ExportOptions {
  readonly output: string;
}

export const exportOffers: Register = (group, cli) => {
  group
    .command('export <pipeline...>')
    .description(
      'print the excerpt of a pipeline (a name or a file) as JSON: its offers without values, for `check`; -o FILE writes a file',
    )
    .addHelpText(
      'after',
      examples(
        'conveyor offers export network -o excerpts/network.json',
        'conveyor offers export network.yaml dns.yaml > excerpts/platform.json',
      ),
    )
    .action(
      cli.handle<ExportOptions, [string[]]>(
        async (call, given) => {
          const { io, options } = call;
          const excerpts = await Promise.all(
            given.map((one) => (isFile(one) ? ofFile(call, one) : ofPipeline(call, one))),
          );
          const [only] = excerpts;
          const done = `${given.join(', ')}: excerpts in ${options.output}; conveyor offers check FILE --excerpts DIR reads them`;
          printExport(io, excerpts.length === 1 && only ? only : excerpts, options.output, done);
          return EXIT.ok;
        },
        { toFile: true },
      ),
    );
};

async function ofFile({ io }: CommandCall<object>, file: string): Promise<Excerpt> {
  const { spec } = await requirePipelineFile(file, io.now());
  return requireOffers(file, makeExcerpt(spec), `conveyor lint ${asWord(file)} checks what it says`);
}

/** A retired pipeline keeps its file, but makes no offers. */
async function ofPipeline({ io, connect }: CommandCall<object>, pipeline: string): Promise<Excerpt> {
  return withClient(io, connect, async (client) => {
    const [spec, status] = await Promise.all([client.spec(pipeline), client.status(pipeline)]);
    const isRetired = status.kind === 'pipeline' && status.retired !== undefined;
    const excerpt = makeExcerpt(isRetired ? { pipeline } : spec);
    return requireOffers(pipeline, excerpt, `conveyor offers show ${pipeline} shows those that are still used`);
  });
}

function requireOffers(given: string, excerpt: Excerpt, hint: string): Excerpt {
  if (excerpt.offers.length > 0) return excerpt;
  throw conveyorError('usage', { text: `${given} has no offers`, hint });
}
