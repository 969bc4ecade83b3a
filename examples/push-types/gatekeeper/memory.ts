import type { Project } from '../../../sdk';
import { Memory, type State } from '../../../sdk/updates';

/** What is known of a project. */
export interface Kept {
  /** The value that we have read or written last. */
  written: unknown;
  /** The value that is being written, for whoever begins anew in between. */
  next?: unknown;
  /** What versions say, so that a revert finds them whatever became of their files. */
  readonly contents: Record<string, Project>;
  /** Which of them the value was when we saw it first. */
  readonly version: string;
  rules: readonly string[];
  /** Of the newest deploy. */
  fence?: number | undefined;
  /** Deploys in which somebody else has changed the value. */
  readonly interrupted: readonly string[];
  /** What slices were on that a write under way changes. */
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
