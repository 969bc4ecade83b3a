import { defineSignal } from '@temporalio/workflow';
import type { ShardReport } from '../../domain/children/window';

/** A shard tells its fan-out where it stands, now and then and at its end. Signals, since a workflow can send no update. */
export const shardReportSignal = defineSignal<[ShardTold]>('shard-report');

export interface ShardTold {
  readonly index: number;
  readonly report: ShardReport;
  /** All of its children have ended or will never start. */
  readonly over: boolean;
}

/** A fan-out tells its shards: nothing more is started; why, for people. */
export const stopSignal = defineSignal<[{ reason: string }]>('stop');
