import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serve, type ServerType } from '@hono/node-server';
import { servePushType, unitsPage } from '../../sdk';
import { conveyorError } from '../../domain/errors';
import { run, type World } from '../builders/cliWorld';

const folder = mkdtempSync(join(tmpdir(), 'conveyor-fleet-'));
/** How many units the push type has, and whether it gives them in pages. */
const fleet = { units: 1, inPages: true };
let server: ServerType;
let env: Readonly<Record<string, string>>;

beforeAll(async () => {
  const app = servePushType('hosts', {
    validateConfig: () => ({ problems: [] }),
    fetchDeployUnits: (request: Parameters<typeof unitsPage>[0]) => {
      const units = Array.from({ length: fleet.units }, (_, nth) => ({
        ...{
          id: `u${String(nth).padStart(5, '0')}`,
          labels: {},
          size: 1,
          version: 'a:1',
          mixed: false,
          available: true,
        },
      }));
      return { service: 'web', ...(fleet.inPages ? unitsPage(request, units) : { units }) };
    },
  } as unknown as Parameters<typeof servePushType>[1]);
  server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' });
  await new Promise((ready) => server.once('listening', ready));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const extension = { name: 'hosts', kind: 'push-type', url };
  env = { CONVEYOR_CONFIG: file('conveyor.config.yaml', JSON.stringify({ extensions: [extension] })) };
});
afterAll(() => {
  server.close();
  rmSync(folder, { recursive: true });
});

const file = (name: string, text: string): string => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};

const pipeline = (lockstep = false): string =>
  file(
    'pipeline.yaml',
    `pipeline: web
owners: [user:alice]
artifacts: { executable: { finder: manual } }
actions:
  deploy:
    type: deploy
    inputs: [executable]
    with: { pushType: hosts, config: {}, lockstep: ${lockstep}, phases: [{ name: first, scope: "*", amount: 10%, bake: 1m }] }
`,
  );

const applied: unknown[] = [];
const client: World['client'] = {
  apply: (spec) => (applied.push(spec), Promise.resolve({ created: true, previous: null })),
};

const tries = (units: number, inPages: boolean, lockstep: boolean) => {
  Object.assign(fleet, { units, inPages });
  const path = pipeline(lockstep);
  return Promise.all([run(['plan', path], { env }), run(['apply', path], { env, client })]);
};

test.each([
  ['ten thousand units in pages', 10_000, true, false],
  ['five hundred units without pages', 500, false, false],
  ['a hundred units in lockstep', 100, true, true],
  ['no units yet', 0, true, false],
])('plan and apply take %s', async (_, units, inPages, lockstep) => {
  const [planned, after] = await tries(units, inPages, lockstep);
  expect(after).toMatchObject({ code: 0, out: '✔ web created\n' });
  if (units > 0) expect(planned).toMatchObject({ code: 0, err: '' });
  if (units > 0) expect(planned.out).toMatch(new RegExp(`completion +\\* +100% +100% +${units} `));
});

test.each([
  [
    'ten thousand units',
    10_001,
    true,
    false,
    'hosts has more than 10000 units, the most that one deploy can update: split',
  ],
  ['five hundred units without pages', 501, false, false, 'without paging a deploy has at most 500'],
  ['a hundred units in lockstep', 101, true, true, 'a deploy in lockstep updates at most 100'],
])('plan and apply refuse more than %s, in words, and apply nothing', async (_, units, inPages, lockstep, why) => {
  applied.length = 0;
  for (const ran of await tries(units, inPages, lockstep)) {
    expect([ran.code, ran.out]).toEqual([2, '']);
    expect(ran.err).toContain('error: plan-impossible: the deploy cannot be planned: ');
    expect(ran.err).toContain(why);
  }
  expect(applied).toEqual([]);
});

test('apply works without the push type', async () => {
  server.close();
  const ran = await run(['apply', pipeline()], { env, client });
  expect(ran).toMatchObject({ code: 0, out: '✔ web created\n' });
});

test('apply says which config was not checked, and is done all the same', async () => {
  const configNotes = ['the config of deploy was not checked, so that only its deploy finds mistakes: hosts is away'];
  const noting: World['client'] = { apply: () => Promise.resolve({ created: true, previous: null, configNotes }) };
  const ran = await run(['apply', pipeline()], { env, client: noting });
  expect(ran).toMatchObject({ code: 0, out: '✔ web created\n' });
  expect(ran.err).toContain(`warning: web: ${configNotes[0]}\n`);
  const asJson = await run(['apply', pipeline(), '-o', 'json'], { env, client: noting });
  expect(JSON.parse(asJson.out)).toMatchObject([{ pipeline: 'web', result: 'created', configNotes }]);
});

test('apply says once of many pipelines that configs were not checked, and why', async () => {
  const why = 'the config of deploy was not checked, so that only its deploy finds mistakes: hosts is away';
  const noting: World['client'] = {
    apply: () => Promise.resolve({ created: true, previous: null, configNotes: [why] }),
  };
  const path = pipeline();
  const { code, err } = await run(['apply', ...Array<string>(7).fill(path)], { env, client: noting });
  expect([code, err.match(/warning: .*/g)]).toEqual([0, [`warning: web, web, web, web, web and 2 more: ${why}`]]);
});

test('names the files applied before one that is refused', async () => {
  let calls = 0;
  const error = conveyorError('config-rejected', { pipeline: 'web', refused: ['hosts refuses the config of deploy'] });
  const once: World['client'] = {
    apply: () => ((calls += 1) === 1 ? Promise.resolve({ created: true, previous: null }) : Promise.reject(error)),
  };
  const path = pipeline();
  const ran = await run(['apply', path, path], { env, client: once });
  expect([ran.code, ran.out]).toEqual([2, '']);
  expect(ran.err).toContain('applied already: web (created)\n');
  expect(ran.err).toContain('error: config-rejected: web was not applied: hosts refuses the config of deploy\n');
});
