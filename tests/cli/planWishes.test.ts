import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ConveyorClient } from '../../client/api';
import { conveyorError } from '../../domain/errors';
import type { OfferDetails, PipelineOffers } from '../../domain/views';
import type { PlanReport } from '../../render/plan';
import { run } from '../builders/cliWorld';

const folder = mkdtempSync(join(tmpdir(), 'conveyor-plan-wishes-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** No process listens there, so the fleet is that of `fleet.yaml`, and nothing has ended. */
const env = { CONVEYOR_SIMULATOR_URL: 'http://127.0.0.1:9', CONVEYOR_ARCHIVE_FILE: join(folder, 'none.duckdb') };
const file = join(folder, 'shop.yaml');
writeFileSync(
  file,
  `pipeline: shop
owners: [user:alice]
artifacts: { executable: { finder: manual } }
wishes: [{ from: network, offer: place, version: "^2" }, { from: dns, offer: zone }]
actions:
  deploy:
    type: deploy
    inputs: [executable]
    with: { pushType: twine, config: { jobs: ["\${wishes.network.place.job}"] }, phases: [{ scope: "*", amount: 100% }] }
`,
);
writeFileSync(join(folder, 'fleet.yaml'), JSON.stringify([{ name: 'shop-x', region: 'x', tasks: 4, version: 'kv:1' }]));
const units = join(folder, 'units.json');
const unit = { id: 'shop-x', labels: {}, size: 4, version: 'kv:1', mixed: false, available: true };
writeFileSync(units, JSON.stringify({ service: 'shop', units: [unit] }));

const offer = (name: string, version: string): OfferDetails => ({
  ...{ name, version, state: 'made', seq: 4, since: '2026-11-20T13:00:00.000Z', release: 7, action: 'deploy' },
  ...{ value: { job: 'shop-x' }, to: ['*'], users: [] },
});
const answers = (id: string, ...offers: readonly OfferDetails[]): PipelineOffers => ({
  ...{ id, kind: 'offers', offers, changes: [] },
});

/** A plan, where each of these pipelines has an offer of this version, or does not answer. */
function plan(known: Readonly<Record<string, PipelineOffers | 'silent'>>, ...argv: readonly string[]) {
  return planFile(file, known, argv);
}

function planFile(path: string, known: Readonly<Record<string, PipelineOffers | 'silent'>>, argv: readonly string[]) {
  const offers: ConveyorClient['offers'] = (name) => {
    const found = known[name];
    if (found === 'silent') return Promise.reject(conveyorError('no-worker', { id: name }));
    return found ? Promise.resolve(found) : Promise.reject(conveyorError('unknown-pipeline', { pipeline: name }));
  };
  const history = () => Promise.resolve([]);
  return run(['plan', path, '--now', '2026-11-23T09:00Z', ...argv], { client: { offers, history }, env });
}
const made = { network: answers('network', offer('place', '2.3.0')), dns: answers('dns', offer('zone', '1.0.0')) };

test('a plan is made for the values that its wishes have at present', async () => {
  const { code, out } = await plan(made, '-o', 'json');
  const { phases, wishes } = JSON.parse(out) as PlanReport;
  expect([code, phases[0]?.units]).toEqual([0, [{ id: 'shop-x', tasks: 4 }]]);
  expect(wishes).toEqual([
    { from: 'network', offer: 'place', range: '^2', state: 'satisfied', version: '2.3.0', seq: 4, why: null },
    { from: 'dns', offer: 'zone', range: null, state: 'satisfied', version: '1.0.0', seq: 4, why: null },
  ]);
  expect((await plan(made)).out).not.toContain('Waits for');
});

test('the wishes that are not satisfied at present are named, each with its reason', async () => {
  const old = { ...made, network: answers('network', offer('place', '1.9.0')), dns: answers('dns') };
  const [{ code, err }, { out }] = await Promise.all([plan(old), plan({ network: old.network }, '--units', units)]);
  expect([code, err]).toEqual([
    expect.any(Number),
    expect.stringContaining(
      'the config of deploy uses values of offers, and network offers place 1.9.0, but the wish is for ^2',
    ),
  ]);
  expect(code).not.toBe(0);
  expect(out).toContain('Waits for, at present; the times do not include this\n');
  expect(out).toMatch(/^ {2}place \^2 of network +network offers place 1\.9\.0, but the wish is for \^2$/m);
  expect(out).toMatch(/^ {2}zone of dns +dns has not offered zone yet$/m);
});

test('pipelines that do not answer are named, and the wishes of the others are judged', async () => {
  const { out } = await plan({ ...made, network: 'silent' }, '--units', units, '-o', 'json');
  const { wishes, warnings } = JSON.parse(out) as PlanReport;
  expect(wishes?.map(({ from }) => from)).toEqual(['dns']);
  expect(warnings).toContainEqual({
    code: 'unread-offers',
    message: 'Conveyor did not say what network offers: the plan does not show whether the deploy waits for that',
  });
});

test('a plan needs no server that answers', async () => {
  const connect = { client: {}, env };
  const { code, out } = await run(['plan', file, '--units', units, '-o', 'json'], connect);
  const { wishes, warnings } = JSON.parse(out) as PlanReport;
  expect([code, wishes]).toEqual([0, undefined]);
  expect(warnings.map(({ code: of }) => of)).toContain('unread-offers');
});

test('users of its own offers for which the deploy would wait are named, each with its reason', async () => {
  const own = join(folder, 'network.yaml');
  writeFileSync(
    own,
    `pipeline: network
owners: [user:alice]
artifacts: { executable: { finder: manual } }
offers: [{ name: place, version: "3.0.0", value: { id: "\${executable.version}" } }]
actions:
  deploy:
    type: deploy
    inputs: [executable]
    with: { pushType: twine, config: { jobs: [shop-x] }, phases: [{ scope: "*", amount: 100% }] }
`,
  );
  const pin = (range: string | null, parts: readonly string[]) => ({ release: 4, seq: 4, range, parts, behind: false });
  const users = [
    { user: 'auth/deploy', behind: false, pins: [pin('>=2', ['id'])] },
    { user: 'mail/deploy', behind: false, pins: [pin(null, ['job'])] },
    { user: 'shop/deploy', behind: false, pins: [pin('^2', [])] },
  ];
  const known = { network: answers('network', { ...offer('place', '2.3.0'), users }) };
  const planned = (...argv: string[]) => planFile(own, known, ['--units', units, ...argv]);
  const [{ out: text }, { out: json }] = [await planned(), await planned('-o', 'json')];
  expect((JSON.parse(json) as PlanReport).unfit).toEqual({
    users: [
      { offer: 'place', user: 'mail/deploy', why: 'uses job' },
      { offer: 'place', user: 'shop/deploy', why: 'wishes for ^2' },
    ],
    more: 0,
  });
  expect(text).toContain('Waits for users of its offers, at present, until they fit\n');
  expect(text).toMatch(/^ {2}shop\/deploy +wishes for \^2 \(place\)$/m);
  expect((await plan(made, '-o', 'json')).out).not.toContain('unfit');
});
