import { deploying, type LoneDeploy } from './deploys';
import { MINUTE, VirtualWorld } from './world';

/** `amount: { units: … }`: whole units, here jobs, in the order of their names instead of that in the file. */
const JOBS = ['kvstore-d', 'kvstore-b', 'kvstore-c', 'kvstore-a'];

let world: VirtualWorld;
beforeEach(async () => {
  world = await VirtualWorld.open();
  for (const job of JOBS) await world.job(job, 'x', 4);
});
afterEach(() => world.close());

const begun = (): Promise<LoneDeploy> =>
  deploying(
    world,
    {},
    {
      config: { jobs: JOBS },
      phases: [
        { name: 'quarter', scope: '*', amount: { units: '25%' }, bake: '10m' },
        { name: 'half', scope: '*', amount: { units: 2 }, bake: '10m' },
      ],
    },
  );
const baking = (deploy: LoneDeploy, phase: number) =>
  deploy.reaches(({ phases }) => phases[phase]?.state === 'running' && phases[phase].bakeUntil !== null);

/** The jobs with tasks on the new version, and on the old one. */
async function spread(): Promise<{ on: string[]; off: string[] }> {
  const jobs = (await world.jobs()).map(({ name, versions }) => [name.slice(-1), versions] as const);
  const having = (version: string) =>
    jobs
      .filter(([, versions]) => version in versions)
      .map(([name]) => name)
      .sort();
  return { on: having('kv:2'), off: having('kv:1') };
}

test('whole units are updated, each phase some more of them, and in the end all', async () => {
  const deploy = await begun();
  await baking(deploy, 0);
  expect(await spread()).toEqual({ on: ['a'], off: ['b', 'c', 'd'] });
  await baking(deploy, 1);
  expect(await spread()).toEqual({ on: ['a', 'b'], off: ['c', 'd'] });
  expect((await deploy.ended()).outcome).toBe('succeeded');
  expect(await spread()).toEqual({ on: ['a', 'b', 'c', 'd'], off: [] });
  expect((await deploy.status()).phases.map(({ amount }) => amount)).toEqual(['25% of units', '2 of units', '100%']);
});

test('a revert goes to those that were updated, and to no other', async () => {
  const deploy = await begun();
  await baking(deploy, 1);
  await deploy.command('revert');
  expect((await deploy.ended({ stepMs: MINUTE })).outcome).toBe('reverted');
  expect(await spread()).toEqual({ on: [], off: ['a', 'b', 'c', 'd'] });
  const { revert } = await deploy.status();
  expect(revert?.units.map(({ id }) => id).sort()).toEqual(['kvstore-a', 'kvstore-b']);
});
