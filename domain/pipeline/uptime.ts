import { versionOf } from '../artifact';
import type { DeployEnded } from '../release/state';
import { formatTime } from '../text';
import type { ActiveRelease, GoodDeploy } from './state';

/** For how long what a deploy action brought has run, with no other deploy of it in between: what `soak` goes by. */

type GoodDeploys = readonly GoodDeploy[];

/**
 * What was good before, once a newer deploy of the action has come through. It ran until that began, as far as anybody knows;
 * what a rollback undoes has run in vain.
 */
export function madeWay(good: GoodDeploys, by: ActiveRelease, { result }: DeployEnded, nowMs: number): GoodDeploys {
  const stopped = withLast(good, (last) => ranUntil(last, nowMs - lengthMs(result)));
  const { kind, of = Infinity } = by.trigger;
  if (kind !== 'rollback') return stopped;
  return stopped.map((deploy) => (deploy.release >= of ? unproven(deploy) : deploy));
}

/** A deploy that found its version everywhere has interrupted nothing; undefined where it brought it. */
export function standsSince(last: GoodDeploy | undefined, { artifacts, result }: DeployEnded): string | undefined {
  const isSame = result.unchanged === true && last?.version === versionOf(artifacts);
  return isSame ? (last.since ?? undefined) : undefined;
}

/** A deploy that did not come through: once it has been taken back the time begins anew, and with what is left mixed it does not. */
export function disturbed(good: GoodDeploys, { result }: DeployEnded, nowMs: number): GoodDeploys {
  const { updateMs, bakeMs, revertMs } = result.spans;
  if (updateMs + bakeMs + revertMs === 0) return good;
  const since = result.outcome === 'reverted' ? formatTime(nowMs) : null;
  return withLast(good, (last) => ({ ...ranUntil(last, nowMs - lengthMs(result)), since }));
}

/** A version that another pipeline has replaced: it ran until then. */
export const interrupted = (last: GoodDeploy, atMs: number): GoodDeploy => ({ ...ranUntil(last, atMs), since: null });

const withLast = (good: GoodDeploys, change: (last: GoodDeploy) => GoodDeploy): GoodDeploys =>
  good.map((deploy, index) => (index === good.length - 1 ? change(deploy) : deploy));

function ranUntil({ since, ranMs = 0, ...deploy }: GoodDeploy, endMs: number): GoodDeploy {
  const lastMs = typeof since === 'string' ? endMs - Date.parse(since) : 0;
  const longestMs = Math.max(ranMs, lastMs);
  return longestMs > 0 ? { ...deploy, ranMs: longestMs } : deploy;
}

const unproven = ({ ranMs: _ran, ...deploy }: GoodDeploy): GoodDeploy => deploy;

/** Spans add up to the duration of a deploy. */
const lengthMs = ({ spans }: DeployEnded['result']): number => Object.values(spans).reduce((sum, ms) => sum + ms, 0);
