import { DEPLOY_STATES } from '../domain/deploy/spans';
import type { FinderView, PipelineSummary, ReleaseState } from '../domain/views';

/** The values of `list --state`, by kind of listing. */
export const STATES = {
  pipelines: ['active', 'held', 'frozen'] satisfies PipelineSummary['state'][],
  releases: ['queued', 'running', 'paused', 'succeeded', 'failed', 'cancelled'] satisfies ReleaseState[],
  deploys: DEPLOY_STATES,
  finders: ['answers', 'failing', 'idle', 'paused', 'unasked'] satisfies FinderView['state'][],
};
