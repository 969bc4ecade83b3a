import { defineSignal } from '@temporalio/workflow';
import type { ShardReport } from '../../domain/children/window';

/** A shard reports its progress to its fan-out, now and then and at its end. Signals, since a workflow can send no update. */
export const shardReportSignal = defineSignal<[ShardReported]>('shard-report');

export interface ShardReported {
  readonly index: number;
  readonly report: ShardReport;
  /** All of its children have ended or will never start. */
  readonly over: boolean;
}

/** From a fan-out to its shards: start nothing more; why, for people. */
export const stopSignal = defineSignal<[{ reason: string }]>('stop');
