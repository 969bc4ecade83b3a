import type { DeployState, PipelineSummary, ReleaseState } from '../domain/views';

/** What `list --state` takes, by what is listed. */
export const STATES = {
  pipelines: ['active', 'held', 'frozen'] satisfies PipelineSummary['state'][],
  releases: ['queued', 'running', 'paused', 'succeeded', 'failed', 'cancelled'] satisfies ReleaseState[],
  deploys: [
    ...(['planning', 'waiting-lock', 'waiting-window', 'preprocessing', 'updating'] satisfies DeployState[]),
    ...(['baking', 'postprocessing', 'reverting', 'ended'] satisfies DeployState[]),
  ],
};
