import { allowApproved, allowDeploy, allowJoined, whetherSignedFor } from '../../activities/fleetAccess';
import type { DeployCall, PushPorts } from '../../activities/pushCalls';
import type { ApprovalAsk } from '../../domain/access/approvals';
import { isByAdmin } from '../../domain/principals';
import { toRollbackRights } from '../../domain/deploy/heldUnits';
import type { Unit } from '../../domain/fleet/unit';
import type { Trigger } from '../../domain/views';
import { parseRegistry } from '../../settings/registry';
import { artifact, signer } from './signing';

/** A way in which a version reaches a unit. */
interface Way extends Pick<Trigger, 'kind' | 'imported' | 'permitted'> {
  readonly type?: 'canary';
  /** The unit is listed only after the deploy was planned. */
  readonly joins?: true;
  /** For a rollback: the units that are known to have had the version that it restores. */
  readonly held?: readonly string[];
}

export const WAYS = {
  'a release or rerun by a person': { kind: 'manual' },
  'a canary': { kind: 'manual', type: 'canary' },
  'a unit that joins a deploy under way': { kind: 'manual', joins: true },
  'a release by a program through the API': { kind: 'api' },
  'a release by a webhook': { kind: 'webhook' },
  'a release by a finder': { kind: 'finder' },
  'a release by a parent': { kind: 'parent' },
  'an emergency of an owner': { kind: 'emergency' },
  'an emergency of an admin': { kind: 'emergency', permitted: 'platform.admins' },
  'a follow-on': { kind: 'follow-on' },
  'an undeploy, which removes it': { kind: 'undeploy' },
  'a rollback to a unit that had the version': { kind: 'rollback', held: ['kvstore-x'] },
  'a rollback to a unit that never had it': { kind: 'rollback', held: ['side-x'] },
  'a rollback to a version of no known unit': { kind: 'rollback', held: [] },
  'a rollback to a version that only an import calls good': { kind: 'rollback', imported: true, held: ['kvstore-x'] },
} as const satisfies Readonly<Record<string, Way>>;
export type WayName = keyof typeof WAYS;

const CI = signer();
const UNITS = [{ pushType: 'twine', units: ['kvstore-*'] }];

/** A platform with these rules about the unit, which apply to pipelines of `user:owner`. */
const platformOf = (rules: readonly object[]) =>
  parseRegistry(
    {
      platform: {
        ...{ admins: ['user:admin'], keys: { ci: CI.pem } },
        services: UNITS.map((units) => ({ ...units, owners: ['user:owner'] })),
        protection: rules.map((rule) => ({ services: UNITS, ...rule })),
      },
    },
    {},
  );

/** The requirement that a way lacks, and the rule behind it. */
const WANTED = {
  'without the right to the unit': [],
  'without a signature': [{ signed: { by: ['ci'] } }],
  'without an approval': [{ approvals: { count: 1, by: ['user:admin'] } }],
  'without a check': [{ requires: { checks: ['errors'] } }],
};
export type Lack = keyof typeof WANTED;
export const LACKS = Object.keys(WANTED) as Lack[];

const unit = (id: string) => ({ id }) as Unit;

/** Whether workers let a version, or its removal, reach the unit on a way that lacks this requirement, and no other. */
export async function reaches(name: WayName, lack: Lack): Promise<boolean> {
  const way: Way = WAYS[name];
  const platform = platformOf(WANTED[lack]);
  const ports = { platform: () => platform } as unknown as PushPorts;
  const owners = [lack === 'without the right to the unit' ? 'user:stranger' : 'user:owner'];
  const call = {
    ...{ pipeline: 'side', pushType: 'twine', owners },
    ...toRollbackRights(way.kind === 'rollback', way.imported),
    ...(isByAdmin(way) ? { byAdmin: true } : {}),
  } as unknown as DeployCall;
  const restores = way.held ? { held: { ids: way.held } } : {};
  // A removal brings nothing that could be signed.
  const [units, artifacts] = [[unit('kvstore-x')], way.kind === 'undeploy' ? [] : [artifact('kv:2')]];
  if (way.joins) return isLet(allowJoined(ports, call, { joined: units, before: [unit('side-x')] }, restores));
  return (
    (await isLet(allowDeploy(ports, call, units, restores))) &&
    (await isLet(allowApproved(ports, call, units, askOf(way)))) &&
    !('refused' in (await whetherSignedFor(ports, call, units, { artifacts, restores })))
  );
}

const askOf = ({ kind, imported, permitted, type }: Way): ApprovalAsk => ({
  ...{ pipeline: 'side', kind, askedBy: ['user:owner'], approvals: [], permitted },
  ...(imported ? { imported } : {}),
  action: { name: 'it', type: type ?? 'deploy', checks: [], soakMs: 0, hasWindow: false, emergencyApprovals: 1 },
});

const isLet = (asking: Promise<void>): Promise<boolean> =>
  asking.then(
    () => true,
    (error: { type?: string }) => {
      if (error.type === 'not-permitted') return false;
      throw error as Error;
    },
  );
