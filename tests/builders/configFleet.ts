import { createSimulator } from '../../simulator/app';
import type { SubscriberCounts } from '../../simulator/configerator/subscribers';
import type { Simulation } from '../../simulator/simulation';
import { START } from './simulatorFleet';

/** A simulated world with configuration, whose clock the test controls. */
export class ConfigFleetWorld {
  readonly simulation: Simulation;
  private readonly app: ReturnType<typeof createSimulator>['app'];
  private now = START;
  private keys = 0;

  constructor(seed = 1, speed = 1) {
    const simulator = createSimulator({ seed, speed, now: () => this.now });
    this.app = simulator.app;
    this.simulation = simulator.simulation;
  }

  /** Advances the clock; the world follows. */
  async pass(ms: number): Promise<void> {
    this.now += ms;
    await this.control('GET', '/violations');
    // Lets work continue that waited for a moment in between.
    await new Promise((resolve) => setImmediate(resolve));
  }

  /** Includes the status: for refused calls. */
  async answer(
    method: string,
    path: string,
    body?: unknown,
  ): Promise<{ status: number; body: { error?: { code: string; message: string } } }> {
    const init = { method, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
    const response = await this.app.request(`/control${path}`, init);
    return { status: response.status, body: (await response.json()) as { error?: { code: string; message: string } } };
  }

  async control<T>(method: string, path: string, body?: unknown): Promise<T> {
    const { status, body: result } = await this.answer(method, path, body);
    if (status > 299) throw new Error(`${method} ${path}: ${JSON.stringify(result)}`);
    return result as T;
  }

  /** Hosts `NAME-0`, `NAME-1` … of a region without deploys. */
  hosts(name: string, region: string, hosts: number, paths = ['feed/limits']): Promise<unknown> {
    return this.control('POST', '/config/subscribers', { name, region, hosts, paths });
  }

  commit(values: Readonly<Record<string, unknown>>): Promise<{ commit: string; sequence: number }> {
    return this.control('POST', '/config/commits', { values });
  }

  async propose(values: Readonly<Record<string, unknown>>): Promise<string> {
    return (await this.control<{ version: string }>('POST', '/config/changes', { values })).version;
  }

  async breaks(fault: object): Promise<string> {
    return (await this.control<{ id: string }>('POST', '/config/faults', fault)).id;
  }

  mends(id: string): Promise<unknown> {
    return this.control('DELETE', `/config/faults/${id}`);
  }

  counts(path = 'feed/limits'): Promise<SubscriberCounts> {
    return this.control('GET', `/config/subscribers?path=${encodeURIComponent(path)}`);
  }

  violations(): Promise<{ invariant: number; text: string }[]> {
    return this.control('GET', '/violations');
  }

  /** A method of the push type. */
  async push<T>(method: string, request: object, key: string = `key ${(this.keys += 1)}`): Promise<T> {
    const response = await this.app.request(`/push-types/config/${method}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'idempotency-key': key, 'x-conveyor-run': CONTEXT.deployId },
      body: JSON.stringify({ ...request, context: CONTEXT }),
    });
    const body = (await response.json()) as T & { error?: { code: string; message: string } };
    if (response.status !== 200) throw new Error(`${body.error?.code}: ${body.error?.message}`);
    return body;
  }

  /** Exposes a version to some hosts of a region. */
  expose(updateId: string, version: string, amount: object, region = 'eu'): Promise<unknown> {
    const targets = [{ unit: `flags/feed:${region}`, version, artifacts: [], amount }];
    return this.push('executeUpdates', { updateId, wholeUnit: false, urgency: 'normal', targets });
  }

  /** Lets time pass during polls of an update. */
  async follow(updateId: string, ms: number, stepMs = 1_000) {
    for (let passed = 0; passed < ms; passed += stepMs) {
      await this.push('trackUpdates', { updateId });
      await this.pass(stepMs);
    }
    return (
      await this.push<{ units: { state: string; live: number; targeted: number; reason?: string }[] }>('trackUpdates', {
        updateId,
      })
    ).units;
  }

  /** A metric of subscribers by identifier, averaged over the last minutes. */
  async metric(
    metric: string,
    tasks: readonly string[],
    minutes = 5,
    unit = 'flags/feed:eu',
  ): Promise<Record<string, number>> {
    const query = {
      metric,
      selector: { unit, tasks },
      start: this.now - minutes * 60_000,
      end: this.now,
      step: 60_000,
    };
    const response = await this.app.request('/data-source/query', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...query, context: CONTEXT }),
    });
    const answered: unknown = await response.json();
    if (response.status !== 200) throw new Error(JSON.stringify(answered));
    const { series = [] } = answered as { series?: { labels: { task: string }; points: [number, number][] }[] };
    return Object.fromEntries(
      series.map(({ labels, points }) => [
        labels.task,
        points.reduce((sum, [, value]) => sum + value, 0) / points.length,
      ]),
    );
  }
}

const CONTEXT = {
  ...{ pipeline: 'feed', release: 1, deployId: 'deploy/feed/1/deploy/1', actor: 'user:alice' },
  config: { repository: 'flags', paths: ['feed/'] },
};
