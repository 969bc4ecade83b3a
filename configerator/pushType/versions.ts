import type { Artifact } from '../../domain/artifact';
import type { Slot } from '../../sdk/updates/memory';
import { keepCommitted } from './committedVersion';
import type { ConfigPorts } from './ports';
import type { ConfigServiceState } from './serviceState';
import { refuseForeign } from './service';

/** A requested version, and its artifacts. */
export interface WantedVersion {
  readonly unit?: string;
  readonly version: string;
  readonly artifacts: readonly Artifact[];
  /** For the version of a revert: the updates to undo. */
  readonly updatedBy?: string[] | undefined;
}

/**
 * Remembers the contents of these versions, and forgets unneeded ones. @throws ExtensionError as `contentOf` and
 * `refuseForeign` do
 */
export async function learnVersions(
  served: ConfigServiceState,
  ports: ConfigPorts,
  asked: readonly WantedVersion[],
): Promise<void> {
  const { service } = served;
  for (const target of asked) {
    const { artifacts } = target;
    const version = served.meant(target);
    if (version === service.committed || service.contents[version] !== undefined) continue;
    const { change, content, landed } = await ports.changes.contentOf(service.repository, version, artifacts);
    refuseForeign(service, version, content);
    await keepCommitted(served, ports, content);
    service.contents[version] = content;
    service.changes[version] = change;
    if (landed !== null) service.commits[version] = landed;
  }
  forgetVersions(
    served,
    asked.map(({ version }) => version),
  );
}

/** How many manually committed versions are kept: no change has their contents, and a revert may need one. */
const BY_HAND = 20;

/** Forgets versions that no slot has and no known update needs. */
function forgetVersions(served: ConfigServiceState, asked: readonly string[]): void {
  const { service, state, units } = served;
  const slots = units.flatMap((id): Pick<Slot, 'version'>[] => [served.unit(id), ...served.unit(id).slots]);
  const brought = Object.values(state.updates).flatMap((update) => units.map((id) => update.units[id]?.version));
  const byHand = Object.keys(service.contents).filter((version) => version.startsWith('@'));
  const inUse = [...slots.map(({ version }) => version), ...brought];
  const needed = new Set([service.committed, ...asked, ...inUse, ...byHand.slice(-BY_HAND)]);
  for (const book of [service.contents, service.commits, service.changes])
    for (const version of Object.keys(book)) if (!needed.has(version)) delete book[version];
  const kept = Object.entries(service.removals ?? {}).filter(([version]) => needed.has(version));
  if (service.removals) service.removals = Object.fromEntries(kept);
}
