import type { PipelineSource } from '../../domain/spec/pipeline';
import { DEPLOY_VERBS, type CommandInput, type Verb } from '../../domain/verbs';
import { kvstore } from '../workflows/pipelines';
import type { MessageTrouble } from '../workflows/messages';
import { MINUTE } from '../workflows/world';
import { configured, type Configuration } from './configuration';
import { Dice, HORIZON_MS } from './dice';
import { linked } from './offers';
import { troubleOf } from './trouble';
import { TWISTS } from './twists';

/** An event at a time after the beginning, in ms; of the first pipeline if it names none. */
export type Happening = { readonly atMs: number; readonly pipeline?: string } &
  /** With this many bytes of metadata. */
  (
    | { readonly kind: 'release'; readonly version: string; readonly fatBytes?: number }
    /** Applies to the newest release that has ended. */
    | { readonly kind: 'roll-back'; readonly notBad: boolean }
    /** Through Temporal itself: on the newest release, its deploy, the lock of the service, the offers or the pipeline. */
    | {
        readonly kind: 'temporal';
        readonly how: 'cancel' | 'terminate';
        readonly of: 'pipeline' | 'release' | 'deploy' | 'lock' | 'offers';
      }
    | { readonly kind: 'push'; readonly version: string; readonly skipBake?: boolean }
    /** To the newest release, its deploy or the pipeline; sent twice under one update id, as after a lost answer. */
    | {
        readonly kind: 'command';
        readonly to: 'deploy' | 'release' | 'pipeline';
        readonly verb: Verb;
        readonly input: CommandInput;
        readonly twice: boolean;
      }
    | { readonly kind: 'fault'; readonly fault: object; readonly forMs?: number }
    /** To the control API of the simulated configuration. */
    | { readonly kind: 'config'; readonly what: 'faults' | 'commits' | 'behaviours'; readonly body: object }
    | { readonly kind: 'resize'; readonly job: string; readonly tasks: number }
    | { readonly kind: 'version'; readonly version: string; readonly behaviour: object }
    /** The file of a pipeline; `together`: with another one, so that neither sees a circle with the other. */
    | { readonly kind: 'apply'; readonly source: PipelineSource; readonly together?: true }
    /** A look of the finder `offer` at all pipelines. */
    | { readonly kind: 'sweep' }
    | { readonly kind: 'messages'; readonly trouble: MessageTrouble; readonly forMs: number }
  );

export interface Job {
  readonly name: string;
  readonly region: string;
  readonly tasks: number;
  readonly more: object;
}

/** A pipeline of a story, with the jobs of its deploys. */
export interface Member {
  readonly pipeline: string;
  readonly source: PipelineSource & { readonly actions: { readonly deploy: Action } };
  readonly jobs: readonly Job[];
}

/** Pipelines that offer to each other and to the first one. */
export interface Offering {
  readonly others: readonly Member[];
  /** The files with which every deploy can begin. */
  readonly last: readonly PipelineSource[];
}

/** One story of the chaos test: the seed determines everything in it. */
export interface Scenario extends Member {
  readonly seed: number;
  readonly configuration?: Configuration;
  readonly offering?: Offering;
  /** In the order of time. */
  readonly happenings: readonly Happening[];
}

/** Gives some stories a twist, each with its own dice, so that a new one does not shift the others. */
export type Twist = (dice: Dice, story: Scenario) => Scenario;

export function scenarioOf(seed: number): Scenario {
  const dice = new Dice(seed);
  const pipeline = `chaos-${seed}`;
  const jobs = fleetOf(dice, `service-${seed}`);
  const source = { ...kvstore({}, { pipeline }), actions: { deploy: deployOf(dice, jobs) } };
  const drawn = [...releasesOf(dice), ...troubleOf(dice, jobs), ...commandsOf(dice)];
  const happenings = drawn.sort((a, b) => a.atMs - b.atMs);
  return Object.entries(TWISTS).reduce<Scenario>((story, [name, twist]) => twist(Dice.stream(seed, name), story), {
    ...{ seed, pipeline, source, jobs, happenings },
  });
}

/** The story of a seed, as if its deploy were one of configuration. */
export const configurationOf = (seed: number): Scenario => {
  const story = scenarioOf(seed);
  return story.configuration ? story : configured(Dice.stream(seed, 'configured'), story);
};

/** The story of a seed, in which other pipelines offer to the first one and wish for its offers. */
export const offersOf = (seed: number): Scenario => linked(Dice.stream(seed, 'offers'), scenarioOf(seed));

export const membersOf = ({ offering, ...first }: Scenario): readonly Member[] => [first, ...(offering?.others ?? [])];

function fleetOf(dice: Dice, service: string): Job[] {
  const regions = ['x', 'y', 'z'].slice(0, dice.int(1, 3));
  return regions.map((region, nth) => ({
    name: `job-${region}`,
    region,
    tasks: dice.int(2, 12),
    more: {
      service,
      labels: { tier: nth === 0 ? 'small' : 'large' },
      nSmall: dice.of<number | string>(1, 3, '50%'),
      budget: dice.of<number | string>('20%', '50%', 1),
      timings: { fetchMs: dice.of(1_000, 20_000), stopMs: 1_000, startMs: dice.of(2_000, 30_000) },
    },
  }));
}

export type Action = Extract<PipelineSource['actions'][string], { type: 'deploy' }>;
export type DeployWith = Action['with'];

function deployOf(dice: Dice, jobs: readonly Job[]): Action {
  const base: Action = {
    type: 'deploy',
    inputs: ['executable'],
    ...windowOf(dice),
    with: {
      pushType: 'twine',
      config: { jobs: jobs.map(({ name }) => name) },
      phases: phasesOf(dice, jobs),
      completion: { ...(dice.chance(0.7) ? { bake: `${dice.int(2, 10)}m` } : {}) },
      healthChecks: checksOf(dice),
      onUnhealthy: dice.chance(0.75) ? 'revert' : 'pause',
    },
  };
  return { ...base, with: Object.assign(base.with, ...featuresOf(dice, jobs)) as DeployWith };
}

/** Closed for a while soon after the beginning, which is at midnight. */
function windowOf(dice: Dice): Pick<Action, 'window'> {
  const [closes, forMinutes, onClose] = [dice.int(1, 50), dice.int(5, 60), dice.of('pause', 'finish-phase')] as const;
  if (!dice.chance(0.3)) return {};
  const days = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
  return { window: { days: [...days], from: clock(closes + forMinutes), to: clock(closes), timezone: 'UTC', onClose } };
}

const clock = (minutes: number): string =>
  [Math.floor(minutes / 60), minutes % 60].map((part) => String(part).padStart(2, '0')).join(':');

function phasesOf(dice: Dice, jobs: readonly Job[]): NonNullable<DeployWith['phases']> {
  const regions = jobs.map(({ region }) => `region:${region}`);
  const amounts = dice.times(2, () => dice.int(5, 90)).sort((a, b) => a - b);
  return amounts.map((amount, nth) => {
    const pacing = {
      name: `phase-${nth}`,
      amount: dice.chance(0.3) ? Math.ceil(amount / 15) : `${amount}%`,
      bake: `${dice.int(0, 12)}m`,
      updateTimeout: `${dice.of(15, 60)}m`,
      ...(dice.chance(0.3) ? { success: `${dice.int(60, 95)}%` } : {}),
    };
    const scope = dice.of('*', ...regions, 'tier:small');
    return dice.chance(0.15) ? { ...pacing, forEach: 'region' } : { ...pacing, scope };
  });
}

function checksOf(dice: Dice): NonNullable<DeployWith['healthChecks']> {
  const errors = { name: 'errors', metric: 'rpc.error_ratio', transform: [{ average: '3m' }] };
  const limit = { ...errors, threshold: { above: 0.05 } };
  const latency = { name: 'latency', metric: 'rpc.latency', threshold: { increase: '30%' } };
  const compared = { ...latency, compare: dice.of('control' as const, 'before' as const) };
  return dice.of([limit], [limit], [limit, compared], [compared], []);
}

/** Features of the file format that only some deploys use. */
function featuresOf(dice: Dice, jobs: readonly Job[]): Partial<DeployWith>[] {
  const maxPaused = dice.int(0, jobs.length);
  const choices: [number, Partial<DeployWith>][] = [
    [0.25, { mode: 'parallel' }],
    [0.1, { mode: 'parallel', maxPaused }],
    [0.1, { lockstep: true }],
    [0.2, { onUnitUnavailable: 'skip' }],
    [0.1, { allowEmpty: true }],
  ];
  return choices.flatMap(([probability, more]) => (dice.chance(probability) ? [more] : []));
}

function releasesOf(dice: Dice): Happening[] {
  const second = dice.time();
  const [emergency, comes] = [dice.chance(0.3), dice.chance(0.35)];
  return [
    { atMs: 0, kind: 'release', version: 'kv:2' },
    ...(comes ? [{ atMs: second, kind: emergency ? 'push' : 'release', version: 'kv:3' } as const] : []),
  ];
}

/** People give random commands. */
function commandsOf(dice: Dice): Happening[] {
  const anyInput = (): CommandInput => ({
    actor: dice.of('user:alice', 'user:alice', 'user:alice', 'user:mallory'),
    reason: 'chaos',
    noRevert: dice.chance(0.3),
    notBad: dice.chance(0.5),
    for: dice.of('phase', 'deploy'),
    ...(dice.chance(0.7) ? { check: dice.of('errors', 'latency') } : {}),
  });
  const soon = (): number => dice.time(dice.chance(0.5) ? 10 * MINUTE : HORIZON_MS);
  const ofDeploy = dice.times(5, () => {
    const verb = dice.of(...DEPLOY_VERBS, 'pause' as const, 'resume' as const);
    return { atMs: soon(), kind: 'command', to: 'deploy', verb, input: anyInput(), twice: dice.chance(0.2) } as const;
  });
  const ofPipeline = dice.times(1, () => {
    const verb = dice.of('freeze', 'unfreeze', 'hold', 'unhold');
    return { atMs: soon(), kind: 'command', to: 'pipeline', verb, input: anyInput(), twice: false } as const;
  });
  return [...ofDeploy, ...ofPipeline];
}
