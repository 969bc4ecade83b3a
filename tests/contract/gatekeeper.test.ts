import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { planDeploy } from '../../domain/deploy/plan';
import { inScope } from '../../domain/fleet/scope';
import type { Unit } from '../../domain/fleet/unit';
import type { Project } from '../../configerator/domain/gatekeeper/project';
import type { DeploySpec } from '../../domain/spec/deploy';
import { parsePipeline } from '../../domain/spec/parse';
import { GateFleet } from '../../examples/push-types/gatekeeper/fleet';
import { gatekeeperPushType } from '../../examples/push-types/gatekeeper/pushType';
import { filesIn, type ProjectStore } from '../../examples/push-types/gatekeeper/store';
import { viaApp } from '../../sdk/client';
import { PUSH_TYPE_CHECKS } from '../../sdk/conform/pushType/suite';
import { createGatekeeper } from '../../sdk/gatekeeper/gatekeeper';
import { judgeTargets } from '../../sdk/health';
import { describeSuite } from './suite';

/** The push type of examples/push-types/gatekeeper, over a store in memory. */

const PROJECT = 'checkout';
const SLICES = 10;
const RULES = ['employees', 'all'];
const employees = (pass: number) => ({ name: 'employees', if: [{ restraint: 'employee' as const }], pass });
const all = (pass: number) => ({ name: 'all', if: [], pass });
const VERSIONS: Readonly<Record<string, unknown>> = {
  'v-1': { rules: [employees(0), all(0)] },
  'v-2': { rules: [employees(1), all(1)] },
  'v-3': { rules: [all(0.5)] },
  'v-9': { rules: [all(0.5), employees(1)] },
  'v-bad': { rules: [all(5)] },
};

class MemoryStore implements ProjectStore {
  value: unknown = VERSIONS['v-1'];
  writes = 0;
  isAway = false;
  beforeWrite: () => void = () => undefined;

  async read() {
    const found = Object.entries(VERSIONS).find(([, it]) => isDeepStrictEqual(it, this.value));
    return { value: this.value, ...(found && { version: found[0] }) };
  }
  async write(_: string, value: unknown, before: unknown): Promise<boolean> {
    if (this.isAway) throw new Error('the store is away');
    this.beforeWrite();
    if (!isDeepStrictEqual(this.value, before)) return false;
    this.value = structuredClone(value);
    this.writes += 1;
    return true;
  }
  async version(_: string, version: string): Promise<unknown> {
    return VERSIONS[version];
  }
}

const homes: string[] = [];
afterAll(() => homes.forEach((home) => rmSync(home, { recursive: true, force: true })));

const config = { project: PROJECT, rules: RULES };
function given(options: { atOnce?: number; store?: MemoryStore; home?: string } = {}) {
  const home = options.home ?? mkdtempSync(join(tmpdir(), 'conveyor-gatekeeper-'));
  homes.push(home);
  const { store = new MemoryStore(), atOnce } = options;
  const fleet = new GateFleet({ home, store, slices: SLICES, ...(atOnce !== undefined && { atOnce }) });
  const app = gatekeeperPushType(fleet, (request) =>
    judgeTargets({ ...request, query: () => Promise.resolve({ series: [] }) }),
  );
  const settle = async (): Promise<void> => {
    while (await fleet.step(PROJECT));
  };
  return { home, store, fleet, app, settle };
}

const suiteOf = async () => {
  const { app, fleet, settle } = given({ atOnce: 2 });
  return {
    ...{ fetch: viaApp(app), url: 'http://gatekeeper', config, pipeline: 'checkout', release: 12 },
    units: [`${PROJECT}.employees`, `${PROJECT}.all`] as const,
    sizes: [SLICES, SLICES] as const,
    version: 'v-1',
    newVersions: ['v-2', 'v-3'] as const,
    now: Date.now,
    tick: async () => void (await fleet.step(PROJECT)),
    settle,
  };
};
describeSuite('push type gatekeeper', PUSH_TYPE_CHECKS, suiteOf, [
  'pages',
  'shiftTraffic',
  'removeUnits',
  'grow',
  'deadVersion',
]);

const CONTEXT = { pipeline: 'checkout-gate', release: 3, deployId: 'd', actor: 'user:alice' };
const DEPLOY = 'deploy/checkout-gate/3/deploy/1';
interface Answer {
  readonly units: readonly { readonly version?: string }[];
  readonly error?: unknown;
}
type App = ReturnType<typeof given>['app'];

async function post(app: App, method: string, body: object, using: object = config, fence?: number): Promise<Answer> {
  const response = await viaApp(app)(
    new Request(`http://gatekeeper/${method}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'idempotency-key': JSON.stringify(body) },
      body: JSON.stringify({ ...body, context: { ...CONTEXT, config: using, fence } }),
    }),
  );
  return (await response.json()) as Answer;
}

function push(
  app: App,
  phase: number | string,
  version: string,
  units: readonly string[],
  rest: object,
  ...how: [object?, number?]
) {
  const targets = units.map((unit) => ({ unit, version, artifacts: [], ...rest }));
  const urgency = phase === 'revert' ? 'revert' : 'normal';
  return post(app, 'executeUpdates', { updateId: `${DEPLOY}/${phase}/1`, wholeUnit: false, urgency, targets }, ...how);
}
const [EMPLOYEES, ALL] = [`${PROJECT}.employees`, `${PROJECT}.all`];
const undo = { updatedBy: [`${DEPLOY}/0/1`, `${DEPLOY}/1/1`] };

test('a phase widens the rule that its scope names, and the completion writes the version itself', async () => {
  const { app, store, settle } = given();
  await push(app, 0, 'v-2', [EMPLOYEES], { amount: { percent: 10 } });
  await settle();
  expect(store.value).toEqual({ rules: [employees(0.1), all(0)] });
  await push(app, 1, 'v-2', [EMPLOYEES, ALL], { amount: { percent: 50 } });
  await settle();
  expect(store.value).toEqual({ rules: [employees(0.5), all(0.5)] });
  await push(app, 2, 'v-2', [EMPLOYEES, ALL], { amount: { all: true } });
  await settle();
  expect(store.value).toEqual(VERSIONS['v-2']);
  expect(store.writes).toBe(3);
});

test('a rule that is new is about a part of its users, and the others fall under the next rule as before', async () => {
  const { app, store, settle } = given();
  store.value = VERSIONS['v-3'];
  await push(app, 0, 'v-2', [EMPLOYEES], { amount: { percent: 10 } });
  await settle();
  const slice = { restraint: 'slice', from: 0, to: 0.1 };
  const part = { ...employees(1), if: [{ restraint: 'employee' }, slice] };
  expect(store.value).toEqual({ rules: [part, all(0.5)] });
});

test('a revert restores the value exactly, also when the file of its version is gone', async () => {
  const { app, store, settle } = given();
  store.value = { rules: [employees(0.25), all(0)] };
  await push(app, 0, 'v-2', [EMPLOYEES], { amount: { percent: 50 } });
  await settle();
  expect(store.value).toEqual({ rules: [employees(0.5), all(0)] });
  const { units } = await post(app, 'fetchDeployUnits', {});
  const { version = '' } = units[0] ?? {};
  expect(version).toMatch(/^value-/);
  await push(app, 'revert', version, [EMPLOYEES], undo);
  await settle();
  expect(store.value).toEqual({ rules: [employees(0.25), all(0)] });
});

test('the value of another writer is not overwritten, and the deploy fails with the reason', async () => {
  const { app, store, settle } = given();
  await push(app, 0, 'v-2', [EMPLOYEES], { amount: { percent: 50 } });
  const closed = { rules: [] };
  store.value = closed;
  await settle();
  expect(store.value).toEqual(closed);
  const { units } = await post(app, 'trackUpdates', { updateId: `${DEPLOY}/0/1` });
  expect(units[0]).toMatchObject({
    ...{ state: 'failed', live: 0, reason: 'checkout was changed by someone else since; it stays as it is' },
  });
  await push(app, 'revert', 'v-1', [EMPLOYEES], undo);
  await settle();
  expect(store.value).toEqual(closed);
});

test('a deploy whose gate was closed by hand opens it no further, and the next deploy begins from there', async () => {
  const { app, store, settle } = given();
  await push(app, 0, 'v-2', [EMPLOYEES], { amount: { percent: 10 } });
  await settle();
  const closed = { rules: [employees(0), all(0)] };
  store.value = closed;
  const next = await push(app, 1, 'v-2', [EMPLOYEES], { amount: { percent: 50 } });
  expect(next.error).toMatchObject({ code: 'changed-elsewhere', retryable: false });
  await settle();
  expect(store.value).toEqual(closed);
  const other = `${DEPLOY.replace('/3/', '/4/')}/0/1`;
  const target = { unit: EMPLOYEES, version: 'v-2', artifacts: [], amount: { percent: 50 } };
  const request = { updateId: other, wholeUnit: false, urgency: 'normal', targets: [target] };
  expect(await post(app, 'executeUpdates', request)).toEqual({ accepted: [EMPLOYEES] });
  await settle();
  expect(store.value).toEqual({ rules: [employees(0.5), all(0)] });
});

test('a deploy that lost its project without knowing is refused, and what it did can be reverted', async () => {
  const { app, store, settle } = given();
  const half = { amount: { percent: 50 } };
  await push(app, 0, 'v-2', [EMPLOYEES], half, config, 7);
  await settle();
  expect((await push(app, 1, 'v-2', [ALL], half, config, 6)).error).toMatchObject({ code: 'fenced', retryable: false });
  await push(app, 'revert', 'v-1', [EMPLOYEES], { ...undo }, config, 6);
  await settle();
  expect(store.value).toEqual(VERSIONS['v-1']);
});

test('a store that is away is waited for', async () => {
  const { app, store, fleet, settle } = given();
  store.isAway = true;
  await push(app, 0, 'v-2', [EMPLOYEES], { amount: { percent: 50 } });
  expect(await fleet.step(PROJECT)).toBe(true);
  store.isAway = false;
  await settle();
  expect(store.value).toEqual({ rules: [employees(0.5), all(0)] });
});

test.each(['before', 'after'])('a push type that is killed %s it wrote continues where it was', async (when) => {
  const first = given();
  await push(first.app, 0, 'v-2', [EMPLOYEES], { amount: { percent: 50 } });
  first.store.beforeWrite = () => {
    if (when === 'after') first.store.value = { rules: [employees(0.5), all(0)] };
    throw new Error('killed');
  };
  await first.fleet.step(PROJECT);
  first.store.beforeWrite = () => undefined;
  const again = given({ home: first.home, store: first.store });
  await post(again.app, 'fetchDeployUnits', {});
  await again.settle();
  expect(again.store.value).toEqual({ rules: [employees(0.5), all(0)] });
  const { units } = await post(again.app, 'trackUpdates', { updateId: `${DEPLOY}/0/1` });
  expect(units[0]).toMatchObject({ state: 'done', live: SLICES / 2 });
});

test('versions that are no projects, or have other rules than the pipeline says, are refused before anything begins', async () => {
  const { app, store } = given();
  const refused = async (version: string) =>
    (await push(app, 0, version, [EMPLOYEES], { amount: { all: true } })).error;
  expect(await refused('v-bad')).toMatchObject({
    ...{ code: 'invalid-version', retryable: false },
    message: 'version v-bad of checkout: rules[0].pass expected a number from 0 to 1, got 5',
  });
  expect(await refused('v-9')).toMatchObject({ code: 'not-deployable', retryable: false });
  store.value = { rules: [{ if: [], pass: 1 }] };
  expect(await post(app, 'validateConfig', {})).toEqual({
    problems: [
      {
        path: 'config.rules',
        message: 'the present value of checkout: rules[0].name is missing: a deploy goes by the names of rules',
      },
    ],
  });
});

test('metrics of a user are of the slice that the push type counts them to, inside and outside', async () => {
  const { app, store, settle } = given();
  await push(app, 0, 'v-2', [EMPLOYEES], { amount: { percent: 30 } });
  await settle();
  const gates = createGatekeeper({ subscribe: (_, onValue) => (onValue(store.value), () => undefined) });
  for (let n = 0; n < 500; n += 1) {
    const user = { id: `u${n}`, employee: true };
    const [unit, slice] = (gates.taskOf(PROJECT, user, SLICES) ?? '').split('/');
    expect([unit, gates.check(PROJECT, user)]).toEqual([EMPLOYEES, Number(slice) < 3]);
  }
});

test('the pipeline of the example goes through its phases, from files to files', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'conveyor-gates-'));
  homes.push(folder);
  cpSync(join(__dirname, '../../examples/push-types/gatekeeper'), folder, { recursive: true });
  const { spec } = parsePipeline(readFileSync(join(folder, 'pipeline.yaml'), 'utf8'));
  const action = spec?.actions['deploy'] as { with: DeploySpec };
  const fleet = new GateFleet({ home: folder, store: filesIn(folder) });
  const app = gatekeeperPushType(fleet, () => Promise.reject(new Error('nobody judges')));
  const using = action.with.config;
  expect(await post(app, 'validateConfig', {}, using)).toEqual({ problems: [] });
  const { units } = (await post(app, 'fetchDeployUnits', {}, using)) as unknown as { units: Unit[] };
  const plan = planDeploy(action.with, units, [], 'on');
  const passes: number[][] = [];
  for (const [at, { scope, amount }] of plan.phases.entries()) {
    const ids = units.filter((unit) => inScope(scope, unit)).map(({ id }) => id);
    const answer = await push(app, at, 'on', ids, { amount: amount }, using);
    expect(answer).toEqual({ accepted: ids });
    while (await fleet.step('checkout'));
    const { rules } = JSON.parse(readFileSync(join(folder, 'gates/checkout.json'), 'utf8')) as Project;
    passes.push(rules.map(({ pass }) => pass));
  }
  expect(passes).toEqual([
    [0.01, 0, 0],
    [0.1, 0, 0],
    [1, 0, 0],
    [1, 0.05, 0],
    [1, 0.05, 0.01],
    [1, 0.05, 0.1],
    [1, 1, 1],
  ]);
});
