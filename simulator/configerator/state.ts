import type { Override, StoredCommit } from '../../configerator/store/port';
import type { Answer, CommittedValue } from '../../configerator/domain/heldValue';
import type { Branches } from './branches';
import type { ConfigFault, FrozenCache } from './faultState';
import { emptyPast, type HostPast } from './past';
import type { ValueBehaviour } from './valueBehaviour';

/** The leader's log, in its order: number `n` is `log[n - 1]`, and observers resume by these numbers. */
export type Transaction =
  | { readonly kind: 'commit'; readonly repository: string; readonly commit: StoredCommit }
  | { readonly kind: 'put'; readonly repository: string; readonly overrides: readonly Override[] }
  | {
      readonly kind: 'remove';
      readonly repository: string;
      readonly id: string;
      readonly paths: readonly string[] | null;
    };

/** The history of one path, oldest first; `at` is the number of the transaction. */
export interface PathState {
  readonly repository: string;
  readonly path: string;
  readonly values: { readonly at: number; readonly committed: CommittedValue }[];
  readonly overrides: { readonly at: number; readonly overrides: readonly Override[] }[];
  /** Index of each answer about it that a host can have. */
  readonly answers: Map<string, number>;
}

/** A full replica of the log up to `at`. */
export interface Observer {
  readonly name: string;
  readonly region: string;
  isUp: boolean;
  at: number;
  /** Rises when messages on their way to it are lost. */
  epoch: number;
  /** Hosts whose proxies are connected to it. */
  readonly members: number[];
  /** Whether it is about to pass on the acknowledgements of its hosts. */
  acknowledges: boolean;
}

/** Hosts that subscribe to the same paths: the tasks of a job, or hosts that no job deploys to. */
export interface HostGroup {
  readonly name: string;
  readonly repository: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly region: string;
  /** Indices of its paths. */
  readonly paths: readonly number[];
  readonly job: string | null;
  /** By slot. */
  readonly hosts: number[];
}

export const ABSENT = 0;
export const UP = 1;
/** The proxy is down; its application continues to read from the cache. */
export const PROXY_DOWN = 2;

export const DELIVERY_DUE = 1;
export const UNACKNOWLEDGED = 2;

/** One entry for each host and its proxy. */
export interface HostColumns {
  readonly group: Int32Array;
  readonly slot: Int32Array;
  readonly firstCell: Int32Array;
  /** -1 for none. */
  readonly observer: Int32Array;
  /** Its place among that observer's members. */
  readonly place: Int32Array;
  /** The transaction up to which it has all of its paths. */
  readonly at: Int32Array;
  readonly epoch: Int32Array;
  /** The machine on which its task runs. */
  readonly machine: Int32Array;
  readonly presence: Uint8Array;
  readonly marks: Uint8Array;
  /** When the leader lost it (ms since the epoch); 0 while the leader knows it. */
  readonly silentSince: Float64Array;
}

/** One entry for each host and path. */
export interface CellColumns {
  /** Index of the answer that its application has; 0 before the first. */
  readonly answer: Int32Array;
  readonly acknowledged: Int32Array;
  /** Index + 1 of its latest entry in the past. */
  readonly latest: Int32Array;
}

/** The distribution of configuration, as plain data. */
export interface ConfigeratorState {
  readonly log: Transaction[];
  readonly paths: PathState[];
  readonly pathIndex: Map<string, number>;
  readonly answers: (Answer & { readonly of: number })[];
  readonly observers: Observer[];
  /** Observers by region. */
  readonly regions: Map<string, number[]>;
  readonly groups: HostGroup[];
  hostCount: number;
  cellCount: number;
  hosts: HostColumns;
  cells: CellColumns;
  readonly past: HostPast;
  readonly faults: Map<string, ConfigFault>;
  faultCount: number;
  /** Hosts that receive everything later, and by how many ms. */
  readonly slow: Map<number, number>;
  /** Hosts whose disks accept no writes, with the content of their caches. */
  readonly frozen: Map<number, FrozenCache>;
  /** The last change after which hosts need a while to have everything. */
  stirredAt: number;
  isSettling: boolean;
  /** Whether the push type is scheduled to step its services. */
  isStepping: boolean;
  readonly behaviours: ValueBehaviour[];
  readonly branches: Branches;
}

export const freshConfigerator = (): ConfigeratorState => ({
  ...{ log: [], paths: [], pathIndex: new Map(), observers: [], regions: new Map(), groups: [] },
  answers: [{ of: -1, path: '', value: null, version: '', commit: null, override: null, sequence: 0 }],
  ...{ hostCount: 0, cellCount: 0, hosts: hostColumns(0), cells: cellColumns(0), past: emptyPast() },
  ...{ faults: new Map(), faultCount: 0, slow: new Map(), frozen: new Map() },
  ...{ stirredAt: 0, isSettling: false, isStepping: false, behaviours: [], branches: new Map() },
});

/** Makes room for more hosts and cells. */
export function makeRoom(state: ConfigeratorState, hosts: number, cells: number): void {
  if (state.hostCount + hosts > state.hosts.group.length)
    state.hosts = copyColumns(state.hosts, hostColumns(roomFor(state.hostCount, hosts)));
  if (state.cellCount + cells > state.cells.answer.length)
    state.cells = copyColumns(state.cells, cellColumns(roomFor(state.cellCount, cells)));
}

/** Exact for a group; a job that grows by one task at a time must not copy everything each time. */
const roomFor = (present: number, more: number): number =>
  more > MANY_PATHS ? present + more : Math.max(present + more, Math.ceil(present * 1.25));

/** The most paths to which a host subscribes. */
const MANY_PATHS = 20;

type Columns = Readonly<Record<string, Uint8Array | Int32Array | Float64Array>>;

function copyColumns<C extends object>(from: C, to: C): C {
  for (const [key, column] of Object.entries(from as Columns)) (to as Columns)[key]?.set(column);
  return to;
}

const hostColumns = (size: number): HostColumns => ({
  group: new Int32Array(size),
  slot: new Int32Array(size),
  firstCell: new Int32Array(size),
  observer: new Int32Array(size).fill(-1),
  place: new Int32Array(size),
  at: new Int32Array(size),
  epoch: new Int32Array(size),
  machine: new Int32Array(size),
  presence: new Uint8Array(size),
  marks: new Uint8Array(size),
  silentSince: new Float64Array(size),
});

const cellColumns = (size: number): CellColumns => ({
  answer: new Int32Array(size),
  acknowledged: new Int32Array(size),
  latest: new Int32Array(size),
});
