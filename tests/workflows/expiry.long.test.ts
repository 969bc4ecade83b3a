import { defaultPayloadConverter } from '@temporalio/common';
import type { NotifyRequest } from '../../activities/notify';
import { CALM, deployAction, endsOf, flow } from './flows';
import { shortHistories } from './shortHistories';
import { HOUR, MINUTE, VirtualWorld } from './world';

let world: VirtualWorld;
beforeEach(async () => {
  world = await VirtualWorld.open();
  for (const name of ['kvstore-x', 'kvstore-y']) await world.job(name, 'x', 6);
});
afterEach(() => world.close());

/** The notices of the pipeline itself, delivered or not, in all its runs. */
async function notices(): Promise<NotifyRequest[]> {
  const found: NotifyRequest[] = [];
  const { workflowId } = world.pipeline('kvstore');
  let runId: string | undefined;
  do {
    const { events } = await world.client.workflow.getHandle(workflowId, runId).fetchHistory();
    const sent = (events ?? []).flatMap(({ activityTaskScheduledEventAttributes: scheduled }) => {
      const [payload] = scheduled?.input?.payloads ?? [];
      return scheduled?.activityType?.name === 'notify' && payload
        ? [defaultPayloadConverter.fromPayload<NotifyRequest>(payload)]
        : [];
    });
    found.unshift(...sent);
    runId = events?.[0]?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId || undefined;
  } while (runId !== undefined);
  return found;
}

test('an expiry in the queue is notified, and a receiver that is gone holds nothing up', async () => {
  const notify = [
    { on: ['expired' as const], url: '${NOT_LISTED}' },
    { on: ['cancelled' as const], url: '${NOT_LISTED}' },
  ];
  const releases = { maxActive: 1, expireAfter: '2h' };
  await world.apply(flow({ deploy: deployAction('4h', {}, '15m') }, { releases, notify }), CALM);
  for (const version of ['kv:2', 'kv:3', 'kv:4']) await world.release('kvstore', version);
  await world.ended('kvstore', 1, { withinMs: 12 * HOUR });
  expect(await endsOf(world, [1])).toEqual(['succeeded']);
  const { releases: rows } = await world.pipelineStatus('kvstore');
  expect(rows.map(({ number, cause }) => [number, cause])).toEqual(
    expect.arrayContaining([
      [2, 'expired'],
      [3, 'expired'],
    ]),
  );
  // A query knows changes that the history does not have yet.
  await world.until('the last that expired is announced', async () => {
    const told = (await notices()).map(({ event }) => [event.on, event.release, event.artifacts[0]?.version]);
    return told.at(-1)?.join() === 'expired,kvstore/3,kv:4';
  });
  await world.release('kvstore', 'kv:5');
  await world.ended('kvstore', 4, { withinMs: 12 * HOUR });
});

test('a receiver that is gone keeps no history of a pipeline from ending, however often something expires', async () => {
  await world.close();
  world = await VirtualWorld.ofKvstore(undefined, shortHistories());
  const notify = [{ on: ['expired' as const], url: 'https://receiver.invalid/' }];
  const actions = {
    approve: { type: 'manual-pick' as const, with: {} },
    deploy: deployAction('5m', { needs: ['approve'] }),
  };
  await world.apply(flow(actions, { releases: { maxActive: 1, expireAfter: '45m' }, notify }), CALM);
  await world.release('kvstore', 'kv:2');
  let version = 3;
  /** A notice is retried for an hour: a second one appears before the first is given up. */
  const expireAnother = async (): Promise<string> => {
    await world.release('kvstore', `kv:${version++}`);
    await world.sleep(45 * MINUTE);
    return (await world.pipeline('kvstore').describe()).runId;
  };
  await expireAnother();
  const before = await expireAnother();
  expect(await notices()).not.toEqual([]);
  let now = before;
  for (let n = 0; n < 4 && now === before; n += 1) now = await expireAnother();
  expect(now).not.toBe(before);
  const { releases: rows } = await world.pipelineStatus('kvstore');
  expect(rows.map(({ cause }) => cause)).toEqual(expect.arrayContaining(['expired']));
});
