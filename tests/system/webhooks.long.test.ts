import type { PipelineSource } from '../../domain/spec/pipeline';
import type { PipelineStatus, ReleaseStatus } from '../../domain/views';
import { ask, push, releasesOf, revision, startFront, subscribed, TOKEN, type Front } from './front';
import { given, type Service } from './service';
import { OWNER, Stack } from './stack';
import { eventually } from './waiting';

let stack: Stack;
let front: Front;
beforeAll(async () => {
  stack = await Stack.open();
  front = await startFront(stack);
});
afterAll(() => stack.close());

/** A service whose pipeline follows the main branch of a repository of its name; CI is an owner. */
async function follower(pipeline: Partial<PipelineSource> = {}): Promise<Service> {
  const name = `shop-${Math.random().toString(36).slice(2, 10)}`;
  const shop = await given(stack, {
    name,
    deploy: { healthChecks: [] },
    pipeline: {
      owners: [OWNER, 'service:ci'],
      artifacts: { executable: { finder: 'commits', with: { repository: `acme/${name}`, branch: 'main' } } },
      ...pipeline,
    },
  });
  await subscribed(stack, 'commits', name);
  return shop;
}

/** Runs this many at a time. */
async function all<T>(count: number, atOnce: number, work: (n: number) => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let n = next++; n < count; n = next++) results[n] = await work(n);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return results;
}

describe('a push that GitHub delivers', () => {
  test('becomes a release that runs to its end, and its address says how it goes', async () => {
    const shop = await follower();
    const response = await push(front, shop.name, revision(1));
    expect([response.status, response.headers.get('location')]).toEqual([202, `/v1/releases/${shop.name}/1`]);
    expect(await shop.ended(1)).toMatchObject({ state: 'succeeded' });
    const { status, body } = await ask<ReleaseStatus>(front, 'GET', `/v1/releases/${shop.name}/1`);
    expect([status, body]).toEqual([200, expect.objectContaining({ state: 'succeeded' })]);
    expect(body.trigger).toMatchObject({ kind: 'webhook', actor: 'service:github' });
    expect((await shop.fleet()).map(({ versions }) => versions)).toEqual([{ [revision(1)]: 6 }, { [revision(1)]: 6 }]);
  });

  test('and is delivered a thousand times more is one release, and every answer names it', async () => {
    const shop = await follower();
    const answers = await all(1_001, 100, () => push(front, shop.name, revision(2), 'one-delivery'));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]));
    expect(new Set(answers.map(({ headers }) => headers.get('location')))).toEqual(
      new Set([`/v1/releases/${shop.name}/1`]),
    );
    expect(await releasesOf(stack, shop.name)).toHaveLength(1);
  });

  test('deliveries for many repositories without subscribers, 5,000 at once, cost bounded memory and delay no command', async () => {
    const shop = await follower();
    await push(front, shop.name, revision(3));
    const before = await memory();
    const burst = all(5_000, 1_000, async (n) => {
      const deliver = () => push(front, n % 100 === 0 ? shop.name : `nobody-${n}`, revision(n % 100 === 0 ? 3 : n));
      // An idle connection may be closed just as it is used again; its sender then delivers again.
      const response = await deliver().catch(deliver);
      await response.text();
      return response.status;
    });
    const hold = await ask(front, 'POST', `/v1/pipelines/${shop.name}/commands/hold`, { reason: 'there is a burst' });
    expect(hold.status).toBe(200);
    const statuses = await burst;
    expect(statuses.filter((status) => ![202, 204, 503].includes(status))).toEqual([]);
    expect(statuses.filter((status) => status !== 503).length).toBeGreaterThan(1_000);
    expect((await memory()) - before).toBeLessThan(200_000_000);
    expect(await releasesOf(stack, shop.name)).toHaveLength(1);
  });
});

describe('the API', () => {
  test('starts a release for who has a token, once for a key, and takes commands on their behalf', async () => {
    const shop = await follower();
    const path = `/v1/pipelines/${shop.name}`;
    const body = { artifacts: [{ name: 'executable', version: shop.version(2) }], idempotencyKey: 'build-7' };
    const hold = await ask(front, 'POST', `${path}/commands/hold`, { reason: 'wait for the others' });
    expect(hold).toMatchObject({ status: 200, body: { accepted: true, id: shop.name } });
    const [first, second] = [
      await ask(front, 'POST', `${path}/releases`, body),
      await ask(front, 'POST', `${path}/releases`, body),
    ];
    expect(first).toEqual({
      status: 202,
      location: `/v1/releases/${shop.name}/1`,
      body: { id: `${shop.name}/1`, number: 1, duplicate: false },
    });
    expect(second).toEqual({ ...first, body: { ...(first.body as object), duplicate: true } });

    const pipeline = await ask<PipelineStatus>(front, 'GET', path);
    expect(pipeline.body).toMatchObject({
      state: 'held',
      held: { actor: 'service:ci', reason: 'wait for the others' },
    });
    const cancel = await ask(front, 'POST', `/v1/releases/${shop.name}/1/commands/cancel`, { reason: 'not today' });
    expect(cancel.status).toBe(200);
    expect(await shop.ended(1)).toMatchObject({ state: 'cancelled' });
    const again = await ask(front, 'POST', `/v1/releases/${shop.name}/1/commands/pause`, { reason: 'too late' });
    expect(again).toMatchObject({ status: 409, body: { error: { code: 'invalid-state' } } });
    expect(await ask(front, 'GET', `${path}/history`)).toMatchObject({ body: [{ number: 1, state: 'cancelled' }] });
  });

  test('refuses who has no token, who is not an owner, and what is not there', async () => {
    const shop = await follower({ owners: [OWNER] });
    const path = `/v1/pipelines/${shop.name}/releases`;
    const body = { artifacts: [{ name: 'executable', version: shop.version(2) }] };
    expect((await fetch(`${front.url}${path}`, { method: 'POST', body: JSON.stringify(body) })).status).toBe(401);
    expect(await ask(front, 'POST', path, body)).toMatchObject({
      status: 403,
      body: { error: { code: 'not-permitted' } },
    });
    expect(await ask(front, 'GET', `/v1/releases/${shop.name}/99`)).toMatchObject({ status: 404 });
    expect(await ask(front, 'POST', '/v1/pipelines/nobody/releases', body)).toMatchObject({
      status: 404,
      body: { error: { code: 'unknown-pipeline' } },
    });
    expect(TOKEN).not.toBe('');
  });
});

describe('a server that dies in the middle of a burst', () => {
  test.each<NodeJS.Signals>(['SIGKILL', 'SIGTERM'])(
    'by %s has lost nothing that it answered, and what is delivered again is doubled by nothing',
    async (signal) => {
      const count = 120;
      const shop = await follower({ releases: { maxActive: 1, supersede: 'never' } });
      await stack.client.command(shop.name, 'hold', { actor: OWNER, reason: 'only the numbers count here' });
      let server = await startFront(stack);
      const deliver = async (n: number): Promise<string | null> => {
        const response = await push(server, shop.name, revision(1_000 + n), `delivery-${n}`).catch(() => null);
        if (response === null) return null;
        // After a 503 there may or may not be a release: the delivery is sent again.
        return response.status === 202 ? response.headers.get('location') : null;
      };
      let answered = 0;
      const burst = all(count, 30, async (n) => {
        const location = await deliver(n);
        if (location !== null) answered += 1;
        return location;
      });
      await eventually('some are answered', () => Promise.resolve(answered >= 20));
      server.process.kill(signal);
      const first = await burst;
      const { code } = await server.process.ended;
      expect(code).toBe(signal === 'SIGTERM' ? 0 : null);
      expect(first.filter((location) => location === null).length).toBeGreaterThan(0);

      server = await startFront(stack);
      const second = await eventually('all are delivered', async () => {
        const locations = await all(count, 10, deliver);
        return locations.every((location) => location !== null) && locations;
      });
      first.forEach((location, n) => expect(location ?? second[n]).toBe(second[n]));
      const releases = await releasesOf(stack, shop.name);
      expect(releases.map(({ number }) => number)).toEqual(Array.from({ length: count }, (_, n) => n + 1));
      expect(new Set(releases.flatMap(({ artifacts }) => artifacts.map(({ version }) => version))).size).toBe(count);
      server.process.kill('SIGTERM');
      await server.process.ended;
    },
  );
});

/** The memory of the server process, as it reports it itself; bytes. */
async function memory(): Promise<number> {
  const text = await (await fetch(`${front.url}/metrics`)).text();
  return Number(/^process_resident_memory_bytes (\d+)$/m.exec(text)?.[1]);
}
