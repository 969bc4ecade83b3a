import { formatIdentity, type Artifact } from '../artifact';
import type { VersionReplacement, ReplacedNotice } from '../broughtVersions';
import { STATE_LIMITS } from '../limits';
import { formatTime } from '../text';
import { withInherited, type ActiveRelease, type GoodDeploy, type PipelineState } from './state';
import { recordInterruption } from './uptime';

type GoodDeploys = readonly GoodDeploy[];

/**
 * Records that another pipeline replaced the version of a deploy action or removed its units, everywhere or on some units, or that the old version
 * runs again (domain/broughtVersions.ts). If it was replaced everywhere, the replacement is the running version, and a later release goes back to it.
 * If all units were removed, nothing runs, and a later release goes back to the version before that.
 */
export function recordReplacement(state: PipelineState, notice: ReplacedNotice, nowMs: number): PipelineState {
  const { action, release, by } = notice;
  const good = state.good[action] ?? [];
  const last = lastOwn(good);
  if (last?.release === release) {
    const isGone = by?.removed === true && by.on === undefined;
    const inherited = isGone ? withInherited(state.inherited, action, null) : state.inherited;
    return { ...state, inherited, good: { ...state.good, [action]: withReplacement(good, by, nowMs) } };
  }
  // The end of its own deploy is not recorded yet, or the notice comes from the lock of a service that the action has left.
  const isKnown = Object.hasOwn(state.spec.actions, action);
  const active = state.active.map((one) => (isKnown && one.number === release ? withNotice(one, notice) : one));
  return { ...state, active };
}

const withNotice = (release: ActiveRelease, { action, by }: ReplacedNotice): ActiveRelease => ({
  ...release,
  replaced: { ...release.replaced, [action]: by },
});

/** @param by null if the version that was brought last runs again */
export function withReplacement(
  good: GoodDeploys,
  by: VersionReplacement | null | undefined,
  nowMs: number,
): GoodDeploys {
  const own = good.slice(0, good.findLastIndex((deploy) => deploy.by === undefined) + 1);
  const last = own.at(-1);
  if (last === undefined || by === undefined) return good;
  const { partly: _, ...whole } = last;
  const before = own.slice(0, -1);
  if (by === null) return [...before, own.length === good.length ? whole : { ...whole, since: formatTime(nowMs) }];
  const removed = by.removed ? { removed: true as const } : {};
  if (by.on !== undefined)
    return [...before, { ...whole, partly: { by: by.by, version: by.version, on: by.on, ...removed } }];
  const { version, at } = by;
  const artifacts = by.removed ? [] : asOwn(last.artifacts, by);
  const entry = { release: last.release, version, artifacts, since: at, by: by.by, ...removed };
  return [...before, recordInterruption(whole, Date.parse(at)), entry].slice(-STATE_LIMITS.goodPerAction.max);
}

/** The artifacts of another pipeline under this pipeline's names; empty if several artifacts have other names. */
function asOwn(own: readonly Artifact[], { version, artifacts }: VersionReplacement): readonly Artifact[] {
  const [only, ...others] = own;
  if (only !== undefined && others.length === 0) return [{ name: only.name, kind: only.kind, version, metadata: {} }];
  const names = (all: readonly Artifact[]) =>
    all
      .map(({ name }) => name)
      .sort()
      .join();
  return names(own) === names(artifacts) ? artifacts : [];
}

/** The last version that the action itself brought. */
export const lastOwn = (good: GoodDeploys): GoodDeploy | undefined => good.findLast(({ by }) => by === undefined);

/** The release of another pipeline that runs in place of the action's version. */
export const findReplacingRelease = (good: GoodDeploys): GoodDeploy | undefined => {
  const last = good.at(-1);
  return last?.by === undefined ? undefined : last;
};

/**
 * Whether a rollback leaves an action alone, because another pipeline has replaced its version there and the rollback does not bring that
 * one, or because another pipeline has removed the units.
 * @param of the release to undo: after a removal, it may have left something on the units before it failed
 */
export function isLeftAlone(good: GoodDeploys, back: readonly Artifact[], of: number): boolean {
  const other = findReplacingRelease(good);
  if (other === undefined) return false;
  if (other.removed) return of <= other.release;
  const brings = new Set(back.map(formatIdentity));
  return other.artifacts.length === 0 || !other.artifacts.every((artifact) => brings.has(formatIdentity(artifact)));
}

/** In words, for people. */
export const describeReplacement = ({
  by = '',
  version,
  removed,
}: Pick<GoodDeploy, 'by' | 'version' | 'removed'>): string =>
  removed ? `${by} has removed the units, so nothing of it runs` : `${by} is what runs now (${version})`;
