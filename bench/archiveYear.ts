import { blankRow, type ArchiveRow, type Cadence } from '../domain/archive/row';
import type { Pattern } from '../domain/deploy/pattern';
import { DAY_MS } from '../domain/milliseconds';
import { draw, openStream } from '../simulator/kernel/random';

/**
 * A year of outcomes, the same for the same seed: pipelines of four categories whose releases end about as often in
 * each way as those of Conveyor §6. The shares are inputs; nothing was deployed.
 */

export const YEAR_MS = 365 * DAY_MS;

type Weights<T extends string = string> = Readonly<Partial<Record<T, number>>>;

interface Category {
  readonly pipelines: number;
  readonly cadences: Weights<Cadence>;
  readonly ends: Weights<'succeeded' | 'failed' | 'superseded' | 'bad-package' | 'operator'>;
  readonly failsIn: Weights;
  readonly actions: readonly string[];
  /** Among deploys that succeeded: a person let a check pass; a person rolled it back later. */
  readonly letPass: number;
  readonly undone: number;
  /** Failed deploys with a cause other than the version. */
  readonly broken: number;
  readonly checks: Weights;
  readonly patterns: Weights<Pattern>;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Update, bake, pre, post. */
  readonly spans: readonly [number, number, number, number];
}

const CATEGORIES: Readonly<Record<string, Category>> = {
  regular: {
    pipelines: 0.55,
    cadences: { continuous: 54.6, daily: 24.8, weekly: 16.8, 'biweekly/monthly': 0.4, 'manual-pick': 3.5 },
    ends: { succeeded: 27.5, failed: 13.8, superseded: 44, 'bad-package': 13, operator: 1.7 },
    failsIn: { build: 40, canary: 12, 'integration-test': 18, 'perf-test': 6, deploy: 24 },
    actions: ['build', 'integration-test', 'canary', 'deploy'],
    ...{ letPass: 0.115, undone: 0.009, broken: 0.004 },
    checks: { 'app-specific': 34, rpc: 24, crashes: 18, cpu: 14, memory: 10 },
    patterns: { single: 34, 'single parallel': 8, 'super-linear': 31, linear: 9, 'region-by-region': 8, misc: 10 },
    ...{ p50Ms: 2_300_000, p99Ms: 86_000_000, spans: [21.2, 31.7, 18.7, 28.4] },
  },
  large: {
    pipelines: 0.05,
    cadences: { continuous: 16, daily: 16.8, weekly: 37.4, 'biweekly/monthly': 1.5, 'manual-pick': 28.2 },
    ends: { succeeded: 15.4, failed: 20.9, superseded: 47, 'bad-package': 14, operator: 2.7 },
    failsIn: { build: 25, canary: 24, 'integration-test': 18, 'perf-test': 12, deploy: 21 },
    actions: [
      'build',
      'integration-test',
      'perf-test',
      'canary',
      'canary',
      'deploy',
      'integration-test',
      'pick',
      'deploy',
    ],
    ...{ letPass: 0.413, undone: 0.031, broken: 0.02 },
    checks: { 'app-specific': 46, rpc: 20, cpu: 15, crashes: 11, memory: 8 },
    patterns: { misc: 44, 'super-linear': 28, 'region-by-region': 14, linear: 8, single: 6 },
    ...{ p50Ms: 2_000_000, p99Ms: 186_000_000, spans: [45.1, 25.1, 2.9, 27] },
  },
  ml: {
    pipelines: 0.3,
    cadences: { continuous: 99.9, daily: 0.1 },
    ends: { succeeded: 33.7, failed: 5.2, superseded: 60, operator: 1.1 },
    failsIn: { build: 6.4, deploy: 93.6 },
    actions: ['build', 'deploy'],
    ...{ letPass: 0, undone: 0, broken: 0.03 },
    checks: { 'app-specific': 61, memory: 17, crashes: 12, cpu: 6, rpc: 4 },
    patterns: { 'super-linear': 82, single: 12, misc: 6 },
    ...{ p50Ms: 2_900_000, p99Ms: 9_800_000, spans: [39.2, 58.1, 1.9, 0.9] },
  },
  other: {
    pipelines: 0.1,
    cadences: { continuous: 48.5, daily: 26.3, weekly: 19, 'biweekly/monthly': 0.3, 'manual-pick': 5.9 },
    ends: { succeeded: 38, failed: 4.2, superseded: 55, operator: 2.8 },
    failsIn: { build: 52, 'integration-test': 32, deploy: 16 },
    actions: ['build', 'integration-test', 'deploy', 'publish'],
    ...{ letPass: 0.174, undone: 0.001, broken: 0.05 },
    checks: { crashes: 40, 'app-specific': 38, cpu: 12, memory: 10 },
    patterns: { single: 52, 'region-by-region': 22, 'super-linear': 14, linear: 7, misc: 5 },
    ...{ p50Ms: 330_000, p99Ms: 15_000_000, spans: [31.4, 29.6, 5.4, 33.6] },
  },
};

const BLAMES: Weights = {
  'push type twine': 42,
  'health data': 27,
  'update timeout': 17,
  'unavailable units': 9,
  revert: 5,
};
const BUGS = 365;

/** The rows of each release, one release after the other, spread over the year. */
export function* yearOfReleases(releases: number, pipelines: number, seed: number = 1): Generator<ArchiveRow[]> {
  const stream = openStream(seed, 'year');
  const next = (): number => draw(stream);
  for (let nth = 0; nth < releases; nth += 1)
    yield rowsOf(
      next,
      nth % pipelines,
      pipelines,
      Math.floor(nth / pipelines) + 1,
      ((nth + 1) / (releases + 1)) * YEAR_MS,
    );
}

type Next = () => number;

function rowsOf(next: Next, at: number, pipelines: number, release: number, ended: number): ArchiveRow[] {
  const [category, of] = categoryAt((at + 0.5) / pipelines);
  const [pipeline, endedMs] = [`${category}-${at}`, Math.round(ended)];
  const own = { pipeline, release, endedMs };
  const key = `release/${pipeline}/${release}@run`;
  const end = pick(next, of.ends);
  const failedIn = end === 'failed' ? pick(next, of.failsIn) : null;
  const state = end === 'succeeded' || end === 'failed' ? end : 'cancelled';
  const deploys = end === 'succeeded' || failedIn === 'deploy';
  const isUndone = end === 'succeeded' && next() < of.undone;
  const isLetPass = end === 'succeeded' && next() < of.letPass;
  const steps = Math.max(of.actions.length - (at % 3 === 0 ? 1 : 0), 2);
  const whole: ArchiveRow = {
    ...blankRow({ key, kind: 'release', state, ...own }),
    ...{ type: failedIn, cause: state === 'cancelled' ? end : null, trigger: isUndone ? 'rollback' : 'finder' },
    name: end === 'bad-package' ? `bug/${1 + Math.floor(BUGS * next() ** 3)}` : null,
    ...{
      category,
      cadence: cadenceAt(of, at),
      parts: steps,
      startedMs: endedMs - 3_600_000 - Math.round(next() * 3e6),
    },
    detail: deploys ? historyText(own, end === 'succeeded', isUndone, isLetPass) : null,
  };
  const actions = of.actions.slice(0, steps).map((type, nth) => ({
    ...blankRow({ key: `${key}#action/${nth}`, kind: 'action', state, ...own }),
    ...{ name: `${type}-${nth}`, type },
  }));
  return [whole, ...actions, ...(deploys ? deployRows(next, of, own, end === 'succeeded') : [])];
}

function deployRows(next: Next, of: Category, own: Own, succeeded: boolean): ArchiveRow[] {
  const key = `deploy/${own.pipeline}/${own.release}/deploy/1@run`;
  const isBroken = !succeeded && next() < of.broken * 5;
  const state = succeeded ? 'succeeded' : 'reverted';
  const tookMs = Math.round(of.p50Ms * Math.exp((Math.log(of.p99Ms / of.p50Ms) / 2.326) * normal(next)));
  const [update = 0, bake = 0, pre = 0, post = 0] = of.spans.map((share) => Math.round((share / 100) * tookMs));
  const deploy: ArchiveRow = {
    ...blankRow({ key, kind: 'deploy', state, ...own }),
    ...{ name: 'deploy', type: 'twine', parts: 4, startedMs: own.endedMs - tookMs },
    classification: succeeded ? 'success' : isBroken ? 'bad-failure' : 'good-failure',
    cause: isBroken ? pick(next, BLAMES) : null,
    // Bugs appear at once, or only at scale.
    progress: succeeded ? null : next() < 0.6 ? next() * 0.3 : 1 - next() * 0.25,
    pattern: patternAt(of, own.pipeline),
    ...{ updateMs: update, bakeMs: bake, preMs: pre, postMs: post },
    revertMs: succeeded ? null : Math.round(60_000 + next() * 300_000),
  };
  const phases = [0, 1, 2, 3].map((at) => blankRow({ key: `${key}#phase/${at}`, kind: 'phase', state, ...own }));
  const check = (): ArchiveRow => ({
    ...blankRow({ key: `${key}#check/a`, kind: 'check', state: 'unhealthy', ...own }),
    ...{ name: 'a', type: pick(next, of.checks) },
  });
  return [deploy, ...phases, ...(succeeded || isBroken ? [] : [check()])];
}

type Own = Pick<ArchiveRow, 'pipeline' | 'release' | 'endedMs'>;

function historyText(
  { pipeline, release, endedMs }: Own,
  succeeded: boolean,
  undone: boolean,
  letPass: boolean,
): string {
  const at = new Date(endedMs).toISOString();
  const ended = succeeded
    ? { outcome: 'succeeded', classification: 'success' }
    : { outcome: 'reverted', classification: 'good-failure', reverted: { by: 'health', bad: true } };
  const overridden = letPass ? { overridden: [{ check: 'a', actor: 'user:ana', reason: 'noise', at }] } : {};
  const trigger = undone ? { kind: 'rollback', of: release - 1 } : { kind: 'finder' };
  return JSON.stringify({
    ...{ id: `${pipeline}/${release}`, kind: 'release', pipeline, number: release },
    ...{ state: succeeded ? 'succeeded' : 'failed', cause: null, startedAt: at, endedAt: at, durationMs: 1 },
    trigger: { actor: 'service:builds', key: null, ...trigger },
    ...{ artifacts: [], deploys: [{ action: 'deploy', version: `v${release}`, ...ended, ...overridden }] },
  });
}

function categoryAt(share: number): readonly [string, Category] {
  let sum = 0;
  const entries = Object.entries(CATEGORIES);
  return entries.find(([, { pipelines }]) => (sum += pipelines) > share) ?? entries[0] ?? ['', {} as Category];
}

/** The cadence of a pipeline, fixed by its number. */
const cadenceAt = ({ cadences }: Category, at: number): Cadence => choose(cadences, ((at * 7919) % 1000) / 1000);
const patternAt = ({ patterns }: Category, pipeline: string): Pattern =>
  choose(patterns, ((Number(pipeline.split('-')[1]) * 104_729) % 1000) / 1000);

const pick = <T extends string>(next: Next, weights: Weights<T>): T => choose(weights, next());

function choose<T extends string>(weights: Weights<T>, share: number): T {
  const entries = Object.entries(weights) as [T, number][];
  let left = share * entries.reduce((sum, [, weight]) => sum + weight, 0);
  const found = entries.find(([, weight]) => (left -= weight) < 0) ?? entries.at(-1);
  if (found === undefined) throw new Error('nothing to choose from');
  return found[0];
}

/** By Box and Muller. */
const normal = (next: Next): number => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());
