import { MINUTE } from '../workflows/world';
import type { Dice } from './dice';
import type { Happening, Job } from './scenario';

/** The faults: in the new version, the old one, the fleet, and the push type's answers. */
export function troubleOf(dice: Dice, jobs: readonly Job[]): Happening[] {
  const faults = dice.times(2, () => inFleet(dice, jobs));
  const http = dice.times(2, () => inAnswers(dice));
  return [...inVersions(dice, jobs), ...faults, ...http, ...resizes(dice, jobs)];
}

function inVersions(dice: Dice, jobs: readonly Job[]): Happening[] {
  const { region } = dice.of(...jobs);
  const bad = (): object => {
    const how = dice.of<object>({ errorRatio: 0.3 }, { crashOnStart: true }, { latencyFactor: 3, errorRatio: 0.2 });
    const where = dice.chance(0.3) ? { onlyRegion: region } : {};
    const when = dice.of<object>({}, {}, { afterMs: 5 * MINUTE }, { atShare: 0.5 });
    return { ...how, ...where, ...when };
  };
  const now = (version: string, atMs: number): Happening => ({ atMs, kind: 'version', version, behaviour: bad() });
  return [
    ...(dice.chance(0.45) ? [now('kv:2', 0)] : []),
    ...(dice.chance(0.3) ? [now('kv:3', 0)] : []),
    ...(dice.chance(0.1) ? [now('kv:1', dice.time())] : []),
  ];
}

function inFleet(dice: Dice, jobs: readonly Job[]): Happening {
  const { region, tasks } = dice.of(...jobs);
  const kind = dice.of('machine', 'machine', 'msb', 'datacentre', 'region');
  const ids = {
    machine: `${region}-m${dice.int(0, tasks - 1)}`,
    msb: `${region}-msb${dice.int(0, 11)}`,
    datacentre: `${region}-dc${dice.int(0, 2)}`,
    region,
  };
  const downMs = Math.round(dice.between(MINUTE, 40 * MINUTE));
  return { atMs: dice.time(), kind: 'fault', fault: { kind, id: ids[kind], downMs } };
}

/** The methods of a push type, without the optional ones. */
export const PUSH_TYPE_METHODS = [
  'validateConfig',
  'fetchDeployUnits',
  'needsPush',
  'executeUpdates',
  'trackUpdates',
  'pauseUpdates',
  'resumeUpdates',
  'cancelUpdates',
  'runHealthChecks',
] as const;

function inAnswers(dice: Dice): Happening {
  const method = dice.chance(0.8) ? { method: dice.of(...PUSH_TYPE_METHODS) } : {};
  const mode = dice.of('error', 'delay', 'lose-reply', 'duplicate', 'garbage');
  const rate = dice.of(0.2, 0.5, 1);
  const fault = { kind: 'http', service: 'twine', ...method, mode, rate, delayMs: dice.int(100, 20_000) };
  const forMs = Math.round(dice.between(MINUTE, 45 * MINUTE));
  return { atMs: dice.chance(0.5) ? 0 : dice.time(), kind: 'fault', fault, forMs };
}

function resizes(dice: Dice, jobs: readonly Job[]): Happening[] {
  return dice.times(1, () => {
    const { name, tasks } = dice.of(...jobs);
    return { atMs: dice.time(), kind: 'resize', job: name, tasks: Math.max(1, tasks + dice.int(-6, 6)) };
  });
}
