import type { DeployState, FinderView, PipelineSummary, ReleaseState } from '../domain/views';

/** What `list --state` takes, by what is listed. */
export const STATES = {
  pipelines: ['active', 'held', 'frozen'] satisfies PipelineSummary['state'][],
  releases: ['queued', 'running', 'paused', 'succeeded', 'failed', 'cancelled'] satisfies ReleaseState[],
  deploys: [
    ...(['planning', 'waiting-lock', 'waiting-window', 'preprocessing', 'updating'] satisfies DeployState[]),
    ...(['baking', 'postprocessing', 'reverting', 'ended'] satisfies DeployState[]),
  ],
  finders: ['answers', 'failing', 'idle', 'paused', 'unasked'] satisfies FinderView['state'][],
};
