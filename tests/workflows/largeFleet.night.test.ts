import type { DeployStatus } from '../../domain/views';
import { deploying, type LoneDeploy } from './deploys';
import { HOUR, MINUTE, VirtualWorld } from './world';

/** `CONVEYOR_FLEET=10000x43`: the largest allowed size, by hand. */
const [UNITS = 1_200, PHASES = 12] = (process.env['CONVEYOR_FLEET'] ?? '1200x12').split('x').map(Number);
const MAX_PAYLOAD = 512 * 1024;
const MAX_EVENTS = 10_000;
/** Each look at health asks about every unit. */
const [BAKE_MINUTES, HEALTH_INTERVAL] = UNITS > 2_000 ? [4, '1m'] : [20, '5m'];
const LIMITS = { stepMs: (BAKE_MINUTES / 2) * MINUTE, withinMs: PHASES * HOUR };
const PATIENCE_MS = 600_000 * Math.max(1, (UNITS * PHASES) / 30_000);

let world: VirtualWorld;
beforeEach(async () => {
  world = await VirtualWorld.open();
  for (let nth = 0; nth < UNITS; nth += 1)
    await world.job(nameOf(nth), nth % 2 === 0 ? 'x' : 'y', 1, { budget: 1, nSmall: 1 });
}, PATIENCE_MS);
afterEach(() => world.close());

const nameOf = (nth: number): string => `kvstore-${String(nth).padStart(5, '0')}`;

/** Each phase takes as many units as the one before, and the completion takes the rest. */
const phases = Array.from({ length: PHASES - 1 }, (_, nth) => ({
  name: `step-${nth + 1}`,
  scope: '*',
  amount: { units: `${Math.round((1000 * (nth + 1)) / PHASES) / 10}%` },
  bake: `${BAKE_MINUTES}m`,
}));

const large = (): Promise<LoneDeploy> =>
  deploying(
    world,
    {},
    {
      config: { service: 'kvstore' },
      phases,
      completion: { bake: `${BAKE_MINUTES}m` },
      healthInterval: HEALTH_INTERVAL,
    },
  );

async function versions(): Promise<Readonly<Record<string, number>>> {
  const counts: Record<string, number> = {};
  for (const job of await world.jobs())
    for (const [version, tasks] of Object.entries(job.versions)) counts[version] = (counts[version] ?? 0) + tasks;
  return counts;
}

/** Every payload of the deploy's history, and its status, is as small as for a few units. */
async function isBounded({ handle }: LoneDeploy): Promise<void> {
  const { events } = await handle.fetchHistory();
  expect(events?.length).toBeLessThan(MAX_EVENTS);
  const sizes = (events ?? []).map((event) => JSON.stringify(event).length);
  expect(Math.max(...sizes)).toBeLessThan(MAX_PAYLOAD);
  expect(JSON.stringify(await handle.query('status')).length).toBeLessThan(MAX_PAYLOAD);
}

const completing = ({ phases: all, state }: DeployStatus): boolean =>
  state === 'baking' && all.at(-1)?.state === 'running';

test(
  'a deploy of a thousand units goes through its phases, is paused and resumed, and stays small',
  async () => {
    const deploy = await large();
    await deploy.reaches(({ state }) => state === 'baking', LIMITS);
    await deploy.command('pause');
    await world.sleep(HOUR);
    expect(await deploy.status()).toMatchObject({ paused: { by: 'operator' } });
    await deploy.command('resume');
    expect(await deploy.ended(LIMITS)).toMatchObject({ outcome: 'succeeded' });
    expect(await versions()).toEqual({ 'kv:2': UNITS });
    const { phases: all } = await deploy.status();
    expect(all.map(({ state }) => state)).toEqual(Array(PHASES).fill('succeeded'));
    expect(all.at(-1)).toMatchObject({ totals: { units: UNITS }, units: { length: 50 } });
    await isBounded(deploy);
  },
  PATIENCE_MS,
);

test(
  'one that is unhealthy in its completion brings every unit back by itself',
  async () => {
    const deploy = await large();
    await deploy.reaches(completing, LIMITS);
    await world.describeVersion('kv:2', { errorRatio: 0.2 });
    expect(await deploy.ended(LIMITS)).toMatchObject({ outcome: 'reverted', reverted: { by: 'health', bad: true } });
    expect(await versions()).toEqual({ 'kv:1': UNITS });
    expect((await deploy.status()).revert).toMatchObject({ totals: { units: UNITS, live: UNITS } });
    await isBounded(deploy);
  },
  PATIENCE_MS,
);

test(
  'one that a person reverts brings back every unit but those that are gone, and says so',
  async () => {
    const deploy = await large();
    await deploy.reaches(completing, LIMITS);
    const gone = [nameOf(3), nameOf(UNITS - 1)];
    for (const name of gone) await world.control('DELETE', `/control/jobs/${name}`);
    await deploy.command('revert');
    expect(await deploy.ended(LIMITS)).toMatchObject({ outcome: 'reverted', reverted: { by: 'user:alice' } });
    expect(await versions()).toEqual({ 'kv:1': UNITS - 2 });
    expect((await deploy.status()).revert?.leftOut).toEqual(gone.map((id) => ({ id, reason: 'it is gone' })));
    await isBounded(deploy);
  },
  PATIENCE_MS,
);
