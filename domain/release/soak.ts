import { matchesIdentity, type Artifact } from '../artifact';
import { releaseId } from '../ids';
import type { GoodDeploy, PipelineState } from '../pipeline/state';
import { formatDuration, formatTime } from '../text';

/** The question whether a version has run somewhere for long enough to continue (`soak`). */
export interface SoakAsk {
  /** The pipeline in which it must have run: this one, or another. */
  readonly pipeline: string;
  /** In this pipeline: the action that deploys it. Null: every deploy of the other pipeline that takes it. */
  readonly action: string | null;
  /** The artifacts that must have run there; one without a digest stands for any with its version. */
  readonly wanted: readonly Pick<Artifact, 'name' | 'version' | 'digest'>[];
  readonly forMs: number;
  readonly release: number;
  /** The time at which this release deployed it there, for pipelines that did not record it. */
  readonly deployedAt?: string;
}

/** The facts that a pipeline knows about its deploys; its state has this shape. */
export type Deployments = Pick<PipelineState, 'spec' | 'good' | 'deploys' | 'knownBad' | 'active' | 'history'>;

export type SoakAnswer =
  | { readonly kind: 'soaked' | 'bad'; readonly reason: string }
  /** `untilMs`: missing while unknown. */
  | { readonly kind: 'waiting'; readonly reason: string; readonly untilMs?: number }
  /** Another version has replaced it too early; `by`: the release that brought that one. */
  | { readonly kind: 'replaced'; readonly reason: string; readonly by: number };

/**
 * The state of a soak. Only time without interruption counts, and the longest such time decides. A version that made way for a newer
 * one keeps its time; one that was rolled back, or left units mixed, does not.
 */
export function judgeSoak(known: Deployments | null, ask: SoakAsk, nowMs: number): SoakAnswer {
  const { pipeline, action, wanted } = ask;
  if (known === null) return stillSoaking(`there is no pipeline ${pipeline} yet`);
  const bad = known.knownBad.find(({ artifact }) =>
    wanted.some((one) => matchesIdentity(artifact, nameAtVersion(one))),
  );
  if (bad) return { kind: 'bad', reason: `${bad.artifact} is known to be bad in ${pipeline}: ${bad.reason}` };
  const places = action === null ? listTakers(known.spec, wanted) : [action];
  if (places.length === 0) return stillSoaking(`${pipeline} deploys no ${wanted.map(({ name }) => name).join(', ')}`);
  return places.map((place) => judgePlace(known, ask, place, nowMs)).reduce(least);
}

const listTakers = ({ actions }: Deployments['spec'], wanted: SoakAsk['wanted']): string[] =>
  Object.entries(actions).flatMap(([place, { type, inputs }]) =>
    type === 'deploy' && wanted.some(({ name }) => inputs.includes(name)) ? [place] : [],
  );

const ORDER: readonly SoakAnswer['kind'][] = ['bad', 'replaced', 'waiting', 'soaked'];

/** All places count: the one that is furthest from its end decides. */
function least(a: SoakAnswer, b: SoakAnswer): SoakAnswer {
  if (a.kind === 'waiting' && b.kind === 'waiting') return (b.untilMs ?? Infinity) > (a.untilMs ?? Infinity) ? b : a;
  return ORDER.indexOf(b.kind) < ORDER.indexOf(a.kind) ? b : a;
}

function judgePlace(known: Deployments, ask: SoakAsk, place: string, nowMs: number): SoakAnswer {
  const { pipeline, action, wanted, forMs } = ask;
  const where = action === null ? `${place} of ${pipeline}` : place;
  const what = wanted.map(nameAtVersion).join(', ');
  const all = known.good[place] ?? [];
  const mine = all.filter((deploy) => wanted.every((one) => hasWanted(deploy, one)));
  const ended = action === null ? whyNotWhole(known, pipeline, mine) : undefined;
  if (mine.length === 0) return stillSoaking(`${where} has not brought ${what} yet`);
  if (ended) return ended;
  if (mine.some(({ ranMs = 0 }) => ranMs >= forMs)) return answerSoaked(where, what, forMs);
  const last = all.at(-1);
  if (last === undefined || !mine.includes(last))
    return {
      ...{ kind: 'replaced', by: last?.release ?? 0 },
      reason: `${where} runs ${last?.version ?? 'nothing'}, which took the place of ${what} before it had run for ${formatDuration(forMs)}`,
    };
  const other = otherIn(known, place, last.release);
  if (other !== undefined) return stillSoaking(`${releaseId(pipeline, other)} deploys to ${where} meanwhile`);
  if (last.imported) return stillSoaking(`that ${what} ran in ${where} stands in an import alone`);
  if (last.since === null) return stillSoaking(`${what} does not run everywhere in ${where} any more`);
  const since = last.since ?? findDeployedSince(known, last, ask) ?? formatTime(nowMs);
  const untilMs = Date.parse(since) + forMs;
  if (untilMs <= nowMs) return answerSoaked(where, what, forMs);
  return { ...stillSoaking(`${where} runs ${what} since ${since}, of ${formatDuration(forMs)}`), untilMs };
}

/** Deploys of another pipeline count once their release has succeeded. */
function whyNotWhole(known: Deployments, pipeline: string, mine: readonly GoodDeploy[]): SoakAnswer | undefined {
  const stateOf = ({ release }: GoodDeploy) =>
    known.active.some(({ number }) => number === release)
      ? 'active'
      : (known.history.find(({ number }) => number === release)?.state ?? 'succeeded');
  if (mine.some((deploy) => stateOf(deploy) === 'succeeded')) return undefined;
  const last = mine.at(-1);
  if (last === undefined) return undefined;
  const id = releaseId(pipeline, last.release);
  return stateOf(last) === 'active'
    ? stillSoaking(`${id} has not ended yet`)
    : { kind: 'bad', reason: `${id} ${stateOf(last)}` };
}

/** A release that is deploying there right now, over the present version. */
function otherIn({ deploys: { holder } }: Deployments, place: string, release: number): number | undefined {
  if (holder === null || holder.owner === String(release)) return undefined;
  return holder.requesters.includes(`${holder.owner}/${place}`) ? Number(holder.owner) : undefined;
}

/** For deploys from before this was recorded: the end of their release, or at least of the oldest known one. */
function findDeployedSince({ history }: Deployments, { release }: GoodDeploy, ask: SoakAsk): string | undefined {
  if (release === ask.release && ask.deployedAt !== undefined) return ask.deployedAt;
  return (history.find(({ number }) => number === release) ?? history[0])?.endedAt ?? undefined;
}

const hasWanted = ({ artifacts }: GoodDeploy, wanted: SoakAsk['wanted'][number]): boolean =>
  artifacts.some(
    ({ name, version, digest }) =>
      name === wanted.name &&
      version === wanted.version &&
      (digest === undefined || wanted.digest === undefined || digest === wanted.digest),
  );

const nameAtVersion = ({ name, version }: SoakAsk['wanted'][number]): string => `${name}@${version}`;

const answerSoaked = (where: string, what: string, forMs: number): SoakAnswer => ({
  kind: 'soaked',
  reason: `${what} has run in ${where} for ${formatDuration(forMs)}`,
});

const stillSoaking = (why: string) => ({ kind: 'waiting' as const, reason: `soaking: ${why}` });

/**
 * If there is a newer release here, this one does not wait for a version that was replaced elsewhere; otherwise that
 * version may come back.
 */
export function judgeReplaced(
  answer: Extract<SoakAnswer, { kind: 'replaced' }>,
  own: Pick<Deployments, 'active' | 'spec'>,
  release: number,
): SoakAnswer {
  const newer = own.active.filter(({ number, trigger }) => number > release && trigger.kind !== 'follow-on').at(-1);
  if (newer) return { ...answer, by: newer.number };
  return own.spec.releases.supersede === 'never' ? answer : stillSoaking(answer.reason);
}
