import { upsertMemo } from '@temporalio/workflow';
import type { SubscriptionsMemo } from '../../domain/pipeline/pipelineIndex';
import type { PipelineSpec } from '../../domain/spec/pipeline';

/**
 * Writes a memo of the artifacts that the pipeline wants from each finder; sweeps find the pipeline by it
 * (domain/pipeline/pipelineIndex.ts).
 */
export function subscribe(spec: PipelineSpec, previous: PipelineSpec | null): void {
  const wanted = listSubscriptions(spec);
  const before = previous === null ? {} : listSubscriptions(previous);
  if (JSON.stringify(wanted) === JSON.stringify(before)) return;
  upsertMemo({ subscriptions: { atMs: Date.now(), artifacts: wanted } satisfies SubscriptionsMemo });
}

const listSubscriptions = ({ artifacts }: PipelineSpec): SubscriptionsMemo['artifacts'] =>
  Object.fromEntries(Object.entries(artifacts).filter(([, { finder }]) => finder !== 'manual'));
