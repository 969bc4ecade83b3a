import type { Project } from '../../../sdk';
import { Memory, type State } from '../../../sdk/updates';

/** The remembered state of a project. */
export interface Kept {
  /** The value that we have read or written last. */
  written: unknown;
  /** The value being written, for a process that restarts in between. */
  next?: unknown;
  /** The content of versions, so a revert finds them whatever became of their files. */
  readonly contents: Record<string, Project>;
  /** Which of them the value was when we saw it first. */
  readonly version: string;
  rules: readonly string[];
  /** For the newest deploy. */
  fence?: number | undefined;
  /** Deploys whose value was changed by another process. */
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
