import { randomBytes } from 'node:crypto';
import { workflowIds } from '../../domain/ids';
import { pipelineSchema, type PipelineSource } from '../../domain/spec/pipeline';
import type { DeployStatus, ReleaseStatus } from '../../domain/views';
import type { JobView } from '../../simulator/twine/jobs';
import { deployPipeline, ERRORS, type DeployWith } from '../builders/deployPipeline';
import { OWNER, SPEED, type Stack } from './stack';
import { eventually } from './waiting';

export interface Given {
  /** How long a task takes to restart, in real ms; 42 by default. */
  readonly restartMs?: number;
  /** Tasks of each job that restart at the same time. */
  readonly nSmall?: number;
  readonly deploy?: Partial<DeployWith>;
  readonly pipeline?: Partial<PipelineSource>;
  /** By default a unique name. */
  readonly name?: string;
  /** Deploys the jobs of another service instead of its own. */
  readonly jobsOf?: Service;
}

/** How often health is looked at for a deploy that bakes for an hour: no verdict ends that, and each look slows the test. */
export const SELDOM = '10s';

/** One task, and then nothing for an hour: every later event was caused by a person. */
export const PATIENT: Given = {
  deploy: {
    phases: [{ name: 'first', scope: '*', amount: 1, bake: '1h' }],
    completion: { bake: '1h' },
    healthInterval: SELDOM,
  },
};

/**
 * A service with six tasks in region x and six in region y on version 1, and its applied pipeline. The stories of the
 * system tests are written with it: given(…), when a version ships, then this is true.
 */
export async function given(stack: Stack, what: Given = {}): Promise<Service> {
  const service = new Service(stack, what.name ?? `shop-${randomBytes(4).toString('hex')}`, what);
  if (what.jobsOf === undefined) await addJobs(service, what);
  await stack.client.apply(pipelineSchema.parse(service.source), OWNER);
  return service;
}

export class Service {
  readonly jobs: readonly string[];
  readonly source: PipelineSource;
  readonly file: string;

  constructor(
    readonly stack: Stack,
    readonly name: string,
    what: Given,
  ) {
    this.jobs = what.jobsOf?.jobs ?? [`${name}-x`, `${name}-y`];
    this.source = pipelineOf(this, what);
    this.file = stack.file(`${name}.yaml`, this.source);
  }

  /** The artifact version n of this service; behaviours belong to versions, so each service has its own versions. */
  version(n: number): string {
    return `${this.name}:${n}`;
  }

  /** Makes a version misbehave in the world. */
  behaves(n: number, behaviour: object): Promise<unknown> {
    return this.stack.control('POST', '/control/versions', { version: this.version(n), behaviour });
  }

  /** Starts a release of version n; returns its id. */
  async ships(n: number): Promise<string> {
    const { id } = await this.stack.client.release(
      this.name,
      [{ name: 'executable', kind: 'executable', version: this.version(n), metadata: {} }],
      { kind: 'manual', actor: OWNER, key: null },
    );
    return id;
  }

  release(number: number): Promise<ReleaseStatus> {
    return this.stack.client.status(`${this.name}/${number}`) as Promise<ReleaseStatus>;
  }

  deploy(number: number): Promise<DeployStatus> {
    return this.stack.client.status(`${this.name}/${number}/deploy`) as Promise<DeployStatus>;
  }

  deployWorkflow(number: number): string {
    return workflowIds.deploy(this.name, number, 'deploy', 1);
  }

  /** Waits until the deploy of a release is as described. */
  reaches(number: number, what: string, holds: (deploy: DeployStatus) => boolean): Promise<DeployStatus> {
    return eventually(`the deploy of ${this.name}/${number} ${what}`, async () => {
      const deploy = await this.deploy(number);
      return holds(deploy) && deploy;
    });
  }

  isIn(number: number, state: DeployStatus['state']): Promise<DeployStatus> {
    return this.reaches(number, `is ${state}`, (deploy) => deploy.state === state);
  }

  /** Waits until a release has ended and its pipeline knows it. */
  async ended(number: number, withinMs?: number): Promise<ReleaseStatus> {
    await eventually(
      `release ${this.name}/${number} ended`,
      async () => {
        const pipeline = await this.stack.client.status(this.name);
        return pipeline.kind === 'pipeline' && !pipeline.active.includes(number);
      },
      withinMs,
    );
    return this.release(number);
  }

  async fleet(): Promise<JobView[]> {
    return Promise.all(this.jobs.map((job) => this.stack.control<JobView>('GET', `/control/jobs/${job}`)));
  }

  /** The number of tasks on each version: `{ 1: 9, 2: 3 }`. */
  async runs(): Promise<Record<number, number>> {
    const counts: Record<number, number> = {};
    for (const { versions } of await this.fleet())
      for (const [version, count] of Object.entries(versions)) {
        const n = Number(version.split(':').at(-1));
        if (count > 0) counts[n] = (counts[n] ?? 0) + count;
      }
    return counts;
  }

  /**
   * Changes of the world on behalf of this service, without its name, in order. Prefetches are left out: they change no
   * task, and may come late or not at all.
   */
  async effects(): Promise<string[]> {
    const mine = (await this.stack.ledger()).filter(({ effect, key }) => effect && key.includes(this.name));
    return mine
      .filter(({ method }) => method !== 'prefetch')
      .map(({ service, method, key }) => `${service} ${method} ${key.replaceAll(this.name, 'shop')}`);
  }
}

export async function addJobs(service: Service, what: Given = {}): Promise<void> {
  for (const region of ['x', 'y']) await addJob(service, region, what);
}

function addJob(service: Service, region: string, { restartMs, nSmall }: Given): Promise<unknown> {
  const simulated = (restartMs ?? 42) * SPEED;
  return service.stack.control('POST', '/control/jobs', {
    name: `${service.name}-${region}`,
    service: service.name,
    region,
    tasks: 6,
    version: service.version(1),
    nSmall: nSmall ?? 3,
    budget: 3,
    timings: { fetchMs: simulated * 0.3, stopMs: simulated * 0.1, startMs: simulated * 0.6 },
  });
}

const pipelineOf = ({ name, jobs }: Service, { deploy, pipeline }: Given): PipelineSource =>
  deployPipeline(
    name,
    {
      config: { jobs: [...jobs] },
      phases: [{ name: 'first', scope: 'region:x', amount: 3, bake: '2s' }],
      completion: { bake: '1s' },
      healthInterval: '250ms',
      healthChecks: [{ ...ERRORS, transform: [{ average: '1s' }], minSamples: 2 }],
      ...deploy,
    },
    { owners: [OWNER], ...pipeline },
  );
