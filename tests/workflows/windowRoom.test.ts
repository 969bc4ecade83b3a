import type { PipelineSource } from '../../domain/spec/pipeline';
import { actionOf, CALM, deployAction, endsOf, flow, untilAction } from './flows';
import { HOUR, MINUTE, VirtualWorld } from './world';

let world: VirtualWorld;
beforeEach(async () => {
  world = await VirtualWorld.open();
  for (const name of ['kvstore-x', 'kvstore-y']) await world.job(name, 'x', 6);
});
afterEach(() => world.close());

const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
const clock = (ms: number) => new Date(ms).toISOString().slice(11, 16);

/** A window of eight hours around now, in which this many deploys may begin; returns when it opens next. */
async function applied(maxDeploys: number, releases: PipelineSource['releases'] = {}): Promise<number> {
  const now = await world.now();
  const fromMs = Math.floor((now - HOUR) / MINUTE) * MINUTE;
  const window = {
    ...{ days: [...DAYS], from: clock(fromMs), to: clock(fromMs + 8 * HOUR), timezone: 'UTC', maxDeploys },
  };
  await world.apply(flow({ deploy: deployAction('5m', { window }) }, { releases }), CALM);
  return fromMs + 24 * HOUR;
}
const ships = async (number: number) => {
  await world.release('kvstore', `kv:${number + 1}`);
  await world.ended('kvstore', number, { withinMs: 3 * HOUR });
};
const waits = (number: number) => untilAction(world, number, 'deploy', ({ until }) => until !== null);
const deployOf = async (number: number) => actionOf(await world.releaseStatus('kvstore', number), 'deploy');

test('no more deploys begin in an opening than may; the next one says why and continues when the window opens again', async () => {
  const opensMs = await applied(2);
  await ships(1);
  await ships(2);
  await world.release('kvstore', 'kv:4');
  await waits(3);
  expect(await deployOf(3)).toMatchObject({
    blockedBy: '2 of 2 deploys of this window have begun; it opens again later',
    until: new Date(opensMs).toISOString(),
  });
  await world.push('kvstore', 'kv:9');
  await world.ended('kvstore', 4, { withinMs: 3 * HOUR });
  expect(await endsOf(world, [3, 4])).toEqual(['cancelled (superseded)', 'succeeded']);
  await world.release('kvstore', 'kv:5');
  await waits(5);
  await world.ended('kvstore', 5, { withinMs: 30 * HOUR, stepMs: 10 * MINUTE });
  expect(await endsOf(world, [1, 2, 5])).toEqual(['succeeded', 'succeeded', 'succeeded']);
  const { waits: asked } = await world.pipelineStatus('kvstore');
  expect(asked).toEqual([]);
  const begun = Date.parse((await world.deployStatus('kvstore', 5)).phases[0]?.startedAt ?? '');
  expect(begun).toBeGreaterThanOrEqual(opensMs);
});

test('when several get their turn one after the other the surplus gives it back and waits; skip-window lets it begin', async () => {
  await applied(1, { supersede: 'never' });
  await world.release('kvstore', 'kv:2');
  await world.release('kvstore', 'kv:3');
  await world.ended('kvstore', 1, { withinMs: 3 * HOUR });
  await waits(2);
  expect((await deployOf(2))?.blockedBy).toContain('1 of 1 deploy of this window has begun');
  await world.command('release/kvstore/2', 'skip-window', { action: 'deploy', reason: 'it is small' });
  await world.ended('kvstore', 2, { withinMs: 3 * HOUR });
  expect(await endsOf(world, [1, 2])).toEqual(['succeeded', 'succeeded']);
});
