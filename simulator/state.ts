import type { Artifact } from '../domain/artifact';
import type { ActionServiceProtocol } from '../sdk/protocol/actionService';
import type { RequestOf } from '../sdk/protocol/common';
import type { Ticket } from '../sdk/protocol/tickets';
import type { ConfigState } from '../configerator/pushType/memory';
import { freshConfigerator, type ConfigeratorState } from './configerator/state';
import { freshFleet, type TwineFleet } from './twine/fleet';
import type { LedgerEntry, RememberedCall } from './ledger';
import type { Behaviour } from './metrics/behaviour';
import type { ReportedPoints } from './metrics/reports';
import type { HttpFault } from './httpFault';
import type { Violation } from './checkers/checker';

/** A run of an action service. */
export interface Run {
  readonly id: string;
  readonly service: string;
  readonly request: RequestOf<ActionServiceProtocol['startRun']>;
  readonly startedAt: number;
  /** Infinity for a run whose end depends on the world. */
  readonly endsAt: number;
  state: 'running' | 'succeeded' | 'failed';
  message: string;
  /** Its steps, in order. */
  readonly steps: readonly string[];
  /** Its message after a success. */
  readonly said: string;
  /** Its outputs if it succeeds. */
  readonly outputs: readonly Artifact[];
  /** Why it will fail; null if it succeeds. */
  readonly failure: string | null;
  /** Set by `pkg`: the tag under which the inputs are stored. */
  readonly tag: string | null;
}

/** The state of the world outside the kernel, as plain data: the content of a snapshot. */
export interface SimulationState {
  readonly fleet: TwineFleet;
  readonly ledger: LedgerEntry[];
  readonly calls: Map<string, RememberedCall>;
  readonly violations: Violation[];
  /** Memory of the checkers, by name. */
  readonly checkers: Map<string, unknown>;
  /** The behaviours of versions with their start, oldest first. */
  readonly behaviours: Map<string, Behaviour[]>;
  readonly reported: ReportedPoints;
  readonly httpFaults: Map<string, HttpFault>;
  readonly runs: Map<string, Run>;
  /** The highest fence with which a service was deployed. */
  readonly fences: Map<string, number>;
  /** The artifact store: `name@tag` → version. */
  readonly tags: Map<string, string>;
  /** The artifacts for the finders: the newest version of each thing. */
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
  /** The state of the push type `config`; null before its first call. */
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

/** The newest version of something that a finder looks for, and its time. */
export interface CatalogEntry {
  readonly artifact: Omit<Artifact, 'name'>;
  /** ms since the epoch, unique and rising in this world: cursors are made from it. */
  readonly stamp: number;
}

export interface Commit {
  readonly revision: string;
  readonly author?: string;
  readonly message?: string;
  /** When it was committed, ISO. */
  readonly committedAt?: string;
  /** Whether its tests passed, or will never run; a commit that failed may pass later. */
  readonly passed: boolean;
}

/** A ticket of the simulated tracker, and its closer: null while it is open. */
export interface TrackedTicket extends Ticket {
  readonly ticket: string;
  readonly openedAt: number;
  readonly closedBy: 'conveyor' | 'a person' | null;
  /** Why Conveyor closed it. */
  readonly reason: string | null;
}
