import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { workflowIds } from '../../domain/ids';
import { publish, startFront, type Front } from './front';
import { Processes } from './process';
import { startTemporalWithShortHistories } from './server';
import { given, type Service } from './service';
import { OWNER, Stack } from './stack';
import { eventually } from './waiting';

const processes = new Processes();
const home = mkdtempSync(join(tmpdir(), 'conveyor-limits-'));
let stack: Stack;
let front: Front;
beforeAll(async () => {
  stack = await Stack.open({ temporal: await startTemporalWithShortHistories(processes, home) });
  front = await startFront(stack);
});
afterAll(async () => {
  await stack.close();
  await processes.reap();
  rmSync(home, { recursive: true, force: true });
});

/** A signed delivery to one pipeline, with this many bytes of metadata in entries of the maximum length. */
async function deliver(shop: Service, n: number, bytes: number): Promise<number> {
  const entries = Array.from({ length: Math.ceil(bytes / 900) }, (_, index) => [`k${index}`, 'x'.repeat(900)] as const);
  const metadata = Object.fromEntries(entries);
  const artifacts = [{ name: 'executable', version: `${shop.version(2)}-${n}`, metadata }];
  const response = await publish(front, { pipeline: shop.name, artifacts });
  await response.text();
  return response.status;
}

test('140 deliveries with up to 700 kB of metadata leave a pipeline that answers, is frozen, releases and continues in a new history', async () => {
  const shop = await given(stack, {
    deploy: { phases: [], completion: { bake: '0s' }, healthChecks: [] },
    pipeline: { owners: [OWNER, 'service:webhook'], releases: { maxActive: 1 } },
  });
  const hold = ['hold', shop.name, '--reason', 'only what comes in counts here'];
  expect(await stack.json(hold)).toMatchObject({ accepted: true });
  for (let n = 0; n < 140; n += 1) expect(await deliver(shop, n, 20_000 + n * 4_900)).toBe(413);
  // The same with deliveries just within the limit, more than there is room for.
  for (let n = 0; n < 60; n += 1) expect([202, 503]).toContain(await deliver(shop, n, 1_800));

  expect(await stack.json(['freeze', shop.name, '--reason', 'look'])).toMatchObject({ accepted: true });
  expect(await stack.client.status(shop.name)).toMatchObject({ state: 'frozen' });
  const pipeline = stack.temporal.workflow.getHandle(workflowIds.pipeline(shop.name));
  expect(JSON.stringify(await pipeline.query('pipeline')).length).toBeLessThan(512 * 1024);
  await eventually('its history was continued as new', async () => {
    const query = `WorkflowId='${workflowIds.pipeline(shop.name)}'`;
    return (await stack.temporal.workflow.count(query)).count > 1;
  });
  for (const verb of ['unfreeze', 'unhold'])
    expect(await stack.json([verb, shop.name, '--reason', 'continue'])).toMatchObject({ accepted: true });
  const id = await shop.ships(3);
  // Each earlier release takes its turn.
  await shop.ended(Number(id.split('/')[1]), 240_000);
  expect(await stack.client.status(shop.name)).toMatchObject({ lastGood: { deploy: { version: shop.version(3) } } });
});

test('a release whose artifacts are as long as they may be starts, whatever Temporal takes of a summary', async () => {
  const shop = await given(stack, { deploy: { phases: [], completion: { bake: '0s' }, healthChecks: [] } });
  const version = `${shop.version(2)}`;
  const artifact = `executable=${version},digest=${'d'.repeat(160)},kind=${'k'.repeat(60)}`;
  const key = ['--idempotency-key', 'k'.repeat(200)];
  const { id } = await stack.json<{ id: string }>(['release', shop.name, '-a', artifact, ...key]);
  expect(await shop.ended(Number(id.split('/')[1]))).toMatchObject({ state: 'succeeded' });
});
