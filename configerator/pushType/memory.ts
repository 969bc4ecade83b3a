import type { Content } from '../domain/subscriber';
import { Memory, type State } from '../../sdk/updates/memory';

/** The state of one service: the paths of a repository that a pipeline owns. */
export interface Service {
  readonly repository: string;
  readonly paths: readonly string[];
  /** The committed version, and the newest commit of the store at the last check. */
  committed: string;
  head: string | null;
  /** The contents of versions, so that a revert has them even if the repository is broken. */
  readonly contents: Record<string, Content>;
  /** The commit of each formerly committed version. */
  readonly commits: Record<string, string | null>;
  /** The head at which each removal was accepted: no later commit is deleted. */
  removals?: Readonly<Record<string, string | null>>;
  /** The change number of each version that is a change. */
  readonly changes: Record<string, number>;
  /** By unit: the host of each slot. */
  readonly hosts: Record<string, string[]>;
  /** By unit: since when all of its hosts are gone, in ms since the epoch. */
  emptySince?: Readonly<Record<string, number>>;
  /** Units forgotten because all hosts have left; a deploy that began before may name them. */
  former?: readonly string[];
  /** The contents of written overrides, by id, to detect changes. */
  readonly exposed: Record<string, string>;
  /** By update: the share of its unit's hosts that have it, joining hosts included. */
  readonly shares: Record<string, { readonly unit: string; readonly below: number; readonly version: string }>;
  landing?: WantedLanding | undefined;
  /** The person or service behind the last change of the units' versions. */
  requester?: Requester | undefined;
  /** The fence of the newest deploy. */
  fence?: number | undefined;
  /** Deploys during which others have changed the paths. */
  interrupted: readonly string[];
  /** The commits that the newest landing replaced, by path. */
  landed?:
    | {
        readonly commit: string;
        readonly before: Readonly<Record<string, PathCommit>>;
        /** The version that was committed before; records from an earlier Conveyor have none. */
        readonly from?: string;
      }
    | undefined;
  /** Committed versions that others have replaced by a commit. */
  readonly replaced: Record<string, string>;
}

/** For the message of a commit that undoes something. */
export interface Requester {
  readonly deploy: string;
  /** Missing if a deploy reverts itself: its call names the actor who started it, not the one who reverts it. */
  readonly actor?: string;
}

/** A version that is to be committed. */
export interface WantedLanding {
  readonly version: string;
  /** Its change; a version that was committed before needs a new change. */
  change?: number;
  commit?: string;
  /** Why it was refused. */
  refused?: string;
  /** The updates for which it was refused. Another update may try again. */
  refusedTo?: readonly (string | null)[];
  readonly ahead: boolean;
  /** The commits that it replaces: hosts have these names until it has landed. */
  before?: Readonly<Record<string, PathCommit>>;
}

/** The former commit of a path on hosts; null if there was none. */
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
