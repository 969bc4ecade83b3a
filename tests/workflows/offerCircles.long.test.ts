import type { PipelineSource } from '../../domain/spec/pipeline';
import { CALM, deployAction, endsOf, flow, untilAction } from './flows';
import { HOUR, MINUTE, VirtualWorld } from './world';

/** Circles of deploys that no `apply` has seen, and the commands that their reasons name. */

let world: VirtualWorld;
beforeEach(async () => {
  world = await VirtualWorld.open();
  for (const service of ['auth', 'registry']) await world.job(`${service}-x`, 'x', 2, { service });
});
afterEach(() => world.close());

type Deploy = ReturnType<typeof deployAction>;
const pipeline = (name: string, more: Partial<PipelineSource>) => {
  const action = deployAction('5m');
  const deploy = { ...action, with: { ...action.with, config: { jobs: [`${name}-x`] } } } as Deploy;
  return flow({ deploy }, { pipeline: name, ...more });
};
const SETTINGS = { ...CALM, waitIntervalMs: 2 * MINUTE };
const release = async (name: string, version: string): Promise<number> => (await world.release(name, version)).number;
const blocked = (name: string, number: number, why: RegExp) =>
  untilAction(world, number, 'deploy', ({ blockedBy }) => blockedBy?.match(why) != null, { pipeline: name });
const end = async (name: string, number: number): Promise<string | undefined> => {
  await world.ended(name, number, { withinMs: 2 * HOUR });
  return (await endsOf(world, [number], name))[0];
};

test('two deploys whose files were applied at the same time name their circle, and continue after the commands that they name', async () => {
  const auth = pipeline('auth', { offers: [{ name: 'group' }], wishes: [{ from: 'registry', offer: 'vpc' }] });
  await world.apply(auth, SETTINGS);
  await world.apply(
    pipeline('registry', { offers: [{ name: 'vpc' }], wishes: [{ from: 'auth', offer: 'group' }] }),
    SETTINGS,
  );
  const [first, second] = [await release('auth', 'kv:2'), await release('registry', 'kv:2')];
  const way =
    'to break it, change a wish or after: of one of them, then type conveyor apply FILE and conveyor release PIPELINE';
  await blocked('auth', first, new RegExp(`: auth/deploy → registry/deploy → auth/deploy; ${way}$`));
  await blocked('registry', second, new RegExp(`: registry/deploy → auth/deploy → registry/deploy; ${way}$`));
  // A person follows the second of these reasons.
  await world.apply(pipeline('registry', { offers: [{ name: 'vpc' }] }), SETTINGS);
  expect(await end('registry', await release('registry', 'kv:3'))).toBe('succeeded');
  expect(await end('auth', first)).toBe('succeeded');
  expect(await endsOf(world, [second], 'registry')).toEqual(['cancelled (superseded)']);
});

test('a new version that its only user awaits while it uses the old one names the command that lets it begin', async () => {
  const registry = (version: string) => pipeline('registry', { offers: [{ name: 'vpc', version }] });
  const auth = (version: string) => pipeline('auth', { wishes: [{ from: 'registry', offer: 'vpc', version }] });
  await world.apply(registry('1.0.0'), SETTINGS);
  await world.apply(auth('^1'), SETTINGS);
  expect(await end('registry', await release('registry', 'kv:2'))).toBe('succeeded');
  expect(await end('auth', await release('auth', 'kv:2'))).toBe('succeeded');
  await world.apply(registry('2.0.0'), SETTINGS);
  await world.apply(auth('^2'), SETTINGS);
  const [newest, waiting] = [await release('registry', 'kv:3'), await release('auth', 'kv:3')];
  await blocked('registry', newest, /; to break it, type conveyor override-offer registry\/2\/deploy --reason …$/);
  await world.command(`release/registry/${newest}`, 'override-offer', { action: 'deploy', reason: 'both know 2.0.0' });
  expect(await end('registry', newest)).toBe('succeeded');
  expect(await end('auth', waiting)).toBe('succeeded');
});
