import { z } from 'zod';
import { ON_RUNNING, type OnRunning } from '../domain/bugs/consequence';

/** How bugs in what others build are followed: `bugs` of conveyor.config.yaml. */
export interface BugSettings {
  /** A chain of at most so many dependencies counts. */
  readonly depth: number;
  /** What deploys do that run with a bug as it is reported. */
  readonly onRunning: OnRunning;
}

/** Of chains by which bugs reach programs, nearly all are shorter. */
const DEFAULT_DEPTH = 14;

/** The key of conveyor.config.yaml that this file is about. */
export const bugFields = {
  bugs: z
    .strictObject({
      depth: z.int().min(1).max(100).default(DEFAULT_DEPTH),
      onRunning: z.enum(ON_RUNNING).default('pause'),
    })
    .prefault({}),
};
