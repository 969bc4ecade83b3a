import { combineVersions } from '../artifact';
import type { Inheritance } from '../deploy/planRevert';
import type { DeployEndRecord } from '../release/state';
import type { Admission } from '../release/admission';
import { firstWithin } from '../size';
import { followOnRoom } from './room';
import { findLastUndeploy } from './undeploy';
import { queueRelease, isKnownBad, type ActiveRelease, type GoodDeploy, type PipelineState } from './state';

/**
 * Adds a release for the units that a deploy left out as unavailable (docs/design/deploy.md#phases); the release itself waits until they return.
 * A follow-on that had to make way is created again, as long as no newer version has been deployed.
 */
export function addFollowOn(
  state: PipelineState,
  { number, trigger, followOn }: ActiveRelease,
  { action, artifacts, result }: DeployEndRecord,
  nowMs: number,
): PipelineState {
  const { outcome, skipped = [], cause } = result;
  const of = followOn ? (trigger.of ?? number) : number;
  const units = followOn && outcome === 'cancelled' && cause !== undefined ? followOn.units : skipped;
  const isOver = outcome !== 'succeeded' && units === skipped;
  if (isOver || units.length === 0 || state.good[action]?.at(-1)?.release !== of) return state;
  const by = { kind: 'follow-on', actor: 'service:conveyor', key: null, of } as const;
  const named = firstWithin(units, followOnRoom(state));
  const more = units.length - named.length + (units === followOn?.units ? (followOn.more ?? 0) : 0);
  return queueRelease(state, artifacts, by, nowMs, {
    followOn: { action, units: named, ...(more > 0 ? { more } : {}) },
  });
}

/**
 * The reason why a follow-on is not needed any more: a newer version was deployed, or its own is known to be bad or was undone.
 */
export function whyDropped(
  state: PipelineState,
  { number, artifacts, trigger, followOn }: ActiveRelease,
): Exclude<Admission, { kind: 'granted' }> | undefined {
  if (followOn === undefined) return undefined;
  const bad = artifacts.flatMap((artifact) => isKnownBad(state, artifact) ?? [])[0];
  if (bad) return { kind: 'bad-package', reason: `${bad.artifact} is known to be bad: ${bad.reason}` };
  const now = state.good[followOn.action]?.at(-1)?.release ?? findLastUndeploy(state) ?? number;
  if (now === trigger.of) return undefined;
  const undoing = state.active.findLast(
    (other) => other.trigger.kind === 'rollback' && other.trigger.of === trigger.of,
  );
  return { kind: 'superseded', by: undoing?.number ?? now };
}

/** The follow-on with this release number; undefined if the release is no follow-on. */
export const findFollowOn = ({ active }: PipelineState, release: number): ActiveRelease | undefined =>
  active.find(({ number, followOn }) => number === release && followOn !== undefined);

/** Running follow-ons that have not begun to deploy, and that need a signal that they are not needed. */
export const droppable = (state: PipelineState): readonly { release: ActiveRelease; why: Admission }[] =>
  state.active.flatMap((release) => {
    if (release.state !== 'running' || release.deploying || release.dropped) return [];
    const why = whyDropped(state, release);
    return why ? [{ release, why }] : [];
  });

/** The good version before that of a follow-on; its units that run several versions go back to it. */
export const goodBefore = (
  good: readonly GoodDeploy[],
  artifacts: ActiveRelease['artifacts'],
): GoodDeploy | undefined => good.findLast(({ version }) => version !== combineVersions(artifacts));

/** A follow-on settles only its own units; the inheritance of the others stays. */
export function withUpdatedUnits(
  inherited: Inheritance | undefined,
  { followOn }: Pick<ActiveRelease, 'followOn'>,
): Inheritance | null {
  if (followOn === undefined || inherited === undefined) return null;
  return { ...inherited, settled: [...new Set([...(inherited.settled ?? []), ...followOn.units])] };
}
