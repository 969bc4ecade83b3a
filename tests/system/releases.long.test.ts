import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { BacktestReport } from '../../render/backtest';
import type { StatisticsReport } from '../../render/statistics';
import type { Backtest } from '../../domain/health/backtest';
import { workflowIds } from '../../domain/ids';
import type { DeployStatus, OfferList, PipelineOffers, PlanView, ReleaseStatus, WishCheck } from '../../domain/views';
import type { PipelineSource } from '../../domain/spec/pipeline';
import { given, PATIENT } from './service';
import { Stack } from './stack';
import { eventually } from './waiting';

let stack: Stack;
beforeAll(async () => {
  // The remains of a terminated release are gone before that.
  stack = await Stack.open({ settings: { waitInterval: '1s' } });
});
afterAll(() => stack.close());

const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const HEALTHY = {
  check: 'errors',
  verdict: 'healthy',
  observed: expect.any(Number),
  recent: expect.any(Array),
  reference: null,
  threshold: 0.05,
  samples: expect.any(Number),
  reason: expect.any(String),
};

test('the end of a terminated release is on record at once: its pipeline looks only once an hour, and is sent the news', async () => {
  const shop = await given(stack, PATIENT);
  await shop.ships(2);
  await shop.isIn(1, 'baking');
  await stack.temporal.workflow.getHandle(workflowIds.release(shop.name, 1)).terminate('a test');
  expect(await shop.ended(1)).toMatchObject({ state: 'failed' });
});

describe('a good version', () => {
  test('goes from apply to the whole fleet with three commands, and release --wait says so with exit code 0', async () => {
    const shop = await given(stack);
    const { code, stdout } = await stack.conveyor([
      'release',
      shop.name,
      '-a',
      `executable=${shop.version(2)}`,
      '--wait',
    ]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining(`${shop.name}/1`) });
    expect(await shop.runs()).toEqual({ 2: 12 });
    expect((await shop.fleet()).map((job) => job.jobVersion)).toEqual([shop.version(2), shop.version(2)]);
    expect(await stack.json<ReleaseStatus>(['status', `${shop.name}/1`])).toEqual(
      releaseOf(shop.name, shop.version(2)),
    );
    expect(await stack.json<DeployStatus>(['status', `${shop.name}/1/deploy`])).toEqual(
      deployOf(shop.name, shop.version(2)),
    );
  });

  test('that was built from a source takes what the build made to the fleet', async () => {
    const built: Partial<PipelineSource> = {
      artifacts: { source: { finder: 'manual' } },
      actions: {
        build: { type: 'build', inputs: ['source'], outputs: ['executable'], with: { target: '//shop' } },
      },
    };
    const shop = await given(stack, { deploy: { phases: [] } });
    const whole = await given(stack, {
      jobsOf: shop,
      pipeline: { ...built, actions: { ...built.actions, deploy: deployAction(shop.jobs) } },
    });
    const { code } = await stack.conveyor(['release', whole.name, '-a', 'source=77', '--wait']);
    expect(code).toBe(0);
    const { actions } = await whole.release(1);
    expect(actions.map(({ name, state }) => [name, state])).toEqual([
      ['build', 'succeeded'],
      ['deploy', 'succeeded'],
    ]);
    const { version } = await whole.deploy(1);
    expect(version).toContain('77');
    expect((await whole.fleet()).map((job) => job.versions)).toEqual([{ [version]: 6 }, { [version]: 6 }]);
  });

  test('released twice with one idempotency key is one release', async () => {
    const shop = await given(stack, { deploy: { healthChecks: [] } });
    const twice = ['release', shop.name, '-a', `executable=${shop.version(2)}`, '--idempotency-key', 'build-7'];
    const [first, second] = [await stack.json(twice), await stack.json(twice)];
    expect(first).toMatchObject({ id: `${shop.name}/1`, duplicate: false });
    expect(second).toMatchObject({ id: `${shop.name}/1`, duplicate: true });
    expect(await shop.ended(1)).toMatchObject({ state: 'succeeded' });
  });
});

describe('a bad version', () => {
  test('is reverted automatically, stays known as bad, and may ship again only after a person says so', async () => {
    const shop = await given(stack);
    await shop.behaves(2, { errorRatio: 0.5 });
    const { code, stderr } = await stack.conveyor(['watch', await shop.ships(2)]);
    expect({ code, stderr }).toEqual({ code: 3, stderr: '' });
    const deploy = await stack.json<DeployStatus>(['status', `${shop.name}/1/deploy`]);
    expect(deploy).toMatchObject({ outcome: 'reverted', classification: 'good-failure', revert: { by: 'health' } });
    expect(deploy.health).toContainEqual(expect.objectContaining({ check: 'errors', verdict: 'unhealthy' }));
    expect(deploy.phases.map(({ state }) => state)).toEqual(['reverted', 'waiting']);
    expect(await shop.runs()).toEqual({ 1: 12 });

    const again = ['release', shop.name, '-a', `executable=${shop.version(2)}`];
    const refused = await stack.conveyor([...again, '-o', 'json']);
    expect({ code: refused.code, ...(JSON.parse(refused.stdout) as object) }).toMatchObject({
      code: 1,
      error: { code: 'known-bad', hint: expect.stringContaining(`allow-artifact ${shop.name}`) },
    });
    await shop.behaves(2, {});
    const allow = ['allow-artifact', shop.name, `executable@${shop.version(2)}`, '--reason', 'it was the test data'];
    expect(await stack.conveyor(allow)).toMatchObject({ code: 0 });
    expect(await stack.conveyor([...again, '--wait'])).toMatchObject({ code: 0 });
    expect(await shop.runs()).toEqual({ 2: 12 });
  });
});

test('an offer is planned with, listed and shown with its user, and a file that would wish for another version does not fit', async () => {
  const [net, app] = ['net', 'app'].map((name) => `${name}-${randomBytes(4).toString('hex')}`) as [string, string];
  const offers = [{ name: 'place', version: '1.2.0', value: { job: `${app}-x` } }];
  const wishing = (version: string): Partial<PipelineSource> => ({ wishes: [{ from: net, offer: 'place', version }] });
  const network = await given(stack, { name: net, pipeline: { offers } });
  const deploy = { config: { jobs: [`\${wishes.${net}.place.job}`] } };
  const shop = await given(stack, { name: app, deploy, pipeline: wishing('^1') });
  expect(await stack.conveyor(['plan', shop.file])).toMatchObject({
    stderr: expect.stringContaining(`${net} has not offered place yet`),
  });
  for (const one of [network, shop])
    await stack.conveyor(['release', one.name, '-a', `executable=${one.version(2)}`, '--wait']);

  const { phases, wishes } = await stack.json<PlanView>(['plan', shop.file]);
  expect(wishes).toMatchObject([{ from: net, state: 'satisfied', version: '1.2.0', why: null }]);
  expect(phases.at(-1)?.units).toMatchObject([{ id: `${app}-x` }]);
  const listed = await eventually('visibility lists the offer', async () => {
    const list = await stack.json<OfferList>(['offers', 'list', '--to', app, '--limit', '1000']);
    return list.offers.find(({ pipeline }) => pipeline === net);
  });
  expect(listed).toMatchObject({ id: `${net}/place`, state: 'made', version: '1.2.0', release: 1, users: 1 });
  const shown = await stack.json<PipelineOffers>(['offers', 'show', net]);
  expect(shown.offers).toMatchObject([
    {
      ...{ name: 'place', value: { job: `${app}-x` }, action: 'deploy' },
      users: [{ user: `${app}/deploy`, behind: false, pins: [{ release: 1, range: '^1', parts: ['job'] }] }],
    },
  ]);

  const excerpts = join(stack.home, 'excerpts');
  mkdirSync(excerpts);
  expect(await stack.conveyor(['offers', 'export', net, '-o', join(excerpts, 'net.json')])).toMatchObject({ code: 0 });
  expect(await stack.json(['offers', 'check', shop.file, '--excerpts', excerpts])).toMatchObject({
    wishes: [{ verdict: 'fits' }],
  });
  const file = stack.file('next.yaml', { ...shop.source, ...wishing('^2') });
  const checked = await stack.conveyor(['offers', 'check', file, '--excerpts', excerpts, '-o', 'json']);
  const refused: Partial<WishCheck> = {
    verdict: 'does-not-fit',
    why: `${net} offers place 1.2.0, but the wish is for ^2`,
  };
  expect([checked.code, JSON.parse(checked.stdout)]).toMatchObject([3, { wishes: [refused] }]);
});

describe('the deployed versions', () => {
  test('shows how a health check would have done, by command line and by service, and counts in the statistics', async () => {
    const shop = await given(stack);
    await shop.behaves(3, { errorRatio: 0.5 });
    await stack.conveyor(['release', shop.name, '-a', `executable=${shop.version(2)}`, '--wait']);
    await stack.conveyor(['release', shop.name, '-a', `executable=${shop.version(3)}`, '--wait']);
    const results = (backtest: Backtest) => backtest.tried.map(({ id, result }) => [id, result]);
    const expected = [
      [`${shop.name}/2/deploy`, 'found'],
      [`${shop.name}/1/deploy`, 'passed'],
    ];
    const { actions } = await stack.json<BacktestReport>(['health', 'backtest', shop.file, '--since', '1h']);
    expect(actions.map(({ checks }) => checks.map(results))).toEqual([[expected]]);

    const hcs = stack.start(['hcs', '--port', '0']);
    const [url = ''] = await hcs.said(/http:\S+/);
    const check = { name: 'errors', metric: 'rpc.error_ratio', threshold: { above: 0.9 }, lookback: '1s' };
    const request = { check, since: '1h', pipeline: shop.name };
    const answer = await fetch(`${url}/backtest`, { method: 'POST', body: JSON.stringify(request) });
    const tried = (await answer.json()) as Backtest;
    // Its own checks had stopped it before this one could give a verdict.
    expect(results(tried)).toEqual([[`${shop.name}/2/deploy`, 'cut-short'], expected[1]]);
    hcs.kill('SIGTERM');

    const { pipelines } = await stack.json<StatisticsReport>(['health', 'statistics', shop.name]);
    expect(pipelines).toMatchObject([{ falsePositives: { count: 0, of: 2 }, falseNegatives: { count: 0, of: 1 } }]);
  });
});

const deployAction = (jobs: readonly string[]): PipelineSource['actions'][string] => ({
  type: 'deploy',
  inputs: ['executable'],
  with: { pushType: 'twine', config: { jobs: [...jobs] }, phases: [{ scope: '*', amount: 2, bake: '0s' }] },
});

/** `status RELEASE -o json` of a successful release, in full (docs/reference/cli.md#a-release). */
const releaseOf = (name: string, version: string): object => ({
  id: `${name}/1`,
  kind: 'release',
  pipeline: name,
  number: 1,
  state: 'succeeded',
  cause: null,
  trigger: { kind: 'manual', actor: 'user:alice', key: null },
  startedAt: TIME,
  endedAt: TIME,
  artifacts: [{ name: 'executable', kind: 'executable', version, metadata: {} }],
  actions: [
    {
      name: 'deploy',
      type: 'deploy',
      state: 'succeeded',
      attempt: 1,
      blockedBy: null,
      until: null,
      startedAt: TIME,
      endedAt: TIME,
      deploy: `${name}/1/deploy`,
      needs: [],
      progress: null,
      attempts: 1,
      pickBy: null,
      message: `every unit runs ${version}`,
    },
  ],
  children: null,
  commands: [],
  timeline: expect.arrayContaining([{ at: TIME, kind: 'action-succeeded', text: expect.any(String) }]),
  webUi: expect.stringMatching(new RegExp(`/namespaces/default/workflows/release%2F${name}%2F1$`)),
});

/** `status DEPLOY -o json` of a successful deploy, in full (docs/reference/cli.md#a-deploy). */
const deployOf = (name: string, version: string): object => ({
  id: `${name}/1/deploy`,
  kind: 'deploy',
  state: 'ended',
  outcome: 'succeeded',
  classification: 'success',
  progress: null,
  blockedBy: null,
  until: null,
  version,
  pushType: 'twine',
  attempt: 1,
  paused: null,
  pattern: 'super-linear',
  pausedGroups: [],
  startedAt: TIME,
  endedAt: TIME,
  summary: `every unit runs ${version}`,
  updates: [`deploy/${name}/1/deploy/1/0/1`, `deploy/${name}/1/deploy/1/1/1`],
  planned: {
    tasks: 12,
    phases: [
      { share: 0.25, bakeMs: expect.any(Number) },
      { share: 1, bakeMs: expect.any(Number) },
    ],
  },
  phases: [
    phaseOf(0, 'first', 'region:x', '3', [[`${name}-x`, 3]]),
    phaseOf(1, 'completion', '*', '100%', [
      [`${name}-x`, 3],
      [`${name}-y`, 6],
    ]),
  ],
  health: [
    { unit: `${name}-x`, ...HEALTHY },
    { unit: `${name}-y`, ...HEALTHY },
  ],
  commands: [],
  timeline: expect.arrayContaining([{ at: TIME, kind: 'phase-started', text: 'phase first begins' }]),
  spans: Object.fromEntries(
    ['lockWait', 'windowWait', 'paused', 'dependencyWait', 'pre', 'update', 'bake', 'post', 'revert', 'overhead'].map(
      (span) => [`${span}Ms`, expect.any(Number)],
    ),
  ),
  revert: null,
  next: expect.any(Array),
  webUi: expect.stringMatching(new RegExp(`/namespaces/default/workflows/deploy%2F${name}%2F1%2Fdeploy%2F1$`)),
});

const phaseOf = (index: number, name: string, scope: string, amount: string, units: [string, number][]) => ({
  index,
  name,
  scope,
  amount,
  state: 'succeeded',
  totals: { units: units.length, ...everywhere(sum(units)) },
  units: units.map(([id, count]) => ({ id, ...everywhere(count) })),
  startedAt: TIME,
  updatedAt: TIME,
  bakedAt: TIME,
  bakeUntil: null,
  skipped: null,
});

const everywhere = (tasks: number) => ({ targeted: tasks, updated: tasks, live: tasks });
const sum = (units: readonly [string, number][]): number => units.reduce((total, [, count]) => total + count, 0);
