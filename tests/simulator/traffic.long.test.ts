import fc from 'fast-check';
import { limitTargets, toTaskCounts, strideBack, strideForward, type Stride } from '../../domain/deploy/lockstep';
import { givenFleet, update, type TestFleet } from '../builders/simulatorFleet';

const DEPLOY = 'deploy/kvstore/2/deploy/1';
const SHARDS = ['kvstore-a', 'kvstore-b'];
const MINUTE = 60_000;
/** Two of ten tasks may be down, so eight carry everything. */
const JOB = { tasks: 10, nSmall: 2, budget: 2 };

let fleet: TestFleet;
let calls = 0;
beforeEach(async () => {
  fleet = givenFleet();
  for (const name of SHARDS) await fleet.job(name, { ...JOB, region: 'x' });
});
afterEach(() => void givenFleet.made.splice(0));

const shift = (percent: number, toVersion = 'kv:2') => {
  const context = { pipeline: 'kvstore', release: 2, deployId: DEPLOY, actor: 'user:alice', config: {} };
  return fleet.twine('shiftTraffic', { context, units: SHARDS, percent, toVersion }, `shift ${(calls += 1)}`);
};

/** Sends an update to all shards, and lets them come up. */
async function push(phase: string, rest: Readonly<Record<string, unknown>>, version = 'kv:2'): Promise<void> {
  const [one, two] = SHARDS.map((unit) => update(`${DEPLOY}/${phase}/1`, unit, version, rest));
  await fleet.twine('executeUpdates', { ...one, targets: [...(one?.targets ?? []), ...(two?.targets ?? [])] });
  fleet.pass(10 * MINUTE);
  await fleet.look('kvstore-a');
}

const to = (count: number) => ({ amount: { count } });
const violations = async () => (await fleet.control('GET', '/violations')) as { invariant: number; text: string }[];
const requests = async (): Promise<number> => {
  const { series } = (await fleet.control('GET', '/metrics?job=kvstore-a&metric=rpc.rate')) as {
    series: { points: [at: number, value: number][] }[];
  };
  const last = Math.max(...series.map(({ points }) => points.at(-1)?.[0] ?? 0));
  const values = series.flatMap(({ points }) => points.filter(([at]) => at === last).map(([, value]) => value));
  return values.reduce((sum, value) => sum + value, 0);
};

describe('the checkers see that requests go where no live task can carry them:', () => {
  test('a completion takes the last old tasks while half of the traffic still goes to them', async () => {
    await shift(0);
    for (const [phase, count] of [2, 4, 5].entries()) {
      await push(`${phase}`, to(count));
      await shift(Math.min(50, count * 12.5));
    }
    expect(await violations()).toEqual([]);
    const before = await requests();
    await push('3', { amount: { all: true } });
    expect((await violations())[0]).toMatchObject({
      invariant: 15,
      text: '50% of kvstore-a goes to what is not kv:2, whose tasks (3) carry 37.5%',
    });
    expect((await requests()) / before).toBeCloseTo(0.5, 1);
  });

  test('a phase takes more old tasks than the traffic that has left them', async () => {
    await shift(0);
    await push('0', to(2));
    await shift(20);
    await push('1', to(6));
    expect((await violations())[0]?.text).toBe('80% of kvstore-a goes to what is not kv:2, whose tasks (6) carry 75%');
  });

  test('a shift leads by more than the new tasks carry', async () => {
    await shift(0);
    await push('0', to(2));
    await shift(25);
    expect(await violations()).toEqual([]);
    await shift(26);
    expect((await violations())[0]?.text).toBe('26% of kvstore-a goes to kv:2, whose tasks (2) carry 25%');
  });

  test('a revert sends everything to an old version that has no task', async () => {
    await shift(0);
    for (const count of [2, 4, 6, 8, 10]) {
      await push(`${count}`, to(count));
      await shift(Math.min(100, count * 12.5));
    }
    expect(await violations()).toEqual([]);
    await shift(0);
    expect((await violations())[0]?.text).toContain(
      '100% of kvstore-a goes to what is not kv:2, whose tasks (0) carry 0%',
    );
    fleet.pass(2 * MINUTE);
    expect(await requests()).toBe(0);
  });

  test('a revert takes new tasks while the traffic still goes to them', async () => {
    await shift(0);
    await push('0', to(2));
    await shift(20);
    await push('revert', { updatedBy: [`${DEPLOY}/0/1`] }, 'kv:1');
    expect((await violations())[0]?.text).toBe('20% of kvstore-a goes to kv:2, whose tasks (1) carry 12.5%');
  });

  test('a first deploy serves from new tasks before any shift of traffic', async () => {
    await push('0', to(2));
    await shift(20);
    expect((await violations())[0]?.text).toBe(`${DEPLOY} updated kvstore-a before it said where the requests go`);
  });
});

test('a deploy is not blamed for what fails beside it, nor for a job that is resized', async () => {
  await shift(0);
  await push('0', to(2));
  await shift(25);
  await fleet.control('POST', '/faults', { kind: 'machine', id: 'x-m0', downMs: MINUTE });
  await push('1', to(4));
  await fleet.control('PATCH', '/jobs/kvstore-a', { tasks: 30 });
  await push('2', to(6));
  const blamed = (await violations()).map(({ text }) => text);
  expect(blamed.filter((text) => text.includes('kvstore-a'))).toEqual([]);
});

test('a deploy that shifts traffic while a job grows is not blamed for the tasks that are still to come up', async () => {
  await shift(0);
  await push('0', to(2));
  await fleet.control('PATCH', '/jobs/kvstore-a', { tasks: 30 });
  await shift(7);
  expect(await violations()).toEqual([]);
});

interface Need {
  readonly id: string;
  readonly size: number;
  readonly outdated: number;
  readonly budget: number;
}

interface Request {
  readonly updateId: string;
  readonly wholeUnit: boolean;
  readonly urgency: 'normal' | 'revert';
  readonly targets: readonly object[];
}

/** A deploy of two shards in lockstep, as Conveyor does it with a push type. */
class Strides {
  private sent = 0;
  readonly updates: string[] = [];

  constructor(private readonly fleet: TestFleet) {}

  async forward(percent: number, isOver: () => boolean): Promise<void> {
    const amount = percent === 100 ? ({ all: true } as const) : { percent };
    const wanted = SHARDS.map((unit) => ({ unit, version: 'kv:2', artifacts: [], amount }));
    for (let isLast = false; !isLast && !isOver();) {
      const stride = strideForward(await this.standing(), amount);
      const targets = limitTargets(wanted, toTaskCounts(stride, percent === 100));
      isLast = stride.isLast;
      const updateId = `${DEPLOY}/0/${(this.sent += 1)}`;
      this.updates.push(updateId);
      await this.perform(
        stride,
        { updateId, wholeUnit: isLast && percent === 100, urgency: 'normal', targets },
        isOver,
      );
    }
  }

  async back(): Promise<void> {
    for (let isLast = false; !isLast;) {
      const wanted = SHARDS.map((unit) => ({ unit, version: 'kv:1', artifacts: [], updatedBy: this.updates }));
      const left = new Map((await this.needs(wanted)).map(({ id, outdated }) => [id, outdated]));
      const units = (await this.standing()).map((unit) => ({ ...unit, left: left.get(unit.id) ?? 0 }));
      const stride = strideBack(units);
      isLast = stride.isLast;
      const updateId = `${DEPLOY}/revert/${(this.sent += 1)}`;
      const targets = limitTargets(wanted, toTaskCounts(stride, true));
      await this.perform(stride, { updateId, wholeUnit: false, urgency: 'revert', targets }, () => false);
    }
  }

  private async needs(targets: readonly object[]): Promise<Need[]> {
    return (await this.fleet.twine('needsPush', { targets })).body.units as unknown as Need[];
  }

  private async standing() {
    const amount = { all: true };
    const needs = await this.needs(SHARDS.map((unit) => ({ unit, version: 'kv:2', artifacts: [], amount })));
    return needs.map((need) => ({ ...need, on: need.size - need.outdated }));
  }

  /** Until it is done, or ended by a command. */
  private async perform(stride: Stride, request: Request, isOver: () => boolean) {
    const context = { pipeline: 'kvstore', release: 2, deployId: DEPLOY, actor: 'user:alice', config: {} };
    const { percent, shifts: units } = stride;
    await this.fleet.twine('shiftTraffic', { context, units, percent, toVersion: 'kv:2' }, `traffic ${this.sent}`);
    if (request.targets.length === 0) return;
    await this.fleet.twine('executeUpdates', { ...request });
    const isDone = async () => {
      const { units: progress } = (await this.fleet.twine('trackUpdates', { updateId: request.updateId })).body;
      return progress.every(({ state }) => state === 'done');
    };
    for (let minutes = 0; !isOver() && !(await isDone()); minutes += 1) {
      expect(minutes).toBeLessThan(600);
      this.fleet.pass(20_000);
    }
    if (isOver()) await this.fleet.twine('cancelUpdates', { updateId: request.updateId }, `cancel ${request.updateId}`);
  }
}

const aJobOf = (tasks: number, nSmall: number) => ({ tasks, nSmall, budget: '10%' as const, hotswap: false });

test('for any units, budgets, reverts and failures, no checker objects', async () => {
  const aJob = fc.record({
    tasks: fc.integer({ min: 2, max: 24 }),
    nSmall: fc.integer({ min: 1, max: 6 }),
    budget: fc.oneof(fc.integer({ min: 1, max: 9 }), fc.constantFrom('10%', '30%')),
    hotswap: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.tuple(aJob, aJob),
      fc.array(fc.integer({ min: 1, max: 99 }), { maxLength: 3 }),
      fc.nat(200),
      fc.option(fc.integer({ min: 0, max: 11 }), { nil: undefined }),
      fc.integer(),
      async (jobs, percents, looks, machine, seed) => {
        fleet = givenFleet({ seed });
        for (const [nth, name] of SHARDS.entries()) await fleet.job(name, { ...jobs[nth], region: 'x' });
        const strides = new Strides(fleet);
        let seen = 0;
        const isOver = (): boolean => (seen += 1) > looks;
        for (const [nth, percent] of [...percents.sort((a, b) => a - b), 100].entries()) {
          if (nth === 1 && machine !== undefined)
            await fleet.control('POST', '/faults', { kind: 'machine', id: `x-m${machine}`, downMs: 10 * MINUTE });
          await strides.forward(percent, isOver);
        }
        await strides.back();
        expect(await violations()).toEqual([]);
        for (const name of SHARDS) expect(Object.keys((await fleet.look(name)).versions)).toEqual(['kv:1']);
      },
    ),
    {
      numRuns: 60,
      examples: [
        // A machine takes a task that is being updated.
        [[aJobOf(2, 1), aJobOf(20, 2)], [16], 5, 2, 0],
        // A machine has the only task of the new version, and others are being swapped.
        [[aJobOf(2, 1), { tasks: 3, nSmall: 2, budget: 2, hotswap: true }], [1], 5, 0, 0],
      ],
    },
  );
});
