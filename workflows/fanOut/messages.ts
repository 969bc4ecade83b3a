import { defineSignal } from '@temporalio/workflow';
import type { ShardReport } from '../../domain/children/window';

/**
 * A shard reports its progress to its fan-out, periodically and at its end. These are signals, since a workflow cannot send updates.
 */
export const shardReportSignal = defineSignal<[ShardReportMessage]>('shard-report');

export interface ShardReportMessage {
  readonly index: number;
  readonly report: ShardReport;
  /** All of its children have ended or will never start. */
  readonly over: boolean;
}

/** From a fan-out to its shards: start nothing more; `reason` is for people. */
export const stopSignal = defineSignal<[{ reason: string }]>('stop');
