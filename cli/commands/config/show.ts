import type { ShownValue } from '../../../configerator/repository/views';
import type { KnownHost } from '../../../configerator/subscriptions';
import { conveyorError } from '../../../domain/errors';
import type { View } from '../../../render/paint';
import { isAnyUntrusted, renderSignatures } from '../../../render/signatures';
import { renderHost } from '../../../render/subscribers';
import { EXIT } from '../../exit';
import { emit, printNote } from '../../output';
import { countOption, examples, type CommandCall, type Register } from '../command';
import { REPOSITORY, TRUST, type TrustOptions } from './choice';
import type { FolderClient } from './folderClient';
import { openFolderClient } from './openFolderClient';

interface ShowOptions extends TrustOptions {
  readonly change?: string;
  readonly host?: string;
}

export const showValue: Register = (group, cli) => {
  group
    .command('show <path>')
    .description('a value as it is on the branch, in a change, or on a host')
    .option('--change <n>', 'the value in this change')
    .option(
      '--host <name>',
      'what this host has: the committed value or an override, since when, and why it is refused',
    )
    .option(...TRUST)
    .option(...REPOSITORY)
    .addHelpText(
      'after',
      examples(
        'conveyor config show feed/limits',
        'conveyor config show feed/limits --change 12 -o json',
        'conveyor config show feed/limits --host web-3',
        'conveyor config show feed/limits --trust config-signing.pub',
      ),
    )
    .action(
      cli.handle<ShowOptions, [string]>(async (call, path) => {
        const { io, output, options } = call;
        if (options.host !== undefined && options.change !== undefined)
          throw conveyorError('usage', {
            text: '--host shows the value of a host, and --change that of a change',
            hint: 'leave one of them out',
          });
        if (options.trust !== undefined && options.change !== undefined)
          throw conveyorError('usage', {
            text: '--trust checks the store, which has no change before it lands',
            hint: 'leave one of --trust and --change out',
          });
        const repository = await openFolderClient(call, options);
        if (options.host !== undefined) return showHost(call, repository, { path, host: options.host });
        const number = countOption('--change', options.change, 0);
        const shown = await repository.value(path, number === 0 ? null : number);
        if (options.trust !== undefined) return showChecked(call, repository, shown);
        emit(io, output, shown, { text: () => shown.value.trimEnd(), name: [path] });
        return EXIT.ok;
      }),
    );
};

/** The value of the branch goes to stdout unchanged, also for programs; notes about the store go to stderr. */
async function showChecked(
  { io, output }: Pick<CommandCall<unknown>, 'io' | 'output'>,
  repository: FolderClient,
  shown: ShownValue,
): Promise<number> {
  const signatures = await repository.signatures(shown.path);
  const text = (): string => shown.value.trimEnd();
  emit(io, output, { ...shown, signatures }, { text, name: [shown.path] });
  const isNothing = 'state' in signatures && signatures.state === 'absent';
  const lines = isNothing
    ? [`the store holds nothing of ${shown.path}`]
    : renderSignatures(shown.path, signatures, { color: false });
  for (const line of lines) printNote(io, `note: ${line}`);
  return 'state' in signatures && signatures.state === 'signed' ? EXIT.ok : EXIT.error;
}

/** If the store does not answer, git still knows the value on the branch. */
async function showHost(
  { io, output }: Pick<CommandCall<unknown>, 'io' | 'output'>,
  repository: FolderClient,
  { path, host }: { readonly path: string; readonly host: string },
): Promise<number> {
  const known: KnownHost = await repository.host(path, host);
  if ('unknown' in known) {
    const { commit, value } = await repository.value(path, null);
    const branch = { commit, value };
    const view = { path, host, subscription: null, value: null, unknown: known.unknown, signatures: null, branch };
    emit(io, output, view, { text: (how, shown) => renderHost({ ...shown, branch }, how).join('\n'), name: [] });
    return EXIT.error;
  }
  const { subscription, value, signatures } = known;
  if (subscription === null)
    throw conveyorError('not-found', { what: `subscriber ${host} of ${path}, or it has been silent for a minute` });
  const view = { path, host, subscription, value, unknown: null, signatures: signatures ?? null, branch: null };
  // Values keep their line breaks.
  const text = (how: View, shown: typeof view): string => renderHost({ ...shown, value }, how).join('\n');
  emit(io, output, view, { text, name: [subscription.state] });
  return isAnyUntrusted([signatures]) ? EXIT.error : EXIT.ok;
}
