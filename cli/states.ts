import { DEPLOY_STATES } from '../domain/deploy/spans';
import type { FinderView, PipelineSummary, ReleaseState } from '../domain/views';

/** What `list --state` takes, by what is listed. */
export const STATES = {
  pipelines: ['active', 'held', 'frozen'] satisfies PipelineSummary['state'][],
  releases: ['queued', 'running', 'paused', 'succeeded', 'failed', 'cancelled'] satisfies ReleaseState[],
  deploys: DEPLOY_STATES,
  finders: ['answers', 'failing', 'idle', 'paused', 'unasked'] satisfies FinderView['state'][],
};
