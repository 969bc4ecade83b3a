import type { WorkflowHandle } from '@temporalio/client';
import type { DeployInput, DeployResult } from '../../domain/deploy/state';
import { DEFAULT_SETTINGS, type Settings } from '../../domain/settings';
import { pipelineSchema, type PipelineSource } from '../../domain/spec/pipeline';
import type { DeployStatus } from '../../domain/views';
import type { CommandInput, Verb } from '../../domain/verbs';
import { kvstore } from './pipelines';
import { HOUR, MINUTE, type VirtualWorld } from './world';

/** A deploy without a surrounding release, for tests of a release's messages to it. */
export class LoneDeploy {
  constructor(
    private readonly world: VirtualWorld,
    readonly handle: WorkflowHandle,
  ) {}

  status(): Promise<DeployStatus> {
    return this.handle.query('status');
  }

  result(): Promise<DeployResult> {
    return this.handle.result() as Promise<DeployResult>;
  }

  command(verb: Verb, input: CommandInput = {}) {
    return this.world.command(this.handle.workflowId, verb, input);
  }

  async freeze(): Promise<void> {
    await this.world.settled();
    return this.handle.signal('frozen', { by: { actor: 'user:bob', at: '', reason: 'holidays' } });
  }

  unfreeze(): Promise<void> {
    return this.handle.signal('frozen', { by: null });
  }

  async overtake(why: 'superseded' | 'preempted', by = 9): Promise<void> {
    await this.world.settled();
    return this.handle.signal('overtaken', { by, why });
  }

  async reaches(what: (status: DeployStatus) => boolean, limits = {}): Promise<DeployStatus> {
    await this.world.until('the deploy got there', async () => what(await this.status()), {
      stepMs: MINUTE,
      withinMs: 12 * HOUR,
      ...limits,
    });
    return this.status();
  }

  /** Lets time pass until it has ended. */
  async ended(limits = {}): Promise<DeployResult> {
    await this.reaches(({ state }) => state === 'ended', { stepMs: 5 * MINUTE, ...limits });
    // Abandoned work must end before the workflow closes, which takes time.
    const isClosed = async () => (await this.handle.describe()).status.name !== 'RUNNING';
    await this.world.until('the deploy closed', isClosed, { stepMs: MINUTE });
    return this.result();
  }
}

/** Starts a deploy of `kv:<release>`, of the two-region store by default. */
export async function deploying(
  world: VirtualWorld,
  { release = 2, ...more }: Partial<DeployInput> = {},
  deploy: Parameters<typeof kvstore>[0] = {},
): Promise<LoneDeploy> {
  const input = inputOf(kvstore(deploy), release, more);
  const { pipeline, action } = input;
  const handle = await world.client.workflow.start('deploy', {
    workflowId: `deploy/${pipeline}/${release}/${action}/1`,
    taskQueue: world.taskQueue,
    args: [input],
  });
  return new LoneDeploy(world, handle);
}

/** Looks at updates and steps once a minute, and at nothing else soon enough to matter. */
export const EACH_MINUTE: Settings = {
  ...DEFAULT_SETTINGS,
  heartbeatTimeoutMs: HOUR,
  trackIntervalMs: MINUTE,
  progressIntervalMs: MINUTE,
  reconcileIntervalMs: 24 * HOUR,
};

function inputOf(source: PipelineSource, release: number, more: Partial<DeployInput>): DeployInput {
  const { deploy } = pipelineSchema.parse(source).actions;
  if (deploy?.type !== 'deploy') throw new Error('no deploy');
  const version = `kv:${release}`;
  return {
    pipeline: 'kvstore',
    release,
    action: 'deploy',
    attempt: 1,
    spec: deploy.with,
    artifacts: [{ name: 'executable', kind: 'executable', version, metadata: {} }],
    version,
    lastGood: null,
    rollback: false,
    policy: { owners: ['user:alice'], groups: {} },
    actor: 'user:alice',
    settings: {
      ...DEFAULT_SETTINGS,
      heartbeatTimeoutMs: HOUR,
      trackIntervalMs: 15_000,
      reconcileIntervalMs: HOUR,
    },
    ...more,
  };
}
