import { OfferBoards } from '../../activities/offerBoards';
import type { PipelineSource } from '../../domain/spec/pipeline';
import { actionOf, CALM, deployAction, endsOf, flow, untilAction } from './flows';
import { HOUR, MINUTE, VirtualWorld } from './world';

let world: VirtualWorld;
beforeEach(async () => {
  world = await VirtualWorld.open();
  for (const service of ['net', 'app']) await world.job(`${service}-x`, 'x', 2, { service });
});
afterEach(() => world.close());

const deploy = (name: string, more: object = {}) => {
  const action = deployAction('5m', more);
  return { ...action, with: { ...action.with, config: { jobs: [`${name}-x`] } } } as typeof action;
};
const net = (ms: number) =>
  flow({ deploy: deploy('net') }, { pipeline: 'net', offers: [{ name: 'pace', value: { ms } }] });
const app: PipelineSource = flow(
  {
    check: { type: 'custom', with: { service: 'slow', takesMs: '${wishes.net.pace.ms}' } },
    deploy: deploy('app', { needs: ['check'] }),
  },
  { pipeline: 'app', wishes: [{ from: 'net', offer: 'pace', for: ['check'] }] },
);
const SETTINGS = { ...CALM, waitIntervalMs: 2 * MINUTE };
const end = async (pipeline: string, number: number): Promise<string | undefined> => {
  await world.ended(pipeline, number, { withinMs: 2 * HOUR });
  return (await endsOf(world, [number], pipeline))[0];
};
const release = async (pipeline: string, version: string) => (await world.release(pipeline, version)).number;
const waits = (number: number) =>
  untilAction(world, number, 'check', ({ blockedBy }) => /: net has not offered pace yet$/.test(blockedBy ?? ''), {
    pipeline: 'app',
  });

test('an action other than a deploy waits for the offer that it wishes for, runs with its value, and is no user of it', async () => {
  await world.apply(app, SETTINGS);
  expect(await release('app', 'kv:2')).toBe(1);
  await waits(1);
  await world.apply(net(7 * MINUTE), SETTINGS);
  expect(await end('net', await release('net', 'kv:2'))).toBe('succeeded');
  expect(await end('app', 1)).toBe('succeeded');
  expect(world.slow.runs.map(({ action, with: given }) => [action, given['takesMs']])).toEqual([['check', 7 * MINUTE]]);
  const check = actionOf(await world.releaseStatus('app', 1), 'check');
  expect(check).toMatchObject({ state: 'succeeded', wishes: [{ from: 'net', offer: 'pace', state: 'satisfied' }] });
  expect(await new OfferBoards(world.client, world.taskQueue).find('net')).toMatchObject({ users: [] });
});

test('an action that waits for an offer is cancelled with its release, and nothing of it has run', async () => {
  await world.apply(app, SETTINGS);
  await release('app', 'kv:2');
  await waits(1);
  await world.command('release/app/1', 'cancel');
  expect(await end('app', 1)).toBe('cancelled (operator)');
  expect(world.slow.runs).toEqual([]);
});
