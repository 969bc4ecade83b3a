import type { DeployRecorder } from './recorder';
import type { DeploySession } from './session';

/** The parts of a deploy under way that functions take. One that only writes the record takes a `DeployRecorder`. */

/** Calls the push type until it answers. */
export type PushCaller = DeployRecorder & Pick<DeploySession, 'call' | 'isUrgent' | 'settle'>;

/** Judges the tasks that the deploy has updated. */
export type HealthWatcher = PushCaller & Pick<DeploySession, 'updates' | 'waitFor'>;

/** Sends updates while a pause, the window and the canaries of others allow it. */
export type UpdateRunner = HealthWatcher &
  Pick<DeploySession, 'window' | 'isClosed' | 'isHalted' | 'findCallStop' | 'lockId' | 'canaryDepartures'>;

/** Runs the steps before and after a phase. */
export type StepRunner = UpdateRunner & Pick<DeploySession, 'authority' | 'steps' | 'isPreempted'>;
