import type { DueEvent, FleetEvent, UpdateEndState } from '../events';
import type { World } from '../kernel/world';
import { freshControl } from './controlState';
import { freshExtras, type Job } from './job';
import { DEFAULT_LAYOUT, type FleetFault, type RegionLayout } from './topology';

/** The effect of one update on one job. */
export interface UnitUpdate {
  readonly job: string;
  /** Index into the fleet's names. */
  readonly version: number;
  readonly acceptedAt: number;
  /** The tasks that it must bring to the version, in the order in which it takes them. */
  readonly slots: Int32Array;
  /** How many of `slots` it has taken. */
  cursor: number;
  /** For a job with a controller: those of `slots` that it has not taken, since it takes them as they are approved. */
  readonly waiting: Set<number> | null;
  /** How many more tasks the present batch may take, if only the region's rate limit delayed it. */
  left: number;
  /** Slots in which a new task failed its liveness check, so that the old one continues to run. */
  readonly rejected: Set<number>;
  /** Tasks stopped and not yet live. */
  inFlight: number;
  state: 'active' | 'paused' | UpdateEndState;
  reason: string | null;
  /** It stops its tasks for good; `version` is 0 then, and `waiting` has the tasks that still run, also without a controller. */
  readonly removes?: true;
}

export interface FleetUpdate {
  readonly id: string;
  readonly urgency: 'normal' | 'revert';
  readonly wholeUnit: boolean;
  /** The updates that it reverts. */
  readonly updatedBy: readonly string[];
  /** The updates that set the versions of the jobs to which its tasks returned: undoing those undoes this. */
  readonly inherits: readonly string[];
  /** The updates whose tasks it leaves alone. */
  readonly exclude: readonly string[];
  readonly units: Map<string, UnitUpdate>;
}

/** The whole state of Twine, as plain data. */
export interface TwineFleet {
  readonly jobs: Map<string, Job>;
  readonly updates: Map<string, FleetUpdate>;
  /** Updates cancelled before they arrived: a late delivery must not begin them. */
  readonly cancelled: Set<string>;
  readonly faults: Map<string, FleetFault>;
  /** Versions and update ids; a task stores the index. 0 is none. */
  readonly names: string[];
  readonly indices: Map<string, number>;
  /** The next machine to move to, in each region. */
  readonly spareMachine: Map<string, number>;
  /** The pace of each region's scheduler. */
  readonly paces: Map<string, Pace>;
  paceLimit: PaceLimit;
  /** The layouts of regions that differ from the default. */
  readonly layouts: Map<string, RegionLayout>;
  /** The traffic shifts of each job, oldest first; absent in a world from before this field existed. */
  readonly traffic?: Map<string, readonly TrafficShift[]>;
  /** Jobs whose controllers are to be called now. */
  readonly asking: Set<string>;
}

/** The shared context of the parts of Twine. */
export interface Twine {
  readonly world: World<DueEvent>;
  readonly fleet: TwineFleet;
  readonly notify: (event: FleetEvent) => void;
  /** Whether tasks that start on a version fail their liveness check now. */
  readonly crashesOnStart: (version: string, job: Job) => boolean;
}

export const freshFleet = (): TwineFleet => ({
  jobs: new Map(),
  updates: new Map(),
  cancelled: new Set(),
  faults: new Map(),
  names: [''],
  indices: new Map([['', 0]]),
  spareMachine: new Map(),
  traffic: new Map(),
  paces: new Map(),
  paceLimit: DEFAULT_UPDATE_PACE,
  layouts: new Map(),
  asking: new Set(),
});

/** A saved fleet, with the fields added that did not exist when it was saved. */
export function wholeFleet(saved: TwineFleet): TwineFleet {
  const jobs = [...saved.jobs].map(([name, job]) => {
    const control = job.control && { ...freshControl(job.control), ...job.control };
    return [name, { ...freshExtras(), ...job, control: control ?? null }] as const;
  });
  const updates = [...saved.updates].map(([id, update]) => {
    const units = [...update.units].map(([name, unit]) => [name, { ...freshProgress(), ...unit }] as const);
    return [id, { ...update, inherits: update.inherits ?? [], units: new Map(units) }] as const;
  });
  return { ...freshFleet(), ...saved, jobs: new Map(jobs), updates: new Map(updates) };
}

/** The progress of an update that has not begun on a job. */
export const freshProgress = (): Pick<
  UnitUpdate,
  'cursor' | 'waiting' | 'left' | 'rejected' | 'inFlight' | 'state' | 'reason'
> => ({ cursor: 0, waiting: null, left: 0, rejected: new Set(), inFlight: 0, state: 'active', reason: null });

export const getRegionLayout = ({ layouts }: Pick<TwineFleet, 'layouts'>, region: string): RegionLayout =>
  layouts.get(region) ?? DEFAULT_LAYOUT;

/** The index of a name; a new name is added. */
export function internName(fleet: TwineFleet, name: string): number {
  let index = fleet.indices.get(name);
  if (index === undefined) {
    index = fleet.names.push(name) - 1;
    fleet.indices.set(name, index);
  }
  return index;
}

/** The name of an index; null for 0, none. */
export const nameAtIndex = (fleet: TwineFleet, index: number): string | null => fleet.names[index] || null;

/** `deploy/kvstore/12/deploy/1` from `deploy/kvstore/12/deploy/1/0/1`: the deploy of an update. */
export const deployOfUpdate = (updateId: string): string => updateId.split('/').slice(0, -2).join('/') || updateId;
/** Tokens of a region: each destructive operation takes one. */
export interface Pace {
  left: number;
  at: number;
  isWaiting: boolean;
}

/** How many destructive operations a region's scheduler does. */
export interface PaceLimit {
  /** In a simulated minute. */
  readonly perMinute: number;
  /** At once, after a quiet period. */
  readonly burst: number;
}

const DEFAULT_UPDATE_PACE: PaceLimit = { perMinute: 60000, burst: 10000 };
/** From `at` on (ms), this share of a job's requests goes to one version and the rest to the others. */
export interface TrafficShift {
  readonly at: number;
  readonly version: string;
  /** 0 to 100. */
  readonly percent: number;
}
