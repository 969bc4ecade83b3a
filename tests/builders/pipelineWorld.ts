import type { Artifact } from '../../domain/artifact';
import { NO_TIME } from '../../domain/deploy/spans';
import type { DeployResult } from '../../domain/deploy/state';
import { queueRelease, newPipeline, markReleaseRunning, type PipelineState } from '../../domain/pipeline/state';
import type { DeployEndRecord, ReleaseResult } from '../../domain/release/state';
import { DEFAULT_SETTINGS } from '../../domain/settings';
import { pipelineSchema, type PipelineSource, type PipelineSpec } from '../../domain/spec/pipeline';
import type { Trigger } from '../../domain/views';

export const NOW = Date.parse('2026-11-23T17:00:00Z');

const DEPLOY = { type: 'deploy', inputs: ['executable'], with: { pushType: 'twine' } } as const;

/** A pipeline with deploys of the given names, all of the same executable. */
export const specOf = (deploys = ['deploy'], more: Partial<PipelineSource> = {}): PipelineSpec =>
  pipelineSchema.parse({
    pipeline: 'kvstore',
    owners: ['user:alice', 'group:storage'],
    artifacts: { executable: { finder: 'manual' } },
    actions: Object.fromEntries(deploys.map((name) => [name, DEPLOY])),
    ...more,
  });

export const pipelineOf = (...spec: Parameters<typeof specOf>): PipelineState =>
  newPipeline(specOf(...spec), { storage: ['user:sam'] }, DEFAULT_SETTINGS);

export const artifact = (version: string, name = 'executable'): Artifact => ({
  name,
  kind: name,
  version,
  metadata: {},
});

export const manual = (key: string | null = null): Trigger => ({ kind: 'manual', actor: 'user:alice', key });

/** A running release; its number is the next. */
export const running = (state: PipelineState, ...artifacts: readonly Artifact[]): PipelineState =>
  markReleaseRunning(queueRelease(state, artifacts, manual(), NOW), state.nextNumber);

type Outcome = 'succeeded' | 'cancelled' | 'failed' | { readonly revertedBy: string; readonly bad?: boolean };

export const deployed = (action: string, outcome: Outcome, ...artifacts: readonly Artifact[]): DeployEndRecord => {
  const base = { version: 'v', spans: NO_TIME, classification: 'success' } as const;
  const result: DeployResult =
    typeof outcome === 'string'
      ? { ...base, outcome, reason: outcome, reverted: null }
      : {
          ...base,
          outcome: 'reverted',
          reason: `reverted by ${outcome.revertedBy}`,
          reverted: { by: outcome.revertedBy, bad: outcome.bad ?? true },
        };
  return { action, artifacts, result };
};

export const resultOf = (
  number: number,
  deploys: readonly DeployEndRecord[],
  artifacts: readonly Artifact[] = [],
): ReleaseResult => ({
  number,
  state: deploys.every(({ result }) => result.outcome === 'succeeded') ? 'succeeded' : 'failed',
  cause: null,
  artifacts,
  deploys,
  endedAt: '2026-11-23T18:00:00.000Z',
});
