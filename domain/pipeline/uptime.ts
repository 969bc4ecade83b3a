import { combineVersions } from '../artifact';
import type { DeployEndRecord } from '../release/state';
import { formatTime } from '../text';
import type { ActiveRelease, GoodDeploy } from './state';

/** Measures how long the version of a deploy action has run without another deploy of the action; `soak` uses this. */

type GoodDeploys = readonly GoodDeploy[];

/**
 * The good deploys after a newer deploy of the action has succeeded. As far as known, the version before ran until that began. The
 * running time of versions that a rollback undoes does not count.
 */
export function recordSuccessor(
  good: GoodDeploys,
  by: ActiveRelease,
  { result }: DeployEndRecord,
  nowMs: number,
): GoodDeploys {
  const stopped = withLast(good, (last) => ranUntil(last, nowMs - lengthMs(result)));
  const { kind, of = Infinity } = by.trigger;
  if (kind !== 'rollback') return stopped;
  return stopped.map((deploy) => (deploy.release >= of ? unproven(deploy) : deploy));
}

/**
 * The start of the present run, if a deploy found its version everywhere and so interrupted nothing; undefined if it
 * brought the version.
 */
export function standsSince(last: GoodDeploy | undefined, { artifacts, result }: DeployEndRecord): string | undefined {
  const isSame = result.unchanged === true && last?.version === combineVersions(artifacts);
  return isSame ? (last.since ?? undefined) : undefined;
}

/** After a deploy that failed: if it was reverted, the time starts again; if it leaves units mixed, no time counts. */
export function recordDisturbance(good: GoodDeploys, { result }: DeployEndRecord, nowMs: number): GoodDeploys {
  const { updateMs, bakeMs, revertMs } = result.spans;
  if (updateMs + bakeMs + revertMs === 0) return good;
  const since = result.outcome === 'reverted' ? formatTime(nowMs) : null;
  return withLast(good, (last) => ({ ...ranUntil(last, nowMs - lengthMs(result)), since }));
}

/** The record of a version that another pipeline has replaced: it ran until then. */
export const recordInterruption = (last: GoodDeploy, atMs: number): GoodDeploy => ({
  ...ranUntil(last, atMs),
  since: null,
});

const withLast = (good: GoodDeploys, change: (last: GoodDeploy) => GoodDeploy): GoodDeploys =>
  good.map((deploy, index) => (index === good.length - 1 ? change(deploy) : deploy));

function ranUntil({ since, ranMs = 0, ...deploy }: GoodDeploy, endMs: number): GoodDeploy {
  const lastMs = typeof since === 'string' ? endMs - Date.parse(since) : 0;
  const longestMs = Math.max(ranMs, lastMs);
  return longestMs > 0 ? { ...deploy, ranMs: longestMs } : deploy;
}

const unproven = ({ ranMs: _ran, ...deploy }: GoodDeploy): GoodDeploy => deploy;

/** The duration of a deploy is the sum of its spans. */
const lengthMs = ({ spans }: DeployEndRecord['result']): number =>
  Object.values(spans).reduce((sum, ms) => sum + ms, 0);
