import type { SubscriberCounts } from '../../simulator/configerator/subscribers';
import type { PipelineSource } from '../../domain/spec/pipeline';
import type { VirtualWorld } from './world';

/** Configuration in virtual time: the push type `config` over the simulated tree, and hosts that read it. */

export const FEED = 'feed/limits';

type DeployWith = Extract<PipelineSource['actions'][string], { type: 'deploy' }>['with'];

/** A fifth of one region first, then all, ten minutes of bake each. */
export const feed = (deploy: Partial<DeployWith> = {}): PipelineSource => ({
  pipeline: 'feed',
  owners: ['user:alice'],
  artifacts: { limits: { finder: 'manual' } },
  actions: {
    deploy: {
      type: 'deploy',
      inputs: ['limits'],
      with: {
        pushType: 'config',
        config: { repository: 'flags', paths: ['feed/'] },
        phases: [{ name: 'few', scope: 'region:eu', amount: '20%', bake: '10m' }],
        completion: { bake: '10m' },
        healthInterval: '2m',
        healthChecks: [{ uses: 'standard/rpc-errors' }],
        ...deploy,
      },
    },
  },
});

export class ConfigStory {
  constructor(readonly world: VirtualWorld) {}

  /** A committed value, forty hosts of `eu` that no deploy updates, and a job of twenty tasks in `us`. */
  async begins(value: unknown = { soft: 10 }): Promise<void> {
    const { change } = await this.proposes(value);
    await this.world.control('POST', '/control/config/commits', { change });
    await this.world.job('feed-us', 'us', 20, { service: 'feed', version: 'feed:1' });
    await this.subscribes({ job: 'feed-us' });
    await this.subscribes({ name: 'edge', region: 'eu', hosts: 40 });
  }

  subscribes(who: object): Promise<unknown> {
    return this.world.control('POST', '/control/config/subscribers', { paths: [FEED], ...who });
  }

  commits(values: Readonly<Record<string, unknown>>): Promise<{ commit: string }> {
    return this.world.control('POST', '/control/config/commits', { values });
  }

  behaves(when: object, behaviour: object, version?: string): Promise<unknown> {
    const body = { path: FEED, when, behaviour, ...(version === undefined ? {} : { version }) };
    return this.world.control('POST', '/control/config/behaviours', body);
  }

  breaks(fault: object): Promise<{ id: string }> {
    return this.world.control('POST', '/control/config/faults', fault);
  }

  counts(): Promise<SubscriberCounts> {
    return this.world.control('GET', `/control/config/subscribers?path=${encodeURIComponent(FEED)}`);
  }

  proposes(value: unknown): Promise<{ change: number; version: string }> {
    return this.world.control('POST', '/control/config/changes', { values: { [FEED]: value } });
  }

  /** Proposes a value and releases it; returns its version. */
  async ships(value: unknown, pipeline = 'feed'): Promise<string> {
    const { version } = await this.proposes(value);
    await this.world.start(pipeline, { artifacts: [{ name: 'limits', kind: 'config', version, metadata: {} }] });
    return version;
  }

  /** The number of commits on the branch, and the present value of the path. */
  committed(): { readonly commits: number; readonly value: unknown } {
    const { branches } = this.world.simulator.simulation.state.configerator;
    const commits = branches.get('flags')?.commits ?? [];
    const last = commits.flatMap(({ values }) => values.filter(({ path }) => path === FEED)).at(-1);
    return { commits: commits.length, value: JSON.parse(last?.value ?? 'null') as unknown };
  }

  /** Uncommitted values on hosts: none may remain once a deploy has ended. */
  overrides(): number {
    const { paths } = this.world.simulator.simulation.state.configerator;
    return paths.reduce((sum, { overrides }) => sum + (overrides.at(-1)?.overrides.length ?? 0), 0);
  }
}
