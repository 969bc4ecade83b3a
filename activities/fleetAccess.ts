import { decideDeploy, decideUse } from '../domain/access/usage';
import type { Unit } from '../domain/fleet/unit';
import type { DeploySpec } from '../domain/spec/deploy';
import { requireAllowed } from './behalf';
import { asFailure } from './failure';
import type { DeployCall, PushPorts } from './pushCalls';

/** @throws ApplicationFailure `not-permitted`, which says whose the units are */
export const allowDeploy = ({ platform }: PushPorts, call: DeployCall, units: readonly Unit[]): Promise<void> =>
  asFailure(() => {
    const held = { pushType: call.pushType, units: units.map(({ id }) => id) };
    requireAllowed(platform, call, call.pipeline, (facts, owners) => decideDeploy(facts, owners, held));
    return Promise.resolve();
  });

/** Rules are about units by name: those that joined since it was planned may be somebody else's. */
export async function allowJoined(ports: PushPorts, call: DeployCall, joined: readonly Unit[]): Promise<void> {
  if (joined.length > 0) await allowDeploy(ports, call, joined);
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
