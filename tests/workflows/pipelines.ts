import type { PipelineSource } from '../../domain/spec/pipeline';

type DeployWith = Extract<PipelineSource['actions'][string], { type: 'deploy' }>['with'];

/** The two-region, twelve-task store of Conveyor §2.3: three tasks of one region, then the rest; ten minutes of bake each. */
export const kvstore = (deploy: Partial<DeployWith> = {}, more: Partial<PipelineSource> = {}): PipelineSource => ({
  pipeline: 'kvstore',
  owners: ['user:alice'],
  artifacts: { executable: { finder: 'manual' } },
  actions: {
    deploy: {
      type: 'deploy',
      inputs: ['executable'],
      with: {
        pushType: 'twine',
        config: { jobs: ['kvstore-x', 'kvstore-y'] },
        phases: [{ name: 'first', scope: 'region:x', amount: 3, bake: '10m' }],
        healthInterval: '5m',
        healthChecks: [
          { name: 'errors', metric: 'rpc.error_ratio', transform: [{ average: '3m' }], threshold: { above: 0.05 } },
        ],
        ...deploy,
      },
    },
  },
  ...more,
});
