import { randomBytes } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { serve, type ServerType } from '@hono/node-server';
import { freePorts } from '../../cli/stack/ports';
import { workflowIds } from '../../domain/ids';
import type { ReleaseStatus } from '../../domain/views';
import type { RunCallback } from '../../sdk/protocol/actionService';
import { runEnded } from '../../sdk/runEnded';
import { serveActionService } from '../../sdk/server';
import { startFront } from './front';
import { given } from './service';
import { OWNER, Stack } from './stack';
import { eventually } from './waiting';

/** The id of a run: its action, or the step. */
type Name = string;

/** An action service whose runs end when the test decides, and a record of all its calls, in order. */
class Service {
  readonly events: string[] = [];
  private readonly callbacks = new Map<Name, RunCallback | undefined>();
  private readonly ended = new Set<Name>();
  private server: ServerType | undefined;

  async listen(): Promise<string> {
    const nameOf = (runId: string): Name => runId.split('/').slice(2).join('/');
    const app = serveActionService('profile', {
      startRun: ({ runId, callback }) => {
        this.callbacks.set(nameOf(runId), callback);
        this.events.push(`start ${nameOf(runId)}`);
        return { runId };
      },
      getRunProgress: ({ runId }) => {
        this.events.push(`ask ${nameOf(runId)}`);
        return { state: this.ended.has(nameOf(runId)) ? 'succeeded' : 'running' };
      },
      cancelRun: () => ({}),
    });
    return new Promise((resolve) => {
      this.server = serve({ fetch: app.fetch, port: 0 }, ({ port }: AddressInfo) =>
        resolve(`http://127.0.0.1:${port}`),
      );
    });
  }

  close(): void {
    this.server?.close();
  }

  /** Waits until a run was started and polled this often. */
  asked(name: Name, times: number): Promise<unknown> {
    const asks = () => this.events.filter((event) => event === `ask ${name}`).length;
    return eventually(`${name} was asked for ${times} times`, async () => asks() === times);
  }

  end(name: Name): void {
    this.ended.add(name);
    this.events.push(`end ${name}`);
  }

  callback(name: Name): RunCallback {
    const callback = this.callbacks.get(name);
    if (callback === undefined) throw new Error(`${name} was given no callback`);
    return callback;
  }

  /** Reports that a run has ended, whether that is true or not. */
  says(name: Name): Promise<boolean> {
    return runEnded(this.callback(name));
  }
}

const service = new Service();
let stack: Stack;
beforeAll(async () => {
  const [port = 0] = await freePorts(1);
  stack = await Stack.open({
    // No service is polled again before the test ends, unless it sends a report.
    settings: { progressInterval: '1h' },
    urls: { profile: await service.listen() },
    env: { CONVEYOR_SERVER_URL: `http://127.0.0.1:${port}`, CONVEYOR_CALLBACK_SECRET: 'a secret of the system tests' },
  });
  await startFront(stack, port);
});
afterAll(async () => {
  service.close();
  await stack.close();
});
beforeEach(() => void service.events.splice(0));

const custom = (needs: readonly string[] = []) => ({ type: 'custom', needs, with: { service: 'profile' } });

/** Releases a pipeline with these actions; returns its name. Every test uses different action names. */
async function released(actions: object): Promise<string> {
  const name = `calls-${randomBytes(4).toString('hex')}`;
  await stack.json(['apply', stack.file(`${name}.yaml`, { pipeline: name, owners: [OWNER], actions })]);
  await stack.json(['release', name]);
  return name;
}

const succeeded = (name: string): Promise<unknown> =>
  eventually(`${name}/1 has succeeded`, async () => {
    const { state } = (await stack.client.status(`${name}/1`)) as ReleaseStatus;
    return state === 'succeeded';
  });

describe('a service that says when its runs end', () => {
  test('makes a chain of actions continue after each end, without waiting for the next poll', async () => {
    const name = await released({ a: custom(), b: custom(['a']), c: custom(['b']) });
    for (const run of ['a/1', 'b/1', 'c/1']) {
      await service.asked(run, 1);
      service.end(run);
      expect(await service.says(run)).toBe(true);
    }
    await succeeded(name);
    expect(service.events).toEqual(
      ['a/1', 'b/1', 'c/1'].flatMap((run) => [`start ${run}`, `ask ${run}`, `end ${run}`, `ask ${run}`]),
    );
  });

  test('is not believed: a run that still runs continues, a forged key does nothing, and said twice is said once', async () => {
    const name = await released({ d: custom(), e: custom(['d']) });
    const release = stack.temporal.workflow.getHandle(workflowIds.release(name, 1));
    const events = async () => (await release.fetchHistory()).events?.length;
    await service.asked('d/1', 1);
    const before = await events();
    const { url, key } = service.callback('d/1');
    const forged = await fetch(url, { method: 'POST', headers: { authorization: `Bearer ${key.slice(1)}0` } });
    expect(forged.status).toBe(403);
    await service.says('d/1');
    await service.asked('d/1', 2);
    // Neither the report nor the look is in the history.
    expect(await events()).toBe(before);
    service.end('d/1');
    expect(await Promise.all([service.says('d/1'), service.says('d/1')])).toEqual([true, true]);
    await service.asked('e/1', 1);
    // A late report for a run that is no longer followed.
    expect(await service.says('d/1')).toBe(true);
    service.end('e/1');
    await service.says('e/1');
    await succeeded(name);
    expect(service.events).toEqual([
      ...['start d/1', 'ask d/1', 'ask d/1', 'end d/1', 'ask d/1'],
      ...['start e/1', 'ask e/1', 'end e/1', 'ask e/1'],
    ]);
  });

  test('makes a phase of a deploy begin when the step before it has ended', async () => {
    const shop = await given(stack, {
      deploy: {
        phases: [{ name: 'first', scope: 'region:x', amount: 3, bake: '2s', pre: [{ service: 'profile' }] }],
      },
    });
    await shop.ships(2);
    // The completion runs the steps of the last phase.
    for (const step of ['1/deploy/1/0/pre/0/1', '1/deploy/1/1/pre/0/1']) {
      await service.asked(step, 1);
      service.end(step);
      await service.says(step);
      await service.asked(step, 2);
    }
    await succeeded(shop.name);
    expect(await shop.runs()).toEqual({ 2: 12 });
  });
});
