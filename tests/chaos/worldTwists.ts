import { HOUR, MINUTE } from '../workflows/world';
import { HORIZON_MS, type Dice } from './dice';
import type { Happening, Job, Scenario, Twist } from './scenario';

/** Events of the fleet and of Temporal themselves, each in some stories. */
export const WORLD_TWISTS: Readonly<Record<string, Twist>> = {
  controllers: withControllers,
  elastic: withElasticJobs,
  maintenance: withMaintenance,
  rollbacks: withRollbacks,
  temporal: withTemporal,
  fat: withFatInput,
  many: withManyUnits,
  hotfixes: withHotfixes,
};

/** Jobs whose controller decides which of their tasks may go, and may be away for a while. */
function withControllers(dice: Dice, story: Scenario): Scenario {
  if (!dice.chance(0.2)) return story;
  const kind = dice.of('leader-last', 'load-adaptive');
  const jobs = someJobs(dice, story, { controller: { kind } });
  const fault = { kind: 'http', service: kind, mode: dice.of('error', 'delay', 'lose-reply'), delayMs: 2_000 };
  const away = { atMs: dice.time(), kind: 'fault', fault, forMs: dice.int(1, 20) * MINUTE } as const;
  return happening(
    { ...story, jobs },
    dice.times(1, () => away),
  );
}

/** Jobs that start the next task next to the last, or that grow and shrink with their load. */
function withElasticJobs(dice: Dice, story: Scenario): Scenario {
  if (!dice.chance(0.25)) return story;
  const autoscale = { min: 1, max: 16, targetCpu: dice.of(0.2, 0.4, 0.6), everyMs: dice.int(1, 10) * MINUTE };
  return { ...story, jobs: someJobs(dice, story, dice.chance(0.5) ? { hotswap: true } : { autoscale }) };
}

function withMaintenance(dice: Dice, story: Scenario): Scenario {
  if (!dice.chance(0.25)) return story;
  const { region, tasks } = dice.of(...story.jobs);
  const machines = Array.from({ length: dice.int(1, tasks) }, (_, nth) => `${region}-m${nth}`);
  const [startMs, durationMs] = [dice.int(1, 30) * MINUTE, dice.int(1, 60) * MINUTE];
  const fault = { kind: 'maintenance', machines, startMs, durationMs, deadlineMs: startMs + HOUR };
  const scheduler = { kind: 'scheduler', id: region, downMs: dice.int(1, 30) * MINUTE };
  return happening(story, [
    { atMs: dice.time(), kind: 'fault', fault },
    ...dice.times(1, () => ({ atMs: dice.time(), kind: 'fault', fault: scheduler }) as const),
  ]);
}

/** Rollbacks of the previous release, once or twice, whether or not it can be undone. */
function withRollbacks(dice: Dice, story: Scenario): Scenario {
  if (!dice.chance(0.3)) return story;
  const rollBack = (): Happening => ({ atMs: dice.time(), kind: 'roll-back', notBad: dice.chance(0.5) });
  return happening(story, [rollBack(), ...dice.times(1, rollBack)]);
}

/** An emergency, a release after it, and a person who undoes that: by a rollback, or by a revert while it deploys. */
function withHotfixes(dice: Dice, story: Scenario): Scenario {
  if (!dice.chance(0.15)) return story;
  const pushMs = dice.int(15, 45) * MINUTE;
  const nextMs = pushMs + dice.int(15, 40) * MINUTE;
  const backMs = nextMs + dice.int(1, 35) * MINUTE;
  const input = { actor: 'user:alice', reason: 'chaos' };
  return happening(story, [
    { atMs: pushMs, kind: 'push', version: 'kv:4', skipBake: dice.chance(0.7) },
    { atMs: nextMs, kind: 'release', version: 'kv:5' },
    dice.chance(0.7)
      ? { atMs: backMs, kind: 'roll-back', notBad: dice.chance(0.5) }
      : { atMs: backMs, kind: 'command', to: 'deploy', verb: 'revert', input, twice: dice.chance(0.2) },
  ]);
}

/** Workflows are cancelled or terminated in Temporal itself. */
function withTemporal(dice: Dice, story: Scenario): Scenario {
  if (!dice.chance(0.25)) return story;
  const stop = (): Happening => {
    const how = dice.of('cancel', 'cancel', 'terminate');
    // The test server does not tell a release that its deploy was terminated; tests/system/lifecycle tests that on a real one.
    const of = how === 'cancel' ? dice.of('pipeline', 'release', 'deploy', 'lock') : dice.of('release', 'lock');
    return { atMs: dice.time(dice.chance(0.5) ? 20 * MINUTE : HORIZON_MS), kind: 'temporal', how, of };
  };
  return happening(story, [stop(), ...dice.times(1, stop)]);
}

/** Releases and commands with as much content as allowed, and with more. */
function withFatInput(dice: Dice, story: Scenario): Scenario {
  if (!dice.chance(0.2)) return story;
  const happenings = story.happenings.map((it) =>
    it.kind === 'command' && dice.chance(0.5)
      ? { ...it, input: { ...it.input, reason: 'x'.repeat(dice.of(1_000, 30_000, 200_000)) } }
      : it,
  );
  const release = (): Happening => ({
    atMs: dice.time(),
    kind: 'release',
    version: 'kv:3',
    fatBytes: dice.of(900, 60_000),
  });
  return happening({ ...story, happenings }, [release(), ...dice.times(2, release)]);
}

/** One job becomes many with one task each. */
function withManyUnits(dice: Dice, story: Scenario): Scenario {
  const { deploy } = story.source.actions;
  if (!dice.chance(0.02) || deploy.with.lockstep || deploy.with.mode) return story;
  const [first, ...others] = story.jobs as [Job, ...Job[]];
  // A thousand controllers are called every five seconds throughout the story: that would take longer than the story.
  const own = (nth: number) => (nth < 10 ? first.more : { ...first.more, controller: undefined });
  const many = Array.from({ length: 1_000 }, (_, nth) => ({
    ...first,
    ...{ name: `${first.name}-${nth}`, tasks: 1, more: own(nth) },
  }));
  const happenings = story.happenings.filter((it) => it.kind !== 'resize' || it.job !== first.name);
  const service = (first.more as { service: string }).service;
  const actions = { deploy: { ...deploy, with: { ...deploy.with, config: { service } } } };
  return { ...story, jobs: [...many, ...others], happenings, source: { ...story.source, actions } };
}

const someJobs = (dice: Dice, { jobs }: Scenario, more: object): Job[] =>
  jobs.map((job, nth) => (nth === 0 || dice.chance(0.5) ? { ...job, more: { ...job.more, ...more } } : job));

export const happening = (story: Scenario, more: readonly Happening[]): Scenario => ({
  ...story,
  happenings: [...story.happenings, ...more].sort((a, b) => a.atMs - b.atMs),
});
