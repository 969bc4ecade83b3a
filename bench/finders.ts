import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import type { Client } from '@temporalio/client';
import { MockActivityEnvironment } from '@temporalio/testing';
import { atOnce } from '../activities/atOnce';
import { wallClock } from '../activities/clock';
import { createFinderActivities } from '../activities/finders';
import type { SweepOutcome } from '../domain/finder/sweep';
import type { PipelineSubscriptions } from '../domain/pipeline/pipelineIndex';
import { callExtension } from '../sdk/client';
import { artifactFinderProtocol } from '../sdk/protocol/artifactFinder';
import { parseRegistry } from '../settings/registry';
import { createSimulator } from '../simulator/app';

/**
 * `npx jiti bench/finders.ts [pipelines]`: one sweep of the finder `commits` over all subscriptions, when nothing
 * changed and when one commit concerns every hundredth pipeline; compared with one call for each pipeline, as if every
 * pipeline polled by itself. Over real sockets, with the subscriptions in memory and pipelines that only count.
 */
const PIPELINES = Number(process.argv[2] ?? 30_000);
/** Pipelines of one repository. */
const SHARED = 100;
const SWEEPS = 5;
const AT_ONCE = 20;

const repositoryOf = (index: number): string => `repo-${index % Math.ceil(PIPELINES / SHARED)}`;
const wanted = (index: number) => ({ repository: repositoryOf(index), branch: 'main' });

async function main(): Promise<void> {
  let calls = 0;
  const { app } = createSimulator({ seed: 1, speed: 1, now: () => Date.now() });
  const counted = new Hono().use(async (_, next) => {
    calls += 1;
    await next();
  });
  const server = serve({ fetch: counted.route('/', app).fetch, port: 0, hostname: '127.0.0.1' });
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as { port: number };
  const url = `http://127.0.0.1:${port}/artifact-finders/commits`;
  const measured = async (work: () => Promise<unknown>): Promise<{ ms: number; calls: number }> => {
    const [began, before] = [performance.now(), calls];
    await work();
    return { ms: performance.now() - began, calls: calls - before };
  };
  const world = new Counting(url);
  await world.sweep(null);
  const idle = await best(() => measured(() => world.sweep('0')));
  await app.request('/control/commits', {
    method: 'POST',
    body: JSON.stringify({ repository: 'repo-0', branch: 'main', revision: 'r1' }),
  });
  const busy = await measured(() => world.sweep('0'));
  const naive = await measured(() => askEach(url));
  report([
    ['subscriptions', String(PIPELINES)],
    ['a sweep that finds nothing', describe(idle)],
    [`a sweep that finds ${world.submitted}`, `${describe(busy)}, ${world.submitted} submissions`],
    ['one call for each pipeline', describe(naive)],
    ['ratio of calls', (naive.calls / idle.calls).toFixed(0)],
    ['ratio of time', (naive.ms / idle.ms).toFixed(1)],
  ]);
  server.close();
}

/** The real sweep over subscriptions in memory; submitted releases are only counted. */
class Counting {
  submitted = 0;
  private readonly activities;

  constructor(url: string) {
    const client = {
      workflow: {
        getHandle: () => ({
          executeUpdate: async () => {
            this.submitted += 1;
            return { number: 1, duplicate: false };
          },
        }),
      },
      withDeadline: (_: number, work: () => unknown) => work(),
    } as unknown as Client;
    const registry = parseRegistry({ extensions: [{ name: 'commits', kind: 'artifact-finder', url }] }, {});
    const index = { subscriptions, labelled: nobody, releases: nobody, pipelines: nobody };
    this.activities = createFinderActivities({ registry, clock: wallClock, client, index });
  }

  async sweep(cursor: string | null): Promise<SweepOutcome> {
    const memory = { cursor, beganMs: Date.now(), again: [] };
    const input = { finder: 'commits', memory, heartbeatTimeoutMs: 10_000 };
    const sweep = this.activities.sweep as (it: typeof input) => Promise<SweepOutcome>;
    return new MockActivityEnvironment().run(sweep, input);
  }
}

async function* subscriptions(): AsyncGenerator<PipelineSubscriptions> {
  for (let index = 0; index < PIPELINES; index += 1)
    yield {
      pipeline: `pipeline-${index}`,
      subscribedAtMs: 0,
      subscriptions: [{ artifact: 'source', with: wanted(index) }],
    };
}

async function* nobody(): AsyncGenerator<never> {}

async function askEach(url: string): Promise<void> {
  const context = { pipeline: '', release: 0, deployId: 'bench', actor: 'service:commits', config: {} };
  const all = Array.from({ length: PIPELINES }, (_, index) => index);
  await atOnce(AT_ONCE, all, async (index) => {
    await callExtension({
      service: { name: 'commits', url, timeoutMs: 10_000 },
      protocol: artifactFinderProtocol,
      method: 'getArtifacts',
      request: {
        subscriptions: [{ pipeline: `pipeline-${index}`, artifact: 'source', with: wanted(index) }],
        cursor: '1',
      },
      context,
    });
  });
}

async function best<T extends { ms: number }>(once: () => Promise<T>): Promise<T> {
  let least = await once();
  for (let again = 1; again < SWEEPS; again += 1) {
    const next = await once();
    if (next.ms < least.ms) least = next;
  }
  return least;
}

const describe = ({ ms, calls }: { ms: number; calls: number }): string => `${calls} calls, ${ms.toFixed(0)} ms`;

function report(rows: readonly (readonly [string, string])[]): void {
  const width = Math.max(...rows.map(([name]) => name.length));
  for (const [name, value] of rows) console.log(`${name.padEnd(width)}  ${value}`);
}

void main();
