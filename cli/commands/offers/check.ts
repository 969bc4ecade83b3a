import { conveyorError } from '../../../domain/errors';
import { NAME } from '../../../domain/ids';
import { checkWishes, listRefused } from '../../../domain/offers/excerpts';
import type { PipelineSpec } from '../../../domain/spec/pipeline';
import { renderWishChecks } from '../../../render/offers';
import { isInRange } from '../../../sdk/versions';
import { readExcerpts } from '../../excerptFiles';
import { EXIT } from '../../exit';
import type { Io } from '../../io';
import { emit, printNote } from '../../output';
import { requirePipelineFile } from '../../pipelineFile';
import { examples, type Register } from '../command';
import { collectOption } from '../start';

interface CheckOptions {
  readonly excerpts?: string;
  readonly allow: readonly string[];
}

export const checkOffers: Register = (group, cli) => {
  group
    .command('check <files...>')
    .description(
      'judge the wishes of pipeline files by the offers of these files and by excerpts; needs no server. Exit code 3 if one does not fit',
    )
    .option('--excerpts <dir>', 'a folder with excerpts of other pipelines (*.json), as `export` prints them')
    .option(
      '--allow <pipeline/offer>',
      'do not fail for wishes that this offer does not fit; repeat for several',
      collectOption,
      [],
    )
    .addHelpText(
      'after',
      examples(
        'conveyor offers check shop.yaml --excerpts excerpts',
        'conveyor offers check pipelines/*.yaml --excerpts excerpts --allow network/vpc',
      ),
    )
    .action(
      cli.handle<CheckOptions, [string[]]>(async ({ io, output, options }, files) => {
        for (const allowed of options.allow) requireOffer(allowed);
        const specs = await readSpecs(io, files);
        const excerpts = options.excerpts === undefined ? [] : readExcerpts(options.excerpts);
        const checked = checkWishes(specs, excerpts, options.allow, isInRange);
        const isUnused = (offer: string) =>
          !checked.some((wish) => wish.allowed && `${wish.from}/${wish.offer}` === offer);
        for (const offer of options.allow.filter(isUnused))
          printNote(io, `note: --allow ${offer} is not needed: no wish for it fails`);
        emit(
          io,
          output,
          { wishes: checked },
          {
            text: (view, { wishes }) => renderWishChecks(wishes, view),
            name: listRefused(checked).map(({ from, offer }) => `${from}/${offer}`),
          },
        );
        return listRefused(checked).length > 0 ? EXIT.notSucceeded : EXIT.ok;
      }),
    );
};

/** @throws ConveyorError `usage` */
function requireOffer(text: string): void {
  const [pipeline = '', offer = '', ...rest] = text.split('/');
  if (NAME.test(pipeline) && NAME.test(offer) && rest.length === 0) return;
  throw conveyorError('usage', { text: `--allow ${text} is not an offer`, hint: 'write it as network/vpc' });
}

async function readSpecs(io: Io, files: readonly string[]): Promise<readonly PipelineSpec[]> {
  const read = await Promise.all(files.map((file) => requirePipelineFile(file, io.now())));
  read.forEach(({ file, spec }, at) => {
    const other = read.slice(0, at).find((one) => one.spec.pipeline === spec.pipeline);
    if (other === undefined) return;
    const text = `${other.file} and ${file} are both the pipeline ${spec.pipeline}`;
    throw conveyorError('usage', { text, hint: 'leave one of them out' });
  });
  return read.map(({ spec }) => spec);
}
