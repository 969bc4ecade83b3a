import { z } from 'zod';
import { ON_RUNNING, type RunningDeployPolicy } from '../../../domain/release/bugNotice';

/** How bugs in dependencies are handled: `bugs` of conveyor.config.yaml. */
export interface BugSettings {
  /** The longest chain of dependencies that counts. */
  readonly depth: number;
  /** The effect of a new bug on running deploys that contain it. */
  readonly onRunning: RunningDeployPolicy;
}

/** Nearly all chains from bugs to programs are shorter. */
const DEFAULT_DEPTH = 14;

/** The key of conveyor.config.yaml that this file handles. */
export const bugFields = {
  bugs: z
    .strictObject({
      depth: z.int().min(1).max(100).default(DEFAULT_DEPTH),
      onRunning: z.enum(ON_RUNNING).default('pause'),
    })
    .prefault({}),
};

interface BugConfig {
  readonly bugs: BugSettings;
}

export const toBugs = ({ bugs }: BugConfig): BugConfig => ({ bugs });
