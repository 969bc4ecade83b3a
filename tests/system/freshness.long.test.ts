import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts } from '../../cli/stack/ports';
import type { FreshnessReport } from '../../features/freshness/domain/report';
import { FRESHNESS_ID } from '../../domain/ids';
import type { TrackedTicket } from '../../simulator/state';
import { HASTY, runToEnd } from '../replay/recordFreshness';
import { Processes } from './process';
import { startTemporal } from './server';
import { given } from './service';
import { Stack } from './stack';
import { eventually } from './waiting';

/** On its own Temporal server, since there is one such Schedule per namespace. */
let stack: Stack;
let home: string;
const processes = new Processes();
beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'conveyor-freshness-'));
  const [port = 0] = await freePorts(1);
  await startTemporal(processes, { home, port, data: 'memory' });
  stack = await Stack.open({ temporal: `127.0.0.1:${port}`, ...HASTY });
});
afterAll(async () => {
  await stack.close();
  await processes.reap();
  rmSync(home, { recursive: true, force: true });
});

const tickets = () => stack.control<TrackedTicket[]>('GET', '/control/tickets');

test('a worker sees to a run a day; a ticket is opened, shown beside its pipeline and closed by a deploy, whichever worker runs', async () => {
  const { spec } = await stack.temporal.schedule.getHandle(FRESHNESS_ID).describe();
  expect(spec.intervals).toEqual([expect.objectContaining({ every: 86_400_000, offset: 32_400_000 })]);
  const shop = await given(stack, { deploy: { phases: [], completion: { bake: '0s' } } });
  await shop.ships(2);
  await shop.ended(1);
  const row = async () =>
    (await stack.json<FreshnessReport>(['freshness'])).pipelines.find(({ id }) => id === shop.name);
  await eventually('it is stale', async () => (await row())?.state === 'stale');
  expect(await row()).toMatchObject({ ticket: null });
  await runToEnd(stack);
  expect(await row()).toMatchObject({ ticket: { name: 'OPS-1', state: 'open' } });
  expect(await tickets()).toMatchObject([{ pipeline: shop.name, closedBy: null }]);
  await stack.crashWorker();
  await shop.ships(3);
  await shop.ended(2);
  await runToEnd(stack);
  expect(await tickets()).toMatchObject([{ ticket: 'OPS-1', closedBy: 'conveyor' }]);
});
