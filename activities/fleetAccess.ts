import type { Restored } from '../domain/deploy/held';
import { decideRollback, decideDeploy, decideUse } from '../domain/access/usage';
import type { Unit } from '../domain/fleet/unit';
import type { DeploySpec } from '../domain/spec/deploy';
import { requireAllowed } from './behalf';
import { asFailure } from './failure';
import type { DeployCall, PushPorts } from './pushCalls';
import { readHeld } from './snapshots';

/**
 * Whether a deploy may have units. A rollback may have those that it had in what it restores; for others it takes the same right.
 * @throws ApplicationFailure `not-permitted`, which says whose the units are
 */
export const allowDeploy = (
  { platform, snapshots }: PushPorts,
  call: DeployCall,
  units: readonly Unit[],
  restores: Restored = {},
): Promise<void> =>
  asFailure(async () => {
    const { back, ...behalf } = call;
    const wanted = { pushType: call.pushType, units: units.map(({ id }) => id) };
    // What it held is read only where that decides.
    const isSeen = back && !call.imported;
    const isOwned = platform === undefined || decideDeploy(platform(), call.owners, wanted).allowed;
    const held = isSeen && !isOwned ? await readHeld(snapshots, restores.held) : [];
    requireAllowed(platform, behalf, call.pipeline, (facts, owners) =>
      back ? decideRollback(facts, owners, wanted, held) : decideDeploy(facts, owners, wanted),
    );
  });

/** Rules are about units by name: those that joined since it was planned may be somebody else's. */
export async function allowJoined(
  ports: PushPorts,
  call: DeployCall,
  joined: readonly Unit[],
  restores?: Restored,
): Promise<void> {
  if (joined.length > 0) await allowDeploy(ports, call, joined, restores);
}

/** @throws ApplicationFailure `not-permitted`, which says whose the data source is */
export const allowSources = ({ platform }: PushPorts, call: DeployCall, { healthChecks }: DeploySpec): Promise<void> =>
  asFailure(() => {
    for (const name of new Set(healthChecks.flatMap(({ source }) => source ?? [])))
      requireAllowed(platform, call, call.pipeline, (facts, owners) =>
        decideUse(facts, owners, { kind: 'data-source', name }),
      );
    return Promise.resolve();
  });
