import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ScheduleOverlapPolicy } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils';
import { freePorts } from '../../cli/stack/ports';
import { serverView } from '../../client/live';
import { sweepId, workflowIds } from '../../domain/ids';
import { Family } from '../system/family';
import { Processes } from '../system/process';
import { startTemporal, startTemporalWithShortHistories } from '../system/server';
import { given, type Given, type Service } from '../system/service';
import { OWNER, Stack } from '../system/stack';
import { eventually } from '../system/waiting';
import { HISTORIES, withoutMachine, type Recorded } from './histories';
import { recordAcross, recordAcrossMany, recordEarly } from './recordAcross';
import { recordBugs } from './recordBugs';
import { recordDeploys, recordLarge } from './recordDeploy';
import { recordExamination } from './recordExamination';
import { HASTY, recordFreshness } from './recordFreshness';
import { recordGarbled, recordPages } from './recordGarbled';
import { recordKept } from './recordKept';
import { recordLabels } from './recordLabels';
import { recordLateLook } from './recordLateLook';
import { recordLanding, recordLandingContinued, withRepository } from './recordLanding';
import { recordModel, recordRerun } from './recordModel';
import { recordActionWish, recordBrokenOffers, recordOffers, recordOverride, recordUndeploy } from './recordOffers';
import { recordReverts } from './recordReverts';
import { recordSignOut } from './recordSignOut';
import { recordWaitsForCanary } from './recordWaitsForCanary';

/**
 * Records the histories that replay.test.ts replays, from real runs on real servers. By hand, when there is a new kind of
 * run, after `npm run build`:
 *   CONVEYOR_TEST_TEMPORAL_CLI=$(./temporal-dev.sh --install-only) npx jiti tests/replay/record.ts [fan-out|together|held|paused-shown|refused|sweeps|model|rerun|deploys|large|continued|landing|bugs|late-look|canary|freshness|across|across-many|early|reverts|examination|kept|offers|garbled|override|broken-offers|undeploy|sign-out|pages|action-wish|labels]
 * What was recorded once is kept as it is for ever: a file that exists is never written again.
 */
const PATIENT: Given['deploy'] = {
  phases: [
    { name: 'first', scope: 'region:x', amount: 2, bake: '1h' },
    { name: 'half', scope: '*', amount: '50%', bake: '1h' },
  ],
  completion: { bake: '1s' },
};

type Scenario = (shop: Service) => Promise<void>;

const say = async (shop: Service, ...command: readonly string[]): Promise<void> => {
  await shop.stack.json([...command, '--reason', 'to record a history']);
};

const baking = (shop: Service, phase: number) =>
  shop.reaches(1, `bakes phase ${phase}`, ({ phases }) => Boolean(phases[phase]?.bakeUntil));

/** Ships version 2 and gives commands while the first phase bakes. */
const inBake =
  (...commands: readonly string[]): Scenario =>
  async (shop) => {
    await shop.ships(2);
    await baking(shop, 0);
    for (const command of commands) await say(shop, command, `${shop.name}/1/deploy`);
  };

/** … and lets it end after that. */
const through =
  (scenario: Scenario, phases: readonly number[]): Scenario =>
  async (shop) => {
    await scenario(shop);
    for (const phase of phases) {
      await baking(shop, phase);
      await say(shop, 'skip-bake', `${shop.name}/1/deploy`);
    }
    await shop.ended(1);
  };

interface Recording {
  readonly given?: Given;
  readonly play: Scenario;
  /** The release and the pipeline look as in other scenarios. */
  readonly onlyDeploy?: true;
}

/** A release that is paused with its deploy, whose states show that in Temporal's lists. */
const PAUSED_SHOWN: Recording = {
  play: through(
    async (shop) => {
      await inBake()(shop);
      const release = shop.stack.temporal.workflow.getHandle(workflowIds.release(shop.name, 1));
      await release.signal('pause', { actor: OWNER, reason: 'because' });
      await shop.reaches(1, 'is paused', ({ paused }) => paused !== null);
      await say(shop, 'resume', `${shop.name}/1`);
    },
    [0, 1],
  ),
};

/** The count of the second phase is refused once, and a person resumes. */
const REFUSED: Recording = {
  onlyDeploy: true,
  play: through(
    async (shop) => {
      await inBake()(shop);
      const fault = { kind: 'http', service: 'twine', method: 'needsPush', mode: 'garbage', count: 1 };
      await shop.stack.control('POST', '/control/faults', fault);
      await say(shop, 'skip-bake', `${shop.name}/1/deploy`);
      await shop.reaches(1, 'is refused', ({ paused }) => paused?.until === 'resumed');
      await say(shop, 'resume', `${shop.name}/1/deploy`);
    },
    [1],
  ),
};

const SCENARIOS: Readonly<Record<string, Recording>> = {
  good: { given: {}, play: through((shop) => shop.ships(2).then(() => undefined), []) },
  reverted: {
    given: {},
    play: async (shop) => {
      await shop.behaves(2, { errorRatio: 0.5 });
      await shop.ships(2);
      await shop.ended(1);
    },
  },
  baking: { play: inBake() },
  paused: { onlyDeploy: true, play: inBake('pause') },
  resumed: { onlyDeploy: true, play: through(inBake('pause', 'resume'), [0, 1]) },
  'paused-shown': PAUSED_SHOWN,
  refused: REFUSED,
  'skipped-phase': { onlyDeploy: true, play: through(inBake('skip-phase'), [1]) },
  'skipped-bake': { onlyDeploy: true, play: through(inBake('skip-bake'), [1]) },
  'skipped-check': { onlyDeploy: true, play: through(inBake('skip-health-check'), [0, 1]) },
  cancelled: { play: through(inBake('cancel'), []) },
  'reverted-by-person': { play: through(inBake('revert'), []) },
  'worker-killed': {
    onlyDeploy: true,
    play: async (shop) => {
      await inBake()(shop);
      await shop.stack.crashWorker();
      await through(() => Promise.resolve(), [0, 1])(shop);
    },
  },
  outage: {
    onlyDeploy: true,
    given: {},
    play: async (shop) => {
      const fault = { kind: 'http', service: 'twine', method: 'trackUpdates', mode: 'error', count: 3 };
      await shop.stack.control('POST', '/control/faults', fault);
      await shop.ships(2);
      await shop.ended(1);
    },
  },
};

async function record(stack: Stack, name: string, scenario: Recording): Promise<void> {
  const shop = await given(stack, { name: `shop-${name}`, ...(scenario.given ?? { deploy: PATIENT ?? {} }) });
  await scenario.play(shop);
  await save(stack, `deploy-${name}`, shop.deployWorkflow(1));
  if (scenario.onlyDeploy) return;
  await save(stack, `release-${name}`, workflowIds.release(shop.name, 1));
  await save(stack, `pipeline-${name}`, workflowIds.pipeline(shop.name));
}

/** A pipeline whose state is a search attribute, which changes as it is held. */
async function recordHeld(stack: Stack): Promise<void> {
  const shop = await given(stack, { name: 'shop-held', deploy: { phases: [], completion: { bake: '0s' } } });
  for (const command of ['hold', 'unhold']) await say(shop, command, shop.name);
  await shop.ships(2);
  await shop.ended(1);
  await say(shop, 'freeze', shop.name);
  await save(stack, 'pipeline-held', workflowIds.pipeline(shop.name));
}

/** A release that ended is undone by another. */
async function recordRollback(stack: Stack): Promise<void> {
  const shop = await given(stack, { name: 'shop-rollback', deploy: { phases: [], completion: { bake: '0s' } } });
  for (const n of [2, 3]) {
    await shop.ships(n);
    await shop.ended(n - 1);
  }
  await say(shop, 'revert', `${shop.name}/2`);
  await shop.ended(3);
  await save(stack, 'deploy-rollback', shop.deployWorkflow(3));
  await save(stack, 'release-rollback', workflowIds.release(shop.name, 3));
  await save(stack, 'pipeline-rollback', workflowIds.pipeline(shop.name));
}

/** Two pipelines want one service. */
async function recordLock(stack: Stack): Promise<void> {
  const first = await given(stack, { name: 'shop-first', deploy: PATIENT ?? {} });
  const second = await given(stack, { name: 'shop-second', jobsOf: first, deploy: { phases: [] } });
  await inBake()(first);
  await second.ships(3);
  await second.isIn(1, 'waiting-lock');
  await save(stack, 'lock-contended', workflowIds.serviceLock('twine', first.name));
  await save(stack, 'deploy-waiting', second.deployWorkflow(1));
  await say(first, 'cancel', `${first.name}/1`);
  await second.ended(1);
  await eventually('the lock is over', async () => {
    const lock = stack.temporal.workflow.getHandle(workflowIds.serviceLock('twine', first.name));
    return (await lock.describe()).status.name === 'COMPLETED';
  });
  await save(stack, 'lock-passed-on', workflowIds.serviceLock('twine', first.name));
}

/** Ten children of which two go first, and one that there is not; where histories are short, shards continue as new. */
const recordFanOut =
  (name: string, pace = { maxConcurrent: 2, jitter: '1s' }) =>
  async (stack: Stack): Promise<void> => {
    const family = new Family(stack, 10, name);
    const first = { label: { importance: 'low' }, atLeast: 2 };
    const pipelines = [...family.children, `${name}-missing`];
    await family.settle({ pipelines, first, ...pace });
    await family.release('2');
    await family.ended();
    await save(stack, `fan-out-${name}`, family.fanOut);
    for (const shard of [0, 1]) await save(stack, `shard-${shard}-${name}`, workflowIds.childrenShard(name, 1, shard));
    await save(stack, `release-${name}`, workflowIds.release(name, 1));
  };

/** Children that are due at the same moment, and one that says at the same moment to its parent and to its pipeline that it has ended. */
async function recordTogether(stack: Stack): Promise<void> {
  const name = 'together-family';
  await recordFanOut(name, { maxConcurrent: 6, jitter: '0s' })(stack);
  const [child = ''] = new Family(stack, 10, name).children;
  await save(stack, 'release-child-together', workflowIds.release(child, 1));
}

/** A finder is asked again and again, until a person pauses its Schedule; what ended after one sweep was recorded before. */
async function recordSweeps(stack: Stack): Promise<void> {
  const artifacts = { executable: { finder: 'tagged-executables', with: { package: 'shop-swept', tag: 'live' } } };
  const shop = await given(stack, { name: 'shop-swept', pipeline: { artifacts }, deploy: { phases: [] } });
  await stack.control('POST', '/control/builds', { version: shop.version(2), tag: 'live' });
  const schedule = stack.temporal.schedule.getHandle(sweepId('tagged-executables'));
  await schedule.trigger(ScheduleOverlapPolicy.SKIP);
  const sweep = await eventually('the finder was asked', async () => {
    const { info } = await schedule.describe();
    const handle = stack.temporal.workflow.getHandle(info.recentActions.at(-1)?.action.workflow.workflowId ?? '');
    return (await serverView(handle)).pending[0]?.stage === 'waits' && handle;
  });
  await schedule.pause('to record a history');
  await sweep.result();
  await save(stack, 'sweep-lasting', sweep.workflowId);
}

async function save(stack: Stack, name: string, workflowId: string): Promise<void> {
  const file = join(HISTORIES, `${name}.json`);
  if (existsSync(file)) return void console.log(`kept     ${name}`);
  const history = await stack.temporal.workflow.getHandle(workflowId).fetchHistory();
  const { events } = withoutMachine(JSON.parse(historyToJSON(history))) as Recorded;
  writeFileSync(file, `{"events":[\n${events.map((event) => JSON.stringify(event)).join(',\n')}\n]}\n`);
  console.log(`recorded ${name}`);
}

/** A deploy and a pipeline whose histories begin in the middle of their lives. */
async function recordContinued(stack: Stack): Promise<void> {
  const shop = await given(stack, { name: 'shop-continued', deploy: { ...PATIENT, completion: { bake: '0s' } } });
  await through(inBake('skip-bake'), [1])(shop);
  await save(stack, 'deploy-continued', shop.deployWorkflow(1));
  await save(stack, 'pipeline-continued', workflowIds.pipeline(shop.name));
}

async function recordAll(stack: Stack, folder: string): Promise<void> {
  for (const [name, scenario] of Object.entries(SCENARIOS)) await record(stack, name, scenario);
  await recordHeld(stack);
  await recordRollback(stack);
  await recordLock(stack);
  await recordFanOut('family')(stack);
  await recordTogether(stack);
  await recordSweeps(stack);
  await recordModel(stack, save);
  await recordRerun(stack, save);
  await recordDeploys(stack, save);
  await recordLanding(stack, save, folder);
  await recordBugs(stack, save);
  await recordLateLook(stack, save);
  await recordWaitsForCanary(stack, save);
  await recordFreshness(stack, save);
  await recordAcross(stack, save);
  await recordAcrossMany(stack, save);
  await recordEarly(stack, save);
  await recordReverts(stack, save);
  await recordExamination(stack, save);
  await recordKept(stack, save);
  await recordOffers(stack, save);
  await recordGarbled(stack, save);
  await recordUndeploy(stack, save);
  await recordOverride(stack, save);
  await recordBrokenOffers(stack, save);
  await recordSignOut(stack, save);
  await recordPages(stack, save);
  await recordActionWish(stack, save);
  await recordLabels(stack, save);
}

async function recordAllContinued(stack: Stack, folder: string): Promise<void> {
  await recordContinued(stack);
  await recordFanOut('continued-family')(stack);
  await recordLandingContinued(stack, save, folder);
}

type Play = (stack: Stack, folder: string) => Promise<void>;

/** Scenarios that can be recorded by themselves. */
const PARTS: Readonly<Record<string, Play>> = {
  'fan-out': recordFanOut('family'),
  together: recordTogether,
  held: recordHeld,
  'paused-shown': (stack) => record(stack, 'paused-shown', PAUSED_SHOWN),
  refused: (stack) => record(stack, 'refused', REFUSED),
  sweeps: recordSweeps,
  model: (stack) => recordModel(stack, save),
  rerun: (stack) => recordRerun(stack, save),
  deploys: (stack) => recordDeploys(stack, save),
  large: (stack) => recordLarge(stack, save),
  landing: (stack, folder) => recordLanding(stack, save, folder),
  bugs: (stack) => recordBugs(stack, save),
  'late-look': (stack) => recordLateLook(stack, save),
  canary: (stack) => recordWaitsForCanary(stack, save),
  freshness: (stack) => recordFreshness(stack, save),
  across: (stack) => recordAcross(stack, save),
  'across-many': (stack) => recordAcrossMany(stack, save),
  early: (stack) => recordEarly(stack, save),
  reverts: (stack) => recordReverts(stack, save),
  examination: (stack) => recordExamination(stack, save),
  'sign-out': (stack) => recordSignOut(stack, save),
  pages: (stack) => recordPages(stack, save),
  'action-wish': (stack) => recordActionWish(stack, save),
  labels: (stack) => recordLabels(stack, save),
  kept: (stack) => recordKept(stack, save),
  offers: (stack) => recordOffers(stack, save),
  garbled: (stack) => recordGarbled(stack, save),
  undeploy: (stack) => recordUndeploy(stack, save),
  override: (stack) => recordOverride(stack, save),
  'broken-offers': (stack) => recordBrokenOffers(stack, save),
};

/** Among these, those with short histories. */
const CONTINUED: Readonly<Record<string, Play>> = {
  'fan-out': recordFanOut('continued-family'),
  continued: recordAllContinued,
  landing: (stack, folder) => recordLandingContinued(stack, save, folder),
};

async function main(): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), 'conveyor-record-'));
  const processes = new Processes();
  const [port = 0] = await freePorts(1);
  try {
    await startTemporal(processes, { home, port, data: 'memory' });
    const only = process.argv[2];
    const some = only === undefined ? recordAll : PARTS[only];
    if (some) await withStack(`127.0.0.1:${port}`, some);
    const continued = only === undefined ? recordAllContinued : CONTINUED[only];
    if (continued) await withStack(await startTemporalWithShortHistories(processes, home), continued);
  } finally {
    await processes.reap();
    rmSync(home, { recursive: true, force: true });
  }
}

async function withStack(temporal: string, work: Play): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'conveyor-record-'));
  const { config, env } = withRepository(folder);
  const stack = await Stack.open({ temporal, env, config: { ...config, ...HASTY.config } });
  try {
    await work(stack, folder);
  } finally {
    await stack.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
