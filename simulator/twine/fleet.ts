import type { DueEvent, FleetEvent, UpdateEndState } from '../events';
import type { World } from '../kernel/world';
import { freshControl } from './controlState';
import { freshExtras, type Job } from './job';
import { DEFAULT_LAYOUT, type FleetFault, type RegionLayout } from './topology';

/** What one update does to one job. */
export interface UnitUpdate {
  readonly job: string;
  /** Index into the fleet's names. */
  readonly version: number;
  readonly acceptedAt: number;
  /** The tasks that it must bring to the version, in the order in which it takes them. */
  readonly slots: Int32Array;
  /** How many of `slots` it has taken. */
  cursor: number;
  /** Where the job has a controller: those of `slots` that it has not taken, since it takes them as they are approved. */
  readonly waiting: Set<number> | null;
  /** How many more tasks the present batch may take, when only the region's rate limit held it up. */
  left: number;
  /** Slots in which a new task did not live, so that the old one runs on. */
  readonly rejected: Set<number>;
  /** Tasks stopped and not yet live. */
  inFlight: number;
  state: 'active' | 'paused' | UpdateEndState;
  reason: string | null;
}

export interface FleetUpdate {
  readonly id: string;
  readonly urgency: 'normal' | 'revert';
  readonly wholeUnit: boolean;
  /** What it reverts. */
  readonly updatedBy: readonly string[];
  /** What set the versions of the jobs that its tasks went back to: undoing that undoes this. */
  readonly inherits: readonly string[];
  /** Whose tasks it leaves alone. */
  readonly exclude: readonly string[];
  readonly units: Map<string, UnitUpdate>;
}

/** All that Twine remembers, as plain data. */
export interface TwineFleet {
  readonly jobs: Map<string, Job>;
  readonly updates: Map<string, FleetUpdate>;
  /** Cancelled before they arrived: a late delivery must not begin them. */
  readonly cancelled: Set<string>;
  readonly faults: Map<string, FleetFault>;
  /** Versions and update ids; a task stores the index. 0 is none. */
  readonly names: string[];
  readonly indices: Map<string, number>;
  /** The next machine to move to, in each region. */
  readonly spareMachine: Map<string, number>;
  /** Of each region's scheduler. */
  readonly paces: Map<string, Pace>;
  paceLimit: PaceLimit;
  /** Of the regions that are not laid out as usual. */
  readonly layouts: Map<string, RegionLayout>;
  /** Where the requests of a job go, oldest first; of a world from before there was such a thing, nothing. */
  readonly traffic?: Map<string, readonly TrafficShift[]>;
  /** Jobs whose controllers are to be called now. */
  readonly asking: Set<string>;
}

/** What the parts of Twine work with. */
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

/** A fleet that was written out, perhaps before it had all that it has now. */
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

/** An update of a job that has begun nothing. */
export const freshProgress = (): Pick<
  UnitUpdate,
  'cursor' | 'waiting' | 'left' | 'rejected' | 'inFlight' | 'state' | 'reason'
> => ({ cursor: 0, waiting: null, left: 0, rejected: new Set(), inFlight: 0, state: 'active', reason: null });

export const layoutOf = ({ layouts }: Pick<TwineFleet, 'layouts'>, region: string): RegionLayout =>
  layouts.get(region) ?? DEFAULT_LAYOUT;

/** The index of a name, which is added when it is new. */
export function indexOf(fleet: TwineFleet, name: string): number {
  let index = fleet.indices.get(name);
  if (index === undefined) {
    index = fleet.names.push(name) - 1;
    fleet.indices.set(name, index);
  }
  return index;
}

/** The name of an index; null for 0, none. */
export const nameAtIndex = (fleet: TwineFleet, index: number): string | null => fleet.names[index] || null;

/** `deploy/kvstore/12/deploy/1` of `deploy/kvstore/12/deploy/1/0/1`: whose update it is. */
export const deployOfUpdate = (updateId: string): string => updateId.split('/').slice(0, -2).join('/') || updateId;
/** When a running task may be stopped on purpose: for an update, a move or an approved stop. */
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
  /** At once, after a quiet time. */
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
