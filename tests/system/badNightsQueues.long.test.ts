import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts } from '../../cli/stack/ports';
import { startFront, type Front } from './front';
import { containing, Night, READY } from './night';
import { Processes } from './process';
import { startTemporal } from './server';
import { OWNER, Stack } from './stack';
import { eventually } from './waiting';

/** The worker has one slot for scripts. This file has its own Temporal, since doctor sees the finders of all workers on a server. */
const processes = new Processes();
const home = mkdtempSync(join(tmpdir(), 'conveyor-queues-'));
let [stack, front, night] = [] as unknown as [Stack, Front, Night];

beforeAll(async () => {
  const [port = 0] = await freePorts(1);
  await startTemporal(processes, { home, port, data: 'memory' });
  stack = await Stack.open({ temporal: `127.0.0.1:${port}`, config: { slots: { scripts: 1 } } });
  front = await startFront(stack);
  night = new Night(stack, () => front);
});
afterAll(async () => {
  await stack.close();
  await processes.reap();
  rmSync(home, { recursive: true, force: true });
});

async function scriptRuns(pipeline: string): Promise<void> {
  const actions = { script: { type: 'custom-script', with: { command: ['sleep', '3600'] } } };
  await stack.json(['apply', stack.file(`${pipeline}.yaml`, { pipeline, owners: [OWNER], actions })]);
  await stack.json(['release', pipeline]);
}

const age = (): Promise<number> =>
  night.metric('conveyor_task_queue_backlog_age_seconds{queue="scripts",kind="activity"}');

test('a queue that grows is named from both sides with how much waits and what gives it more workers, and all else works', async () => {
  await scriptRuns('first');
  await eventually('the first script runs', async () => (await night.status('first/1')).shown.includes('running'));
  await scriptRuns('second');
  for (const { broken } of await night.bothName(['backlog of scripts']))
    expect(broken['backlog of scripts']).toMatchObject({
      found: expect.stringMatching(/^1 activity task waits for a worker, the oldest for \d/) as string,
      how: containing('raise slots.scripts in the conveyor.config.yaml of the workers'),
    });
  expect(await age()).toBeGreaterThan(30);
  expect(await night.readyz()).toEqual(READY);
  expect(await night.status('second/1')).toMatchObject({ code: 0, error: '' });
  await stack.json(['cancel', 'first/1', '--reason', 'its script hangs']);
  await night.isWell();
  await eventually('nothing waits any more', async () => (await age()) === 0);
});
