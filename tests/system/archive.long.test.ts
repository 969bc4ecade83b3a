import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { StatsReport } from '../../domain/stats/report';
import { ask, startFront } from './front';
import { given, type Service } from './service';
import { Stack } from './stack';
import { eventually } from './waiting';

let stack: Stack;
let shop: Service;
let file: string;
beforeAll(async () => {
  stack = await Stack.open({ config: { archive: { file: 'archive.duckdb', interval: '1s' } } });
  file = join(stack.home, 'archive.duckdb');
  shop = await given(stack, { pipeline: { labels: { category: 'regular' } } });
});
afterAll(() => stack.close());

const remove = (): void => [file, `${file}.wal`].forEach((one) => rmSync(one, { force: true }));

/** The numbers of releases and of deploys that are archived as successful. */
async function succeeded(): Promise<readonly number[]> {
  const { endStates, deployTimes } = await stack.json<StatsReport>(['stats']);
  return [endStates[0]?.counts['succeeded'] ?? 0, deployTimes[0]?.count ?? 0];
}

const hasArchived = (count: number) =>
  eventually(`${count} are archived`, async () => (await succeeded()).every((one) => one === count));

test('the archive has how releases and deploys ended, and where the time went', async () => {
  await shop.ships(2);
  await shop.ended(1);
  await hasArchived(1);
  const report = await stack.json<StatsReport>(['stats']);
  expect(report.schedules).toEqual([
    { category: 'regular', whole: 1, counts: expect.objectContaining({ continuous: 1 }) },
  ]);
  expect(report.spans[0]?.counts['task update']).toBeGreaterThan(0);
  expect(report.serviceLevel).toMatchObject([{ category: 'regular', deploys: 1, worked: { share: 1 } }]);
  expect(report.actionTypes[0]?.counts).toMatchObject({ deploy: 1 });
});

test('deploys continue while the archive is broken or its worker is killed, and are archived once afterwards', async () => {
  remove();
  writeFileSync(file, 'no database '.repeat(2000));
  await shop.ships(3);
  expect(await shop.ended(2)).toMatchObject({ state: 'succeeded' });
  expect(await stack.conveyor(['stats'])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('conveyor archive rebuild'),
  });
  remove();
  await stack.crashWorker();
  await hasArchived(2);
});

test('an end that cannot be read keeps no other from the archive, and statistics count it', async () => {
  const { taskQueue, temporal } = stack;
  const broken = await temporal.workflow.start('release', { taskQueue, workflowId: 'release/nobody/1' });
  await expect(broken.result()).rejects.toThrow();
  await eventually('its end is counted', async () => (await stack.json<StatsReport>(['stats'])).unread === 1);
  await shop.ships(4);
  await shop.ended(3);
  await hasArchived(3);
});

test('an archive that is rebuilt says what it said before', async () => {
  const counted = async () => {
    const {
      since: _since,
      until: _until,
      readUntil: _read,
      dora: _dora,
      ...report
    } = await stack.json<StatsReport>(['stats']);
    return report;
  };
  const before = await counted();
  const { rows } = await stack.json<{ rows: number }>(['archive', 'rebuild']);
  expect(rows).toBeGreaterThan(4);
  expect(await counted()).toEqual(before);
});

test('a server shows the same as the file, and commands go through it', async () => {
  const front = await startFront(stack, 0, {});
  const { status, body } = await ask<StatsReport>(front, 'GET', '/v1/stats?by=all');
  expect([status, body.endStates[0]?.counts['succeeded']]).toEqual([200, 3]);
  const { code, stdout } = await stack.conveyor(['stats'], { CONVEYOR_SERVER: front.url });
  expect([code, stdout]).toEqual([0, expect.stringContaining('Service level')]);
});
