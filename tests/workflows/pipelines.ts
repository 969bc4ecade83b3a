import type { PipelineSource } from '../../domain/spec/pipeline';
import { deployPipeline, ERRORS, type DeployWith } from '../builders/deployPipeline';

/** The two-region, twelve-task store of Conveyor §2.3: three tasks of one region, then the rest; ten minutes of bake each. */
export const kvstore = (deploy: Partial<DeployWith> = {}, more: Partial<PipelineSource> = {}): PipelineSource =>
  deployPipeline(
    'kvstore',
    {
      config: { jobs: ['kvstore-x', 'kvstore-y'] },
      phases: [{ name: 'first', scope: 'region:x', amount: 3, bake: '10m' }],
      healthInterval: '5m',
      healthChecks: [{ ...ERRORS, transform: [{ average: '3m' }] }],
      ...deploy,
    },
    more,
  );
