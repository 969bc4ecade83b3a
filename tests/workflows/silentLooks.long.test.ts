import { setTimeout as wait } from 'node:timers/promises';
import { Worker } from '@temporalio/worker';
import { createSinks } from '../../workers/sinks';
import * as calendars from '../../domain/calendar/spread';
import { actionOf, deployAction, flow, isAtPick, slowAction, untilAction, CALM } from './flows';
import { MINUTE, VirtualWorld } from './world';

/** A look at other workflows delays none of them while there is no answer. */

let world: VirtualWorld;
beforeEach(async () => {
  world = await VirtualWorld.ofKvstore();
});
afterEach(async () => {
  jest.restoreAllMocks();
  await replays('pipeline/kvstore');
  await world.close();
});

/** From now on a look whether it runs waits until `answer` is called. */
function silence(workflowId: string) {
  const { workflow } = world.client;
  const real = workflow.getHandle.bind(workflow);
  const silent = { isAsked: false, answer: (): void => undefined };
  const answered = new Promise<void>((resolve) => (silent.answer = resolve));
  jest.spyOn(workflow, 'getHandle').mockImplementation((id, ...rest) => {
    const handle = real(id, ...rest);
    const describe = () => {
      silent.isAsked = true;
      return answered.then(() => handle.describe());
    };
    return id === workflowId ? { ...handle, describe } : handle;
  });
  return silent;
}

/** Polls in real time: virtual time stands still while a look hangs. */
async function soon(holds: () => boolean | Promise<boolean>): Promise<boolean> {
  for (let tries = 0; tries < 150; tries += 1) {
    if (await holds()) return true;
    await wait(100);
  }
  return false;
}

const mutex = { rig: { scope: 'global' } } as const;

test('a lock that is let go has its next holder at once, while it still looks whether the last one runs', async () => {
  await world.apply(flow({ test: { type: 'manual-pick', mutex: ['rig'] } }, { mutex }), CALM);
  await world.apply(flow({ test: slowAction(5, { mutex: ['rig'] }) }, { pipeline: 'search', mutex }), CALM);
  await world.release('kvstore', 'kv:2');
  await untilAction(world, 1, 'test', isAtPick);
  const holder = silence('release/kvstore/1');
  await world.release('search', 'kv:2');
  expect(await soon(() => holder.isAsked)).toBe(true);
  await world.pick('kvstore', 1, { action: 'test' });
  const begins = await soon(() => world.slow.runs.length === 1);
  holder.answer();
  expect(begins).toBe(true);
  await world.ended('search', 1);
  const { status } = await world.client.workflow.getHandle('lock/rig').describe();
  expect(status.name).toBe('COMPLETED');
  await replays('lock/rig');
});

const picked = () => flow({ approve: { type: 'manual-pick' }, deploy: deployAction('5m', { needs: ['approve'] }) });
const deploys = (release: number) =>
  world.deployStatus('kvstore', release).then(
    () => true,
    () => false,
  );

test('an emergency does not wait until it is known what a terminated release has left behind', async () => {
  await world.apply(picked(), CALM);
  await world.release('kvstore', 'kv:2');
  await untilAction(world, 1, 'approve', isAtPick);
  const release = silence('release/kvstore/1');
  await world.client.workflow.getHandle('release/kvstore/1').terminate('a test');
  await world.pipeline('kvstore').signal('look', { release: 1 });
  expect(await soon(() => release.isAsked)).toBe(true);
  await world.push('kvstore', 'kv:3', { skipBake: true });
  const begins = await soon(() => deploys(2));
  const { active } = await world.pipelineStatus('kvstore');
  release.answer();
  expect([begins, active]).toEqual([true, [1, 2]]);
  await world.ended('kvstore', 2);
  expect((await world.pipelineStatus('kvstore')).active).toEqual([]);
});

const weekly = { mode: 'calendar', calendar: '0 10 * * 1', timezone: 'Europe/Vienna' } as const;

/** Workers do not know that zone until the returned function is called. */
function ignorantOf(zone: string): () => void {
  const real = calendars.nextSpreadTick;
  const asked = jest.spyOn(calendars, 'nextSpreadTick').mockImplementation((of, ...rest) => {
    if (of.timezone === zone) throw new Error(`no zone data of ${zone}`);
    return real(of, ...rest);
  });
  return () => asked.mockRestore();
}

const waitsFor = (release: number, what: string) =>
  untilAction(world, release, 'deploy', ({ blockedBy }) => blockedBy?.startsWith(what) === true, {
    withinMs: 5 * MINUTE,
  });

test('a calendar that no worker can read keeps no emergency from beginning, nor the pipeline from another calendar', async () => {
  ignorantOf('Europe/Vienna');
  await world.apply(flow({ deploy: deployAction('5m') }, { schedule: weekly }), CALM);
  await world.release('kvstore', 'kv:2');
  await world.sleep(MINUTE);
  await world.push('kvstore', 'kv:3', { skipBake: true });
  await world.ended('kvstore', 2);
  await world.release('kvstore', 'kv:4');
  await waitsFor(3, 'the calendar is being looked up');
  await world.apply(flow({ deploy: deployAction('5m') }, { schedule: { ...weekly, timezone: 'Europe/Paris' } }), CALM);
  await waitsFor(3, 'waiting for the calendar');
  expect(actionOf(await world.releaseStatus('kvstore', 3), 'deploy')?.until).not.toBeNull();
});

test('a calendar that could not be read is read once it can be', async () => {
  const learn = ignorantOf('Europe/Vienna');
  await world.apply(flow({ deploy: deployAction('5m') }, { schedule: weekly }), CALM);
  await world.release('kvstore', 'kv:2');
  await world.sleep(MINUTE);
  await world.command('pipeline/kvstore', 'hold');
  await world.command('pipeline/kvstore', 'unhold');
  await waitsFor(1, 'the calendar is being looked up');
  learn();
  await waitsFor(1, 'waiting for the calendar');
});

/** Another worker may take over at any time. */
async function replays(workflowId: string): Promise<void> {
  const history = await world.client.workflow.getHandle(workflowId).fetchHistory();
  const bundle = { workflowBundle: { codePath: process.env['CONVEYOR_TEST_BUNDLE'] ?? '' } };
  await Worker.runReplayHistory({ ...bundle, sinks: createSinks() }, history, workflowId);
}
