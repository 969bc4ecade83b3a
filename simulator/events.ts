import type { ConfigDue } from './configerator/events';

/** The events of the world, as the checkers see them. They carry names, not indices, so a checker needs nothing else. */
export type TaskStateName = 'running' | 'updating' | 'down' | 'moving' | 'gone';

export interface TaskEvent {
  readonly kind: 'task';
  readonly job: string;
  readonly slot: number;
  readonly from: TaskStateName;
  readonly to: TaskStateName;
  /** `stop`: for maintenance, with approval; `maintenance`: because it can wait no longer. */
  readonly why: 'update' | 'started' | 'crashed' | 'fault' | 'move' | 'stop' | 'maintenance' | 'resize' | 'restart';
  /** With `why: update`: the update that changes it now, and the one that last changed it before. */
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
      /** Includes every revert of these, since a second try must find the tasks that the first one touched. */
      readonly updatedBy: readonly string[] | null;
      /** It takes only some of the tasks of `updatedBy`. */
      readonly isPart: boolean;
      /** The updates whose tasks it leaves alone, including every revert of these. */
      readonly exclude: readonly string[];
    }
  | { readonly kind: 'update-commanded'; readonly job: string; readonly update: string; readonly verb: UpdateVerb }
  | { readonly kind: 'update-ended'; readonly job: string; readonly update: string; readonly how: UpdateEndState }
  /** Unused approvals of a job's controller are void now, as for all jobs of a region whose scheduler is down. */
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
      /** The deploy that asked for it. */
      readonly deploy: string;
    }
  | { readonly kind: 'effect'; readonly service: string; readonly method: string; readonly key: string };

export type UpdateVerb = 'pause' | 'resume' | 'cancel';
export type UpdateEndState = 'done' | 'failed' | 'cancelled' | 'superseded';

/** The events in the kernel's heap: what will happen to tasks and faults. */
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
      /** Null if there was no answer. */
      readonly ack: readonly string[] | null;
      readonly trouble: string;
    }
  | { readonly kind: 'run-ended'; readonly run: string }
  | ConfigDue;
