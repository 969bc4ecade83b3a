import { CancellationScope } from '@temporalio/workflow';
import { releaseId, workflowIds } from '../../domain/ids';
import type { Notice } from '../../domain/notify/notice';
import { listExpiredReleases, describeExpired } from '../../domain/pipeline/expiry';
import type { PipelineState } from '../../domain/pipeline/state';
import { formatTime } from '../../domain/text';
import { notices } from '../proxies';
import type { PipelineRun } from './run';

/**
 * Notifies of releases that expire in the queue and so have no workflow. If several expire at once, the newest stands for all, and its notice names
 * the others.
 */
export function reportExpired(run: PipelineRun, state: PipelineState): void {
  const wanted = state.spec.notify.filter(({ on }) => on.includes('expired'));
  const nowMs = Date.now();
  const over = wanted.length === 0 ? [] : listExpiredReleases(state, nowMs);
  const newest = over.at(-1);
  if (newest === undefined) return;
  const { pipeline } = state.spec;
  const release = releaseId(pipeline, newest.number);
  const event: Notice = {
    ...{ id: `${workflowIds.release(pipeline, newest.number)}/expired`, on: 'expired', at: formatTime(nowMs) },
    ...{ pipeline, release, deploy: null, phase: null, pushType: null, actor: null },
    artifacts: newest.artifacts,
    reason: describeExpired(state, over),
  };
  const summary = `expired: ${release}`;
  for (const { on: _on, ...receiver } of wanted)
    run.notifying(
      CancellationScope.nonCancellable(() => notices.notify.executeWithOptions({ summary }, [{ ...receiver, event }])),
    );
}
