import { callExtension, type Fetch } from '../../sdk/client';
import type { RequestInput, ResponseOf } from '../../sdk/protocol/common';
import { pushTypeProtocol, type PushTypeProtocol } from '../../sdk/protocol/pushType';

/** A push type under test, in a world in which nothing moves unless the suite lets time pass. */
export interface PushTypeSubject {
  readonly fetch: Fetch;
  readonly url: string;
  /** The action's config; names `units`. */
  readonly config: Record<string, unknown>;
  /** Two units of at least six tasks each, all on `version`. */
  readonly units: readonly [string, string];
  readonly size: number;
  readonly version: string;
  /** A version whose tasks do not pass their liveness check. */
  readonly deadVersion: string;
  /** Lets time pass until a first task is updated but not yet six are. */
  readonly tick: () => void | Promise<void>;
  /** Lets time pass until nothing is left to do. */
  readonly settle: () => void | Promise<void>;
  /** It gives its units in pages: then it takes an update in several requests, and what holds for all targets once. */
  readonly inPages: boolean;
  /** Adds a task to a unit. */
  readonly grow: (unit: string) => Promise<void>;
}

type Methods = PushTypeProtocol;
type Ask = <M extends keyof Methods & string>(
  method: M,
  request: RequestInput<Methods[M]>,
  key?: string,
) => Promise<ResponseOf<Methods[M]>>;

const UPDATE = 'deploy/kvstore/12/deploy/1/0/1';
const NEXT = 'deploy/kvstore/12/deploy/1/1/1';
const REVERT = 'deploy/kvstore/12/deploy/1/revert/1';
const OTHER = 'deploy/kvstore/13/deploy/1/0/1';

/** What every push type owes (docs/design/protocols.md#push-type, docs/design/deploy.md, ARCHITECTURE.md#invariants). Each test gets a subject of its own. */
export function describePushType(name: string, makeSubject: () => Promise<PushTypeSubject>): void {
  describe(`push type ${name}`, () => {
    let subject: PushTypeSubject;
    let ask: Ask;
    beforeEach(async () => {
      subject = await makeSubject();
      ask = asker(subject);
    });
    const push = (updateId: string, change: Partial<RequestInput<Methods['executeUpdates']>> = {}, key = updateId) => {
      const targets = [target(subject.units[0], 'new:1', { amount: { count: 2 } })];
      return ask('executeUpdates', { updateId, wholeUnit: false, urgency: 'normal', targets, ...change }, key);
    };
    const progress = async (updateId: string) => (await ask('trackUpdates', { updateId })).units[0];
    const outdated = async (unit: string, version: string): Promise<number | undefined> =>
      (await ask('needsPush', { targets: [target(unit, version, { amount: { all: true } })] })).units[0]?.outdated;
    const world = (): World => ({ subject: () => subject, ask: (...args) => ask(...args), push, progress, outdated });
    describeLooking(world());
    describeUpdating(world());
    describeCommands(world());
    describeReverting(world());
    describePages(world());
    describeLockstep(world());
  });
}

interface World {
  readonly subject: () => PushTypeSubject;
  readonly ask: Ask;
  readonly push: (
    updateId: string,
    change?: Partial<RequestInput<Methods['executeUpdates']>>,
    key?: string,
  ) => Promise<{ accepted: string[] }>;
  readonly progress: (updateId: string) => Promise<ResponseOf<Methods['trackUpdates']>['units'][number] | undefined>;
  readonly outdated: (unit: string, version: string) => Promise<number | undefined>;
}

type TargetInput = RequestInput<Methods['executeUpdates']>['targets'][number];
const target = (unit: string, version: string, rest: Partial<TargetInput>): TargetInput => ({
  unit,
  version,
  artifacts: [],
  ...rest,
});

function asker(subject: PushTypeSubject): Ask {
  const context = { pipeline: 'kvstore', release: 12, deployId: 'deploy/kvstore/12/deploy/1', actor: 'user:alice' };
  return (method, request, key) =>
    callExtension({
      service: { name: 'subject', url: subject.url, timeoutMs: 5000 },
      protocol: pushTypeProtocol,
      method,
      request,
      context: { ...context, config: subject.config },
      ...(key === undefined ? {} : { key }),
      fetch: subject.fetch,
    });
}

function describeLooking({ subject, ask, push, outdated }: World): void {
  test('a config that names its units has no problems, and one that names none has', async () => {
    expect((await ask('validateConfig', {})).problems).toEqual([]);
    const broken = asker({ ...subject(), config: {} });
    expect((await broken('validateConfig', {})).problems).not.toEqual([]);
  });

  test('the units are those of the config, with size and version', async () => {
    const { units, service } = await ask('fetchDeployUnits', {});
    expect(service).not.toBe('');
    expect(units.map(({ id }) => id)).toEqual([...subject().units]);
    for (const unit of units)
      expect(unit).toMatchObject({ size: subject().size, version: subject().version, mixed: false, available: true });
  });

  test('a unit on the version needs no push, another needs all its tasks', async () => {
    expect(await outdated(subject().units[0], subject().version)).toBe(0);
    expect(await outdated(subject().units[0], 'new:1')).toBe(subject().size);
  });

  test('looking changes nothing', async () => {
    await ask('validateConfig', {});
    await ask('needsPush', { targets: [target(subject().units[0], 'new:1', { amount: { all: true } })] });
    await subject().settle();
    expect(await outdated(subject().units[0], subject().version)).toBe(0);
  });

  test.each([
    ['an unknown unit', { targets: [target('no-such-unit', 'new:1', { amount: { all: true } })] }],
    ['an amount of 101 %', { targets: [target('any', 'new:1', { amount: { percent: 101 } })] }],
    ['targets that are no list', { targets: 'all' as unknown as [] }],
  ])('%s is refused for good and nothing happens', async (_, change) => {
    await expect(push(UPDATE, change)).rejects.toMatchObject({ code: 'extension-rejected', retryable: false });
    await subject().settle();
    expect(await outdated(subject().units[0], subject().version)).toBe(0);
  });

  test('a call that changes something is refused without a key', async () => {
    const request = { updateId: UPDATE, wholeUnit: false, urgency: 'normal' as const, targets: [] };
    await expect(ask('executeUpdates', request)).rejects.toMatchObject({ code: 'extension-rejected' });
  });

  test('a body that is not JSON is a 400, and an unknown method a 404', async () => {
    const { fetch, url } = subject();
    expect((await fetch(new Request(`${url}/trackUpdates`, { method: 'POST', body: '{' }))).status).toBe(400);
    expect((await fetch(new Request(`${url}/noSuchMethod`, { method: 'POST', body: '{}' }))).status).toBe(404);
  });
}

function describeUpdating({ subject, push, progress, outdated, ask }: World): void {
  test('a partial update brings exactly its tasks to the version', async () => {
    expect(await push(UPDATE)).toEqual({ accepted: [subject().units[0]] });
    await subject().settle();
    expect(await progress(UPDATE)).toMatchObject({ state: 'done', targeted: 2, updated: 2, live: 2, failed: 0 });
    expect(await outdated(subject().units[0], 'new:1')).toBe(subject().size - 2);
    expect(await outdated(subject().units[1], 'new:1')).toBe(subject().size);
  });

  test('amounts are cumulative: tasks on the version count toward the next one', async () => {
    await push(UPDATE);
    await subject().settle();
    await push(NEXT, { targets: [target(subject().units[0], 'new:1', { amount: { count: 5 } })] });
    await subject().settle();
    expect(await progress(NEXT)).toMatchObject({ state: 'done', targeted: 3, live: 3 });
    expect(await outdated(subject().units[0], 'new:1')).toBe(subject().size - 5);
  });

  test('a whole-unit update leaves no task behind, and tasks added later start on its version', async () => {
    await push(UPDATE);
    await subject().settle();
    await push(NEXT, { wholeUnit: true, targets: [target(subject().units[0], 'new:1', { amount: { all: true } })] });
    await subject().settle();
    await subject().grow(subject().units[0]);
    await subject().settle();
    expect(await outdated(subject().units[0], 'new:1')).toBe(0);
    const { units } = await ask('fetchDeployUnits', {});
    expect(units[0]).toMatchObject({ version: 'new:1', mixed: false, size: subject().size + 1 });
    expect(units[1]).toMatchObject({ version: subject().version });
  });

  test('a task added after a partial update starts on the version of the unit', async () => {
    await push(UPDATE);
    await subject().settle();
    await subject().grow(subject().units[0]);
    await subject().settle();
    expect(await outdated(subject().units[0], 'new:1')).toBe(subject().size - 1);
  });

  test('tasks of excluded updates are not touched', async () => {
    await push(UPDATE);
    await subject().settle();
    const all = target(subject().units[0], 'new:2', { amount: { all: true }, exclude: [UPDATE] });
    await push(NEXT, { targets: [all] });
    await subject().settle();
    expect(await outdated(subject().units[0], 'new:2')).toBe(2);
    expect(await outdated(subject().units[0], 'new:1')).toBe(subject().size - 2);
  });

  test('an update that excludes an unfinished one runs beside it, and takes none of its tasks', async () => {
    const [unit] = subject().units;
    await push(UPDATE);
    const beside = target(unit, 'new:2', { amount: { count: 3 }, exclude: [UPDATE] });
    expect(await push(OTHER, { targets: [beside] })).toEqual({ accepted: [unit] });
    await subject().settle();
    expect(await progress(UPDATE)).toMatchObject({ state: 'done', live: 2 });
    expect(await progress(OTHER)).toMatchObject({ state: 'done', live: 3 });
    expect(await outdated(unit, 'new:1')).toBe(subject().size - 2);
    expect(await outdated(unit, 'new:2')).toBe(subject().size - 3);
  });

  test('tasks of excluded updates do not count toward an amount, also when they are on the version', async () => {
    await push(UPDATE);
    await subject().settle();
    const more = target(subject().units[0], 'new:1', { amount: { count: 2 }, exclude: [UPDATE] });
    await push(OTHER, { targets: [more] });
    await subject().settle();
    expect(await outdated(subject().units[0], 'new:1')).toBe(subject().size - 4);
  });

  test('an update is undone beside an unfinished one that excludes it', async () => {
    const [unit] = subject().units;
    await push(UPDATE);
    await subject().settle();
    await push(OTHER, { targets: [target(unit, 'new:2', { amount: { all: true }, exclude: [UPDATE] })] });
    await subject().tick();
    await push(REVERT, { urgency: 'revert', targets: [target(unit, subject().version, { updatedBy: [UPDATE] })] });
    await subject().settle();
    expect(await progress(OTHER)).toMatchObject({ state: 'done', live: subject().size - 2 });
    expect(await outdated(unit, subject().version)).toBe(subject().size - 2);
  });

  test('a replay of a key gets the same answer, and nothing happens twice', async () => {
    const first = await push(UPDATE);
    await subject().settle();
    expect(await push(UPDATE)).toEqual(first);
    expect(await push(UPDATE, {}, 'another key')).toEqual(first);
    await subject().settle();
    expect(await progress(UPDATE)).toMatchObject({ targeted: 2, live: 2 });
    expect(await outdated(subject().units[0], 'new:1')).toBe(subject().size - 2);
  });

  test('a key cannot be used for something else', async () => {
    await push(UPDATE);
    await expect(push(NEXT, {}, UPDATE)).rejects.toMatchObject({ code: 'extension-rejected' });
  });

  test('tasks that do not come up stop the update of their unit, with a reason', async () => {
    await push(UPDATE, { targets: [target(subject().units[0], subject().deadVersion, { amount: { all: true } })] });
    await subject().settle();
    const end = await progress(UPDATE);
    expect(end).toMatchObject({ state: 'failed', live: 0 });
    expect(end?.failed).toBeGreaterThan(0);
    expect(end?.failed).toBeLessThan(subject().size);
    expect(end?.reason).toContain(subject().deadVersion);
  });

  test('a unit with an unfinished update of another deploy is refused, and free when that ended', async () => {
    await push(UPDATE);
    await expect(push(OTHER)).rejects.toMatchObject({ code: 'extension-rejected', retryable: false });
    await subject().settle();
    expect(await push(OTHER)).toEqual({ accepted: [subject().units[0]] });
  });

  test('an update that nobody knows cannot be followed', async () => {
    await expect(progress('deploy/nobody/1/deploy/1/0/1')).rejects.toMatchObject({ code: 'extension-rejected' });
  });
}

function describeCommands({ subject, push, progress, outdated, ask }: World): void {
  const everything = (): Partial<RequestInput<Methods['executeUpdates']>> => ({
    targets: subject().units.map((unit) => target(unit, 'new:1', { amount: { all: true } })),
  });

  test('pause starts no more tasks, those in flight finish, and resume goes on to the end', async () => {
    await push(UPDATE, everything());
    await subject().tick();
    await ask('pauseUpdates', { updateId: UPDATE }, 'pause');
    await subject().settle();
    const paused = await progress(UPDATE);
    expect(paused?.state).toBe('paused');
    expect(paused?.live).toBe(paused?.updated);
    expect(paused?.live).toBeLessThan(subject().size);
    await ask('resumeUpdates', { updateId: UPDATE }, 'resume');
    await subject().settle();
    expect(await progress(UPDATE)).toMatchObject({ state: 'done', live: subject().size });
  });

  test('one unit can be paused by itself', async () => {
    const [first, second] = subject().units;
    await push(UPDATE, everything());
    await ask('pauseUpdates', { updateId: UPDATE, units: [first] }, 'pause');
    await subject().settle();
    const { units } = await ask('trackUpdates', { updateId: UPDATE });
    expect(units.find(({ id }) => id === first)?.state).toBe('paused');
    expect(units.find(({ id }) => id === second)).toMatchObject({ state: 'done', live: subject().size });
  });

  test('cancel ends the update where it is; the unit is free for others', async () => {
    await push(UPDATE, everything());
    await subject().tick();
    await ask('cancelUpdates', { updateId: UPDATE }, 'cancel');
    await subject().settle();
    expect((await progress(UPDATE))?.state).toBe('failed');
    const left = await outdated(subject().units[0], 'new:1');
    expect(left).toBeGreaterThan(0);
    await ask('resumeUpdates', { updateId: UPDATE }, 'resume');
    await subject().settle();
    expect(await outdated(subject().units[0], 'new:1')).toBe(left);
    expect(await push(OTHER)).toEqual({ accepted: [subject().units[0]] });
  });

  test('an update that was cancelled or has ended goes on being reported: what was in flight counts once it is live', async () => {
    await push(UPDATE, everything());
    await subject().tick();
    await ask('cancelUpdates', { updateId: UPDATE }, 'cancel');
    await subject().settle();
    const { targeted = 0, live } = (await progress(UPDATE)) ?? {};
    expect(live).toBe(targeted - ((await outdated(subject().units[0], 'new:1')) ?? 0));
    const second = `${UPDATE}-again`;
    await push(second, everything());
    await subject().settle();
    const ended = await progress(second);
    for (const method of ['pauseUpdates', 'resumeUpdates'] as const)
      expect(await ask(method, { updateId: second }, method)).toEqual({});
    expect(await progress(second)).toEqual(ended);
    expect(ended).toMatchObject({ state: 'done', live: ended?.targeted });
  });

  test('commands may be repeated and may concern an update that never arrived', async () => {
    for (const method of ['pauseUpdates', 'resumeUpdates', 'cancelUpdates'] as const) {
      expect(await ask(method, { updateId: UPDATE }, method)).toEqual({});
      expect(await ask(method, { updateId: UPDATE }, method)).toEqual({});
    }
  });

  test('an update that was cancelled before it arrived never begins', async () => {
    await ask('cancelUpdates', { updateId: UPDATE }, 'cancel');
    await expect(push(UPDATE)).rejects.toMatchObject({ code: 'extension-rejected' });
    await subject().settle();
    expect(await outdated(subject().units[0], subject().version)).toBe(0);
  });
}

function describeReverting({ subject, push, progress, outdated, ask }: World): void {
  const undo = (
    updatedBy: string[],
    version = subject().version,
  ): Partial<RequestInput<Methods['executeUpdates']>> => ({
    urgency: 'revert',
    targets: [target(subject().units[0], version, { updatedBy })],
  });

  test('a revert touches only the tasks of the updates that it names', async () => {
    await push('deploy/kvstore/11/deploy/1/0/1', {
      targets: [target(subject().units[0], 'older:1', { amount: { count: 1 } })],
    });
    await subject().settle();
    const rest = target(subject().units[0], 'new:1', {
      amount: { count: 2 },
      exclude: ['deploy/kvstore/11/deploy/1/0/1'],
    });
    await push(UPDATE, { targets: [rest] });
    await subject().settle();
    await push(REVERT, undo([UPDATE]));
    await subject().settle();
    expect(await progress(REVERT)).toMatchObject({ state: 'done', targeted: 2, live: 2 });
    expect(await outdated(subject().units[0], subject().version)).toBe(1);
    expect(await outdated(subject().units[0], 'older:1')).toBe(subject().size - 1);
  });

  test('a revert of a whole-unit update resets the unit and what inherited its version', async () => {
    await push(UPDATE, { wholeUnit: true, targets: [target(subject().units[0], 'new:1', { amount: { all: true } })] });
    await subject().settle();
    await subject().grow(subject().units[0]);
    await subject().settle();
    await push(REVERT, undo([UPDATE]));
    await subject().grow(subject().units[0]);
    await subject().settle();
    const { units } = await ask('fetchDeployUnits', {});
    expect(units[0]).toMatchObject({ version: subject().version, mixed: false, size: subject().size + 2 });
  });

  test('a revert in the middle of an update ends it and undoes all that it touched', async () => {
    await push(UPDATE, { targets: [target(subject().units[0], 'new:1', { amount: { all: true } })] });
    await subject().tick();
    await push(REVERT, undo([UPDATE]));
    await subject().settle();
    expect(await outdated(subject().units[0], subject().version)).toBe(0);
    expect((await progress(UPDATE))?.state).toBe('failed');
    expect(await progress(REVERT)).toMatchObject({ state: 'done' });
  });

  test('tasks that are down are restarted by the revert', async () => {
    await push(UPDATE, { targets: [target(subject().units[0], subject().deadVersion, { amount: { all: true } })] });
    await subject().settle();
    await push(REVERT, undo([UPDATE]));
    await subject().settle();
    const end = await progress(REVERT);
    expect(end).toMatchObject({ state: 'done', failed: 0 });
    expect(end?.live).toBe(end?.targeted);
    expect(await outdated(subject().units[0], subject().version)).toBe(0);
  });

  test('a second try finds what a failed revert left behind', async () => {
    await push(UPDATE);
    await subject().settle();
    await push(REVERT, undo([UPDATE], subject().deadVersion));
    await subject().settle();
    expect((await progress(REVERT))?.state).toBe('failed');
    const again = 'deploy/kvstore/12/deploy/1/revert/2';
    await push(again, undo([UPDATE]));
    await subject().settle();
    expect((await progress(again))?.state).toBe('done');
    expect(await outdated(subject().units[0], subject().version)).toBe(0);
  });
}

function describePages({ subject, ask, push, progress, outdated }: World): void {
  const [first, second] = [() => subject().units[0], () => subject().units[1]];
  /** Without pages Conveyor asks for none of what follows, and gets all at once. */
  const inPages = (title: string, story: () => Promise<void>): void =>
    test(title, async () => {
      const { units, next } = await ask('fetchDeployUnits', { limit: 1 });
      expect(next === undefined).toBe(!subject().inPages);
      if (subject().inPages) await story();
      else expect(units.map(({ id }) => id)).toEqual([...subject().units]);
    });

  inPages('its units come page by page, each once, and the last page says so', async () => {
    const page = await ask('fetchDeployUnits', { limit: 1 });
    expect(page.units).toHaveLength(1);
    const rest = await ask('fetchDeployUnits', { limit: 1, cursor: page.next ?? '' });
    expect([...page.units, ...rest.units].map(({ id }) => id).sort()).toEqual([...subject().units].sort());
    expect(rest.next).toBeNull();
  });

  inPages('one update comes in several requests, and each unit begins once', async () => {
    const to = (unit: string) => [target(unit, 'new:1', { amount: { count: 2 } })];
    await push(UPDATE, { targets: to(first()) }, 'first');
    expect((await push(UPDATE, { targets: to(second()) }, 'second')).accepted).toEqual([second()]);
    await push(UPDATE, { targets: to(first()) }, 'again');
    await subject().settle();
    const { units } = await ask('trackUpdates', { updateId: UPDATE });
    expect(units.map(({ id, live }) => [id, live])).toEqual([...subject().units].map((id) => [id, 2]));
    expect((await ask('trackUpdates', { updateId: UPDATE, units: [second()] })).units.map(({ id }) => id)).toEqual([
      second(),
    ]);
  });

  inPages('nothing of an update begins that comes after it was cancelled', async () => {
    const to = (unit: string) => [target(unit, 'new:1', { amount: { all: true } })];
    await push(UPDATE, { targets: to(first()) }, 'first');
    await ask('cancelUpdates', { updateId: UPDATE }, 'cancel');
    await expect(push(UPDATE, { targets: to(second()) }, 'second')).rejects.toMatchObject({
      code: 'extension-rejected',
    });
    await subject().settle();
    expect(await outdated(second(), 'new:1')).toBe(subject().size);
  });

  inPages('what holds for all targets is said once', async () => {
    const common = { version: 'new:1', artifacts: [], amount: { count: 2 } };
    await push(UPDATE, { targets: [...subject().units].map((unit) => ({ unit })), common });
    await subject().settle();
    expect(await progress(UPDATE)).toMatchObject({ state: 'done', live: 2 });
    expect((await ask('needsPush', { targets: [{ unit: first() }], common })).units[0]?.outdated).toBe(0);
  });

  test('a revert that names a unit that is not there is refused, and begins nothing', async () => {
    await push(UPDATE);
    await subject().settle();
    const back = (unit: string) => target(unit, subject().version, { updatedBy: [UPDATE] });
    const request = { urgency: 'revert' as const, targets: [back(first()), back('no-such-unit')] };
    await expect(push(REVERT, request)).rejects.toMatchObject({ code: 'extension-rejected' });
    await subject().settle();
    expect(await outdated(first(), 'new:1')).toBe(subject().size - 2);
    await push(`${REVERT}.part`, { urgency: 'revert', targets: [back(first())] });
    await subject().settle();
    expect(await outdated(first(), subject().version)).toBe(0);
  });
}

/** What a push type that shifts traffic owes besides; one that does not has nothing to do here. */
function describeLockstep({ subject, ask, push, progress, outdated }: World): void {
  const shift = (percent: number, units: readonly string[] = subject().units, key = `traffic ${percent}`) =>
    ask('shiftTraffic', { units: [...units], percent, toVersion: 'new:1' }, key).then(
      () => true,
      (error: { code?: string }) => {
        if (error.code === 'extension-lacks-method') return false;
        throw error;
      },
    );

  test('traffic is shifted to a version before any task runs it, and to what is asked for again nothing happens', async () => {
    if (!(await shift(0, [], 'asked'))) return;
    for (const [nth, percent] of [0, 0].entries())
      expect(await shift(percent, subject().units, `traffic ${nth}`)).toBe(true);
    await expect(shift(5, ['no-such-unit'])).rejects.toMatchObject({ code: 'extension-rejected', retryable: false });
    await subject().settle();
    expect(await outdated(subject().units[0], 'new:1')).toBe(subject().size);
  });

  test('whoever shifts traffic says how many tasks of a unit may be unavailable, or nothing', async () => {
    const all = target(subject().units[0], 'new:1', { amount: { all: true } });
    const { budget } = (await ask('needsPush', { targets: [all] })).units[0] ?? {};
    expect(budget ?? 1).toBeGreaterThan(0);
    expect(budget ?? 1).toBeLessThanOrEqual(subject().size);
  });

  test('a revert with an amount takes no more tasks than that, and one without takes the rest', async () => {
    if (!(await shift(0, [], 'asked'))) return;
    const [unit] = subject().units;
    await push(UPDATE, { targets: [target(unit, 'new:1', { amount: { count: 5 } })] });
    await subject().settle();
    const back = (rest: Partial<TargetInput>) => ({
      urgency: 'revert' as const,
      targets: [target(unit, subject().version, { updatedBy: [UPDATE], ...rest })],
    });
    await push(REVERT, back({ amount: { count: 2 } }));
    await subject().settle();
    expect(await progress(REVERT)).toMatchObject({ state: 'done', targeted: 2, live: 2 });
    expect(await outdated(unit, subject().version)).toBe(3);
    const again = 'deploy/kvstore/12/deploy/1/revert/2';
    await push(again, back({}));
    await subject().settle();
    expect(await progress(again)).toMatchObject({ state: 'done', targeted: 3 });
    expect(await outdated(unit, subject().version)).toBe(0);
  });

  test('a revert with an amount begins with the tasks that are down', async () => {
    if (!(await shift(0, [], 'asked'))) return;
    const [unit] = subject().units;
    await push(UPDATE, { targets: [target(unit, subject().deadVersion, { amount: { count: 1 } })] });
    await subject().settle();
    await push(NEXT, { targets: [target(unit, 'new:1', { amount: { count: 3 } })] });
    await subject().settle();
    const amount = { count: 1 };
    const targets = [target(unit, subject().version, { updatedBy: [UPDATE, NEXT], amount })];
    await push(REVERT, { urgency: 'revert', targets });
    await subject().settle();
    expect(await outdated(unit, subject().deadVersion)).toBe(subject().size);
  });
}
