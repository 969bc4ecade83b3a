import type { ConfigDue } from './configerator/events';

/** What happens in the world, as the checkers see it. Names, not indices, so that a checker needs nothing else. */
export type TaskStateName = 'running' | 'updating' | 'down' | 'moving' | 'gone';

export interface TaskEvent {
  readonly kind: 'task';
  readonly job: string;
  readonly slot: number;
  readonly from: TaskStateName;
  readonly to: TaskStateName;
  /** `stop`: for maintenance, with leave; `maintenance`: because it can wait no longer. */
  readonly why: 'update' | 'started' | 'crashed' | 'fault' | 'move' | 'stop' | 'maintenance' | 'resize' | 'restart';
  /** With `why: update`: who updates it now, and who did last before. */
  readonly update: string | null;
  readonly previous: string | null;
}

export type FleetEvent =
  | TaskEvent
  | {
      readonly kind: 'job-sized';
      readonly job: string;
      readonly size: number;
      readonly budget: { readonly count: number } | { readonly percent: number } | { readonly all: true };
    }
  | {
      readonly kind: 'update-accepted';
      readonly job: string;
      readonly update: string;
      readonly urgency: 'normal' | 'revert';
      readonly wholeUnit: boolean;
      /** With every revert of these added, since a second try must find what the first one touched. */
      readonly updatedBy: readonly string[] | null;
      /** It takes only some of the tasks of `updatedBy`. */
      readonly isPart: boolean;
      /** Whose tasks it leaves alone, with every revert of these. */
      readonly exclude: readonly string[];
    }
  | { readonly kind: 'update-commanded'; readonly job: string; readonly update: string; readonly verb: UpdateVerb }
  | { readonly kind: 'update-ended'; readonly job: string; readonly update: string; readonly how: UpdateEndState }
  /** What a job's controller approved and what was not begun is void now, as for all jobs of a region whose scheduler is down. */
  | { readonly kind: 'controller-asked'; readonly job: string }
  | { readonly kind: 'scheduler-down'; readonly region: string }
  | {
      /** The job's controller approved an operation on a task. */
      readonly kind: 'op-approved';
      readonly job: string;
      readonly slot: number;
      readonly op: 'update' | 'restart' | 'move' | 'stop';
    }
  | {
      readonly kind: 'traffic-shifted';
      readonly job: string;
      readonly version: string;
      readonly percent: number;
      /** Who asked for it. */
      readonly deploy: string;
    }
  | { readonly kind: 'effect'; readonly service: string; readonly method: string; readonly key: string };

export type UpdateVerb = 'pause' | 'resume' | 'cancel';
export type UpdateEndState = 'done' | 'failed' | 'cancelled' | 'superseded';

/** What the kernel's heap holds: things that will happen to tasks and faults. */
export type DueEvent =
  | { readonly kind: 'task-started'; readonly job: string; readonly slot: number; readonly epoch: number }
  | { readonly kind: 'fault-over'; readonly fault: string }
  | { readonly kind: 'move-away'; readonly fault: string }
  | { readonly kind: 'maintenance-due'; readonly fault: string }
  | { readonly kind: 'autoscale'; readonly job: string }
  | { readonly kind: 'pace'; readonly region: string }
  | { readonly kind: 'control-due'; readonly job: string; readonly at: number }
  | {
      readonly kind: 'control-answered';
      readonly job: string;
      readonly sequence: number;
      /** When the call was made; a call may be made again under its number. */
      readonly askedAt?: number;
      /** Null for no answer. */
      readonly ack: readonly string[] | null;
      readonly trouble: string;
    }
  | { readonly kind: 'run-ended'; readonly run: string }
  | ConfigDue;
