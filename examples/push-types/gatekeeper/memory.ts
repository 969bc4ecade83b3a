import type { Project } from '../../../sdk';
import { Memory, type State } from '../../../sdk/updates';

/** The remembered state of a project. */
export interface Kept {
  /** The value last read or written. */
  written: unknown;
  /** The value being written, in case the process restarts meanwhile. */
  next?: unknown;
  /** The content of versions, so that a revert finds them even if their files are gone. */
  readonly contents: Record<string, Project>;
  /** The version of the value when it was first read. */
  readonly version: string;
  rules: readonly string[];
  /** The fence of the newest deploy. */
  fence?: number | undefined;
  /** Deploys whose value another process changed. */
  readonly interrupted: readonly string[];
  /** The previous versions of slices that a write under way changes. */
  readonly pending: Pending[];
}

export interface Pending {
  readonly unit: string;
  readonly index: number;
  readonly version: string;
  readonly update: string | null;
}

interface GateState extends State {
  projects: Record<string, Kept>;
}

export class GateMemory extends Memory {
  declare readonly state: GateState;

  constructor(file: string) {
    super(file);
    this.state.projects ??= {};
  }
}
