import type { Artifact } from '../domain/artifact';
import type { ActionServiceProtocol } from '../sdk/protocol/actionService';
import type { RequestOf } from '../sdk/protocol/common';
import type { Ticket } from '../sdk/protocol/tickets';
import type { ConfigState } from '../config/pushType/memory';
import { freshConfigerator, type ConfigeratorState } from './configerator/state';
import { freshFleet, type TwineFleet } from './twine/fleet';
import type { LedgerEntry, RememberedCall } from './ledger';
import type { Behaviour } from './metrics/behaviour';
import type { Reported } from './metrics/reports';
import type { HttpFault } from './httpFault';
import type { Violation } from './checkers/checker';

/** A run of an action service. */
export interface Run {
  readonly id: string;
  readonly service: string;
  readonly request: RequestOf<ActionServiceProtocol['startRun']>;
  readonly startedAt: number;
  /** Infinity for one that ends by what it sees. */
  readonly endsAt: number;
  state: 'running' | 'succeeded' | 'failed';
  message: string;
  /** What it does on the way, in order. */
  readonly steps: readonly string[];
  /** What it says when it has succeeded. */
  readonly said: string;
  /** What it will have produced if it succeeds. */
  readonly outputs: readonly Artifact[];
  /** Why it will fail; null when it will not. */
  readonly failure: string | null;
  /** Set by `pkg`: under which tag the inputs are stored. */
  readonly tag: string | null;
}

/** All that the world beside the kernel remembers, as plain data: what a snapshot holds. */
export interface SimulationState {
  readonly fleet: TwineFleet;
  readonly ledger: LedgerEntry[];
  readonly calls: Map<string, RememberedCall>;
  readonly violations: Violation[];
  /** Memory of the checkers, by name. */
  readonly checkers: Map<string, unknown>;
  /** What versions do, and since when, oldest first. */
  readonly behaviours: Map<string, Behaviour[]>;
  readonly reported: Reported;
  readonly httpFaults: Map<string, HttpFault>;
  readonly runs: Map<string, Run>;
  /** The highest fence that a service was deployed with. */
  readonly fences: Map<string, number>;
  /** The artifact store: `name@tag` → version. */
  readonly tags: Map<string, string>;
  /** What the artifact finders find: the newest version of each thing. */
  readonly shelf: Map<string, CatalogEntry>;
  /** Commits by repository and branch, oldest first. */
  readonly commits: Map<string, readonly Commit[]>;
  /** The stamp of the newest thing on the shelf. */
  lastStamp: number;
  /** The dependencies of build targets (`POST /control/targets`). */
  readonly targets: Map<string, readonly string[]>;
  /** The tracker, by the keys of tickets. */
  readonly tickets: Map<string, TrackedTicket>;
  faultCount: number;
  readonly configerator: ConfigeratorState;
  /** What the push type `config` remembers; null before it was asked anything. */
  configPush: ConfigState | null;
}

export const freshState = (): SimulationState => ({
  fleet: freshFleet(),
  ledger: [],
  calls: new Map(),
  violations: [],
  checkers: new Map(),
  behaviours: new Map(),
  reported: new Map(),
  httpFaults: new Map(),
  runs: new Map(),
  fences: new Map(),
  tags: new Map(),
  shelf: new Map(),
  commits: new Map(),
  lastStamp: 0,
  targets: new Map(),
  tickets: new Map(),
  faultCount: 0,
  configerator: freshConfigerator(),
  configPush: null,
});

/** The newest version of something that a finder looks for, and when it came. */
export interface CatalogEntry {
  readonly artifact: Omit<Artifact, 'name'>;
  /** ms since the epoch, unique and rising in this world: what cursors are made of. */
  readonly stamp: number;
}

export interface Commit {
  readonly revision: string;
  readonly author?: string;
  readonly message?: string;
  /** When it was committed, ISO. */
  readonly committedAt?: string;
  /** Whether its tests passed, or will never be run; one that failed may pass later. */
  readonly passed: boolean;
}

/** A ticket of the simulated tracker, and who closed it last: null while it is open. */
export interface TrackedTicket extends Ticket {
  readonly ticket: string;
  readonly openedAt: number;
  readonly closedBy: 'conveyor' | 'a person' | null;
  /** Why Conveyor closed it. */
  readonly reason: string | null;
}
