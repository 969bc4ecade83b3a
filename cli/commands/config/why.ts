import { conveyorError } from '../../../domain/errors';
import { renderConfigProblems, renderWhy } from '../../../render/config';
import { isAnyUntrusted } from '../../../render/signatures';
import { renderSubscribers } from '../../../render/subscribers';
import type { ValueOrigins } from '../../../client/operations/configuration';
import { EXIT } from '../../exit';
import { emit } from '../../output';
import { asWord } from '../../typedCommand';
import { examples, type CommandCall, type Register } from '../command';
import { REPOSITORY, TRUST, type TrustOptions } from './choice';
import { compileFolder, type CompiledFolder } from './folder';
import { openFolderClient } from './openFolderClient';

interface WhyOptions extends TrustOptions {
  readonly dir?: string;
}

/** Values of a folder have no subscribers yet. */
type FoundWhys = ValueOrigins & Pick<CompiledFolder, 'problems'>;

export const why: Register = (group, cli) => {
  group
    .command('why <path>')
    .description(
      'the files from which a value is made, or the values to which a file contributes, and their subscribers',
    )
    .option('--dir <dir>', 'read this folder instead of the branch; shows no subscribers')
    .option(...TRUST)
    .option(...REPOSITORY)
    .addHelpText(
      'after',
      examples(
        'conveyor config why feed/limits',
        'conveyor config why feed/limits --trust config-signing.pub',
        'conveyor config why feed/shared.ts --dir flags -o json',
      ),
    )
    .action(
      cli.handle<WhyOptions, [string]>(async (call, path) => {
        const { io, output, options } = call;
        if (options.dir !== undefined && options.trust !== undefined)
          throw conveyorError('usage', {
            text: '--trust checks the store, but --dir reads a folder',
            hint: 'leave one of them out',
          });
        const { files, contributesTo, subscribers, problems } =
          options.dir === undefined ? await explainOnBranch(call, path) : await explainInFolder(options.dir, path);
        emit(
          io,
          output,
          { path, files, contributesTo, subscribers, problems },
          {
            text: (view, shown) =>
              [
                ...renderWhy(shown),
                ...renderSubscribers(shown.subscribers, view),
                ...renderConfigProblems(shown.problems, view),
              ].join('\n'),
            name: files.length > 0 ? files : contributesTo,
          },
        );
        const signatures = Object.values(subscribers).map((one) => ('unknown' in one ? one : one.signatures));
        return isAnyUntrusted(signatures) ? EXIT.error : EXIT.ok;
      }),
    );
};

async function explainOnBranch(call: CommandCall<WhyOptions>, path: string): Promise<FoundWhys> {
  const repository = await openFolderClient(call, call.options);
  const { files, contributesTo, subscribers } = await repository.why(path);
  if (files.length + contributesTo.length > 0) return { files, contributesTo, subscribers, problems: [] };
  throw unknownPath(path, repository.name, 'conveyor config log shows what has landed; --dir DIR asks a folder');
}

async function explainInFolder(dir: string, path: string): Promise<FoundWhys> {
  const { values, problems } = await compileFolder(dir);
  const files = values.find((value) => value.path === path)?.sources ?? [];
  const contributesTo = values.filter(({ sources }) => sources.includes(path)).map((value) => value.path);
  if (files.length + contributesTo.length > 0) return { files, contributesTo, subscribers: {}, problems };
  const broken =
    problems.length === 0
      ? ''
      : `, and ${problems.length} of its files or values ${problems.length === 1 ? 'is' : 'are'} refused`;
  throw unknownPath(path, dir, `conveyor config compile ${asWord(dir)} lists the values and what is refused`, broken);
}

const unknownPath = (path: string, where: string, hint: string, broken: string = ''): Error =>
  conveyorError('usage', {
    text: `${path} is neither a value of ${where} nor a file that one comes from${broken}`,
    hint,
  });
