import type { DeployInput, DeployResult } from '../../domain/deploy/state';
import { DEFAULT_SETTINGS } from '../../domain/settings';
import { deploying, type LoneDeploy } from './deploys';
import { FaultWorld, PROTOCOLS, type Service, type Trouble } from './faultWorld';
import { CALM, flow } from './flows';
import { HOUR, MINUTE } from './world';

export interface Mode {
  /** The faults of each method. */
  readonly trouble: Trouble | null;
  /** Garbage is not an outage: a person resumes a deploy that stopped because of it, or starts it again. */
  readonly minded?: true;
  /** The fault lasts: tasks start slowly, so a phase still runs when the fault ends, and looks are rarer. */
  readonly lasts?: true;
}

/** The promises to users under any fault: the same outcome, and no effect twice. */
export function describeFaults(title: string, mode: Mode): void {
  describe(title, () => {
    const teller = new Teller(mode);
    beforeAll(() => teller.open());
    afterAll(() => teller.close());

    test('a deploy that is paused, resumed and loses a phase updates every task once', () => teller.tell(deploys));
    if (!mode.lasts)
      test('a bad version is reverted, and no task is restarted more often than that takes', () =>
        teller.tell(reverts));
    test('one run of an action service succeeds, none is left over, and one that is cancelled stops', () =>
      teller.tell(runsActions));
    test('an artifact that a finder found makes one release', () => teller.tell(sweeps));
    test('an undeploy removes every task, and each removal takes place once', () => teller.tell(removes));
    if (mode.trouble !== null)
      test('all of that happened to every method of every protocol', () =>
        teller.tell((faults) => expect(faults.spared()).toEqual([])));
  });
}

type Story = (faults: FaultWorld, mode: Mode) => void | Promise<void>;

/** Plays stories one after the other in one world; after a story that did not end, in a new world, from the first. */
class Teller {
  private faults: FaultWorld | undefined;
  private told: Story[] = [];

  constructor(private readonly mode: Mode) {}

  async open(): Promise<void> {
    const { trouble, lasts } = this.mode;
    const faults = await FaultWorld.open(lasts ? 2 * HOUR : 4 * MINUTE);
    for (const service of Object.keys(PROTOCOLS) as Service[]) await faults.breaks(trouble, service);
    this.faults = faults;
  }

  async close(): Promise<void> {
    await this.faults?.world.close();
  }

  async tell(story: Story): Promise<void> {
    const faults = this.faults ?? (await this.again());
    this.faults = undefined;
    try {
      await story(faults, this.mode);
    } catch (error) {
      await faults.world.close().catch(() => undefined);
      throw error;
    }
    this.faults = faults;
    this.told.push(story);
  }

  private async again(): Promise<FaultWorld> {
    const before = this.told;
    this.told = [];
    try {
      await this.open();
      for (const story of before) await this.tell(story);
      return this.faults!;
    } finally {
      this.told = before;
    }
  }
}

/** A deploy under these faults, and the person who looks after it. */
class Push {
  constructor(
    private readonly faults: FaultWorld,
    private readonly mode: Mode,
    private deploy: LoneDeploy,
  ) {}

  static async begin(
    faults: FaultWorld,
    mode: Mode,
    { release, ...more }: Pick<DeployInput, 'release' | 'removal'>,
    deploy: object = {},
  ): Promise<Push> {
    const settings = { ...DEFAULT_SETTINGS, heartbeatTimeoutMs: HOUR, trackIntervalMs: everyMs(mode) };
    const spec = { healthInterval: '5m', completion: { bake: '10m', updateTimeout: '24h' }, ...deploy } as const;
    const begin = () => deploying(faults.world, { release, settings, ...more }, spec);
    const push = new Push(faults, mode, await begin());
    const isPlanned = async () => (await push.deploy.status()).phases.length > 0;
    for (;;) {
      await push.until('it is planned, or cannot be', async () => (await isPlanned()) || push.hasEnded());
      if (await isPlanned()) return push;
      expect(await push.deploy.ended()).toMatchObject({ outcome: 'failed', classification: 'bad-failure' });
      push.deploy = await begin();
    }
  }

  /** Lets time pass. A person resumes a refused deploy, even while tasks are in flight. */
  until(what: string, holds: () => Promise<boolean> | boolean): Promise<void> {
    const { world } = this.faults;
    const mindedly = async () => {
      const { paused } = await this.deploy.status();
      if (this.mode.minded && paused?.by === 'dependency') await this.deploy.command('resume').catch(() => undefined);
      return holds();
    };
    return world.until(what, mindedly, { stepMs: everyMs(this.mode), withinMs: 72 * HOUR });
  }

  async pauseAndResume(): Promise<void> {
    await this.deploy.command('pause');
    await this.until('the updates pause', () => this.faults.effects('twine', 'pauseUpdates').length > 0);
    // Unless the person who looks after it has already resumed it.
    await this.deploy.command('resume').catch(() => undefined);
    await this.until('the updates continue', () => this.faults.effects('twine', 'resumeUpdates').length > 0);
    await this.until('it continues', async () => (await this.deploy.status()).paused === null);
  }

  skipPhase(): Promise<unknown> {
    return this.deploy.command('skip-phase');
  }

  async ended(): Promise<DeployResult> {
    await this.until('it ended', () => this.hasEnded());
    return this.deploy.ended();
  }

  private async hasEnded(): Promise<boolean> {
    return (await this.deploy.status()).state === 'ended';
  }
}

const everyMs = ({ lasts }: Mode): number => (lasts ? 10 * MINUTE : MINUTE);

const UPDATED = {
  'kvstore-x': { versions: { 'kv:2': 6 }, jobVersion: 'kv:2' },
  'kvstore-y': { versions: { 'kv:2': 3 }, jobVersion: 'kv:2' },
};

async function deploys(faults: FaultWorld, mode: Mode): Promise<void> {
  const pace = { bake: '10m', updateTimeout: '24h' };
  const phases = [
    { name: 'some', scope: '*', amount: 1, ...pace },
    { name: 'most', scope: 'region:x', amount: 5, ...pace },
  ];
  const push = await Push.begin(faults, mode, { release: 2 }, { lockstep: true, phases });
  // The first call only asked whether it is supported.
  await faults.breaks(mode.trouble, 'twine', ['shiftTraffic']);
  const updated = async () => (await faults.world.jobs())[0]?.versions['kv:2'] ?? 0;
  await push.until('most are under way', async () => (await updated()) > 1);
  await push.pauseAndResume();
  await push.skipPhase();
  expect(await push.ended()).toMatchObject({ outcome: 'succeeded', classification: 'success' });
  expect(await faults.jobs()).toEqual(UPDATED);
  expect(await faults.starts()).toEqual(Array.from({ length: 9 }, () => 2));
  // If the answer to an update was garbage, another update brings what it left out.
  for (const method of ['executeUpdates', 'shiftTraffic']) {
    const keys = faults.effects('twine', method).map(({ key }) => key);
    expect(keys.length).toBeGreaterThan(2);
    expect(new Set(keys).size).toBe(keys.length);
  }
}

async function reverts(faults: FaultWorld, mode: Mode): Promise<void> {
  const methods = ['needsPush', 'executeUpdates', 'trackUpdates', 'cancelUpdates', 'runHealthChecks'];
  await faults.world.describeVersion('kv:3', { errorRatio: 0.3, afterMs: 2 * MINUTE });
  await faults.breaks(mode.trouble, 'twine', methods);
  const phases = [{ name: 'some', scope: '*', amount: 2, bake: '20m' }];
  const push = await Push.begin(faults, mode, { release: 3 }, { phases });
  expect(await push.ended()).toMatchObject({ outcome: 'reverted', classification: 'good-failure' });
  expect(await faults.jobs()).toEqual(UPDATED);
  expect((await faults.starts()).sort()).toEqual([2, 2, 2, 2, 2, 4, 4, 4, 4]);
}

async function runsActions({ world }: FaultWorld): Promise<void> {
  const { runs } = world.simulator.simulation.state;
  const states = () => [...runs.values()].map(({ state }) => state);
  const start = async (pipeline: string, samples: number): Promise<void> => {
    const profile = {
      ...{ type: 'custom' as const, inputs: ['executable'], outputs: ['profile'] },
      retry: { attempts: 3, backoff: '1s' },
      with: { service: 'profile', samples, jobs: ['kvstore-x', 'kvstore-y'] },
    };
    await world.apply(flow({ profile }, { pipeline }), CALM);
    await world.release(pipeline, 'kv:2');
  };
  await start('profiled', 5);
  expect(await world.ended('profiled', 1)).toMatchObject({ state: 'succeeded' });
  await start('unwanted', 1_000_000);
  await world.until('it runs', () => Promise.resolve(states().includes('running')));
  // Between two looks: the test server forgets an activity that fails and will be retried at the moment when it is asked to cancel.
  await world.sleep(1.5 * MINUTE);
  await world.command('release/unwanted/1', 'cancel');
  expect(await world.ended('unwanted', 1)).toMatchObject({ state: 'cancelled' });
  expect(states().filter((state) => state === 'succeeded')).toHaveLength(1);
  expect(states()).not.toContain('running');
}

async function sweeps({ world }: FaultWorld): Promise<void> {
  const commits = { repository: 'kv', branch: 'main' };
  const tested = { type: 'custom' as const, inputs: ['source'], with: { service: 'slow' } };
  await world.apply(
    flow({ tested }, { pipeline: 'found', artifacts: { source: { finder: 'commits', with: commits } } }),
  );
  await world.control('POST', '/control/commits', { ...commits, revision: 'c1' });
  // Like its Schedule: another sweep after each that ended, in any way.
  for (const nth of [1, 2, 3]) {
    const sweep = await world.client.workflow.start('artifactSweep', {
      ...{ workflowId: `sweep/${nth}`, taskQueue: world.taskQueue },
      args: [{ finder: 'commits', heartbeatTimeoutMs: HOUR }],
    });
    const isOver = async () => (await sweep.describe()).status.name !== 'RUNNING';
    await world.until('the sweep is over', isOver, { stepMs: MINUTE });
  }
  expect(await world.ended('found', 1)).toMatchObject({ state: 'succeeded' });
  await expect(world.releaseStatus('found', 2)).rejects.toThrow('not found');
}

async function removes(faults: FaultWorld, mode: Mode): Promise<void> {
  await faults.breaks(mode.trouble, 'twine', ['fetchDeployUnits', 'trackUpdates']);
  const push = await Push.begin(faults, mode, { release: 4, removal: true });
  expect(await push.ended()).toMatchObject({ outcome: 'succeeded', reason: 'every unit is removed' });
  expect(Object.values(await faults.jobs())).toMatchObject([{ versions: {} }, { versions: {} }]);
  const keys = faults.effects('twine', 'removeUnits').map(({ key }) => key);
  expect(keys.length).toBeGreaterThan(0);
  expect(new Set(keys).size).toBe(keys.length);
}
