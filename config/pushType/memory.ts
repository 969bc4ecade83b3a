import type { Content } from '../../domain/config/subscriber';
import { Memory, type State } from '../../sdk/updates/memory';

/** What is known of one service: the paths of a repository that a pipeline owns. */
export interface Service {
  readonly repository: string;
  readonly paths: readonly string[];
  /** The version that is committed, and the newest commit of the store when it was seen to be. */
  committed: string;
  head: string | null;
  /** What versions say, so that a revert finds them whatever became of the repository. */
  readonly contents: Record<string, Content>;
  /** Where a version that was committed is found again: the commit that had it. */
  readonly commits: Record<string, string | null>;
  /** Versions that are changes. */
  readonly changes: Record<string, number>;
  /** By unit: whose slot is whose. */
  readonly hosts: Record<string, string[]>;
  /** By unit: since when all of its hosts are gone, in ms since the epoch. */
  emptySince?: Readonly<Record<string, number>>;
  /** Units that are none any more since all hosts have left; a deploy that began before may name them. */
  former?: readonly string[];
  /** Overrides that were written, by their ids: what they say, to see whether that has changed. */
  readonly exposed: Record<string, string>;
  /** By update: the hosts of its unit that stand below this have it, also those that join. */
  readonly shares: Record<string, { readonly unit: string; readonly below: number; readonly version: string }>;
  landing?: WantedLanding | undefined;
  /** Of the newest deploy. */
  fence?: number | undefined;
  /** Deploys during which somebody else has changed the paths. */
  interrupted: readonly string[];
  /** What the newest landing took the place of, by path. */
  landed?:
    | {
        readonly commit: string;
        readonly before: Readonly<Record<string, PathCommit>>;
        /** The version that was committed before; records from an earlier Conveyor have none. */
        readonly from?: string;
      }
    | undefined;
  /** Committed versions in whose place others have committed another one. */
  readonly replaced: Record<string, string>;
}

/** A version that is to be committed. */
export interface WantedLanding {
  readonly version: string;
  /** Which change brings it; a version that was committed before needs a new one. */
  change?: number;
  commit?: string;
  /** Why it is not to be. */
  refused?: string;
  /** What units were to be on it by when that was said. Another update is another try. */
  refusedTo?: readonly (string | null)[];
  readonly ahead: boolean;
  /** What it takes the place of: hosts are called by that until it is there. */
  before?: Readonly<Record<string, PathCommit>>;
}

/** The commit of a path that hosts had; null where there was none. */
export interface PathCommit {
  readonly commit: string | null;
  readonly sequence: number;
}

export interface ConfigState extends State {
  services: Record<string, Service>;
}

export class ConfigMemory extends Memory {
  declare readonly state: ConfigState;

  constructor(file: string | null) {
    super(file);
    this.state.services ??= {};
  }
}
