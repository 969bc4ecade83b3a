import { healthServiceProtocol } from '../../sdk/protocol/healthService';
import { pushTypeProtocol } from '../../sdk/protocol/pushType';
import type { Protocol } from '../../sdk/protocol/common';
import { wrongIn } from '../builders/wrongIn';

const MINUTE = 60_000;
const NOW = 1_700_000_000_000;

const progress = (counts: object, more: object = {}) => ({
  ...{ id: 'x', state: 'updating', targeted: 3, updated: 0, live: 0, failed: 0, unreachable: 0, gone: 0 },
  ...counts,
  ...more,
});

describe('the progress of an update', () => {
  const check = (units: object[], request: object = { updateId: 'u' }) =>
    wrongIn(pushTypeProtocol, 'trackUpdates', request, { units });

  test.each<[string, object, string]>([
    ['more live than updated', { live: 3 }, 'units.0.live: 3 is more than updated, 0'],
    ['more live than targeted', { updated: 4, live: 4 }, 'units.0.live: 4 is more than targeted, 3'],
    [
      'a number past all that can be counted',
      { updated: 2 ** 53, live: 2 ** 53, targeted: 2 ** 53 },
      'units.0.targeted: Too big: expected int to be <=9007199254740991 (it is 9007199254740992)',
    ],
    ['fewer than none', { live: -1 }, 'units.0.live: Too small: expected number to be >=0 (it is -1)'],
    ['a fraction', { live: 0.5 }, 'units.0.live: Invalid input: expected int, received number (it is 0.5)'],
  ])('is not believed with %s', async (_, counts, sentence) => {
    expect(await check([progress(counts)])).toContain(sentence);
  });

  test('is not believed with a unit twice, or one that was not asked for', async () => {
    expect(await check([progress({}), progress({})])).toContain('units.1.id: x appears twice');
    const asked = { updateId: 'u', units: ['y'] };
    expect(await check([progress({})], asked)).toContain('units.0.id: x was not asked for');
  });

  test.each<[string, object]>([
    ['tasks that have gone since', { updated: 3, live: 2, gone: 1 }],
    ['tasks that died after their update', { updated: 3, live: 0 }],
    ['tasks that were updated and cannot be reached', { updated: 3, live: 1, unreachable: 2 }],
    ['tasks that run and were tried more than once', { updated: 3, live: 3, failed: 3 }],
    ['tasks that run and were tried more often than there are tasks', { updated: 3, live: 3, failed: 7 }],
    ['tasks that left their old version and were replaced since', { updated: 3, live: 3, gone: 1 }],
    [
      'tasks in flight that came up after it was cancelled',
      { state: 'failed', reason: 'cancelled', updated: 1, live: 1 },
    ],
    ['tasks that a later try took over', { state: 'failed', updated: 0, live: 0 }],
    ['all gone', { gone: 3 }],
    ['nothing to do', { targeted: 0 }],
  ])('is believed with %s', async (_, counts) => {
    expect(await check([progress(counts)])).toBe('');
  });

  test('is believed without some of the units, and of all of them where none was named', async () => {
    expect(await check([progress({}, { id: 'y' })], { updateId: 'u', units: ['x', 'y'] })).toBe('');
    expect(await check([progress({}), progress({}, { id: 'y' })])).toBe('');
  });
});

describe('a removal', () => {
  const track = (counts: object, updateId = 'deploy/kv/2/deploy/1/remove/1') =>
    wrongIn(pushTypeProtocol, 'trackUpdates', { updateId }, { units: [progress(counts)] });
  const remove = (accepted: string[]) =>
    wrongIn(pushTypeProtocol, 'removeUnits', { updateId: 'u', units: ['x', 'y'] }, { accepted });

  test.each<[string, object, string]>([
    ['done before its tasks are gone', { state: 'done', gone: 2 }, 'units.0.gone: 2 of 3 are gone, and it is done'],
    ['done with more tasks gone', { state: 'done', gone: 4 }, 'units.0.gone: 4 of 3 are gone, and it is done'],
    ['bringing tasks up', { updated: 1, live: 1 }, 'units.0.live: 1 in a removal'],
  ])('is not believed to be %s', async (_, counts, sentence) => {
    expect(await track(counts)).toContain(sentence);
  });

  test.each([
    ['done when all of its tasks are gone', { state: 'done', gone: 3 }],
    ['done when it had none', { state: 'done', targeted: 0 }],
    ['under way', { gone: 1 }],
  ])('is believed to be %s', async (_, counts) => {
    expect(await track(counts)).toBe('');
  });

  test('is known by its id: an update of another kind may be done although some of its tasks are gone', async () => {
    const counts = { state: 'done', updated: 2, live: 2, gone: 1 };
    expect(await track(counts, 'deploy/kv/2/deploy/1/0/1')).toBe('');
    expect(await track(counts, 'deploy/kv/2/remove/1/0/1')).toBe('');
  });

  test.each<[string, string[], string]>([
    ['twice', ['x', 'y', 'x'], 'accepted.2: x appears twice'],
    ['that was not asked for', ['x', 'y', 'z'], 'accepted.2: z was not asked for'],
  ])('is not believed to be accepted of a unit %s', async (_, accepted, sentence) => {
    expect(await remove(accepted)).toContain(sentence);
  });

  test('is not believed to be accepted of some units alone', async () => {
    expect(await remove(['x'])).toContain('accepted: y is missing');
    expect(await remove(['y', 'x'])).toBe('');
  });
});

describe('outdated tasks', () => {
  const targets = [{ unit: 'x', version: 'kv:2', artifacts: [] }];
  const check = (units: object[]) => wrongIn(pushTypeProtocol, 'needsPush', { targets }, { units });

  test.each<[string, object[], string]>([
    [
      'fewer than none',
      [{ id: 'x', size: 3, outdated: -1 }],
      'units.0.outdated: Too small: expected number to be >=0 (it is -1)',
    ],
    ['a unit that was not asked for', [{ id: 'y', size: 3, outdated: 0 }], 'units.0.id: y was not asked for'],
    ['a unit twice', ['x', 'x'].map((id) => ({ id, size: 3, outdated: 0 })), 'units.1.id: x appears twice'],
  ])('is not believed with %s', async (_, units, sentence) => {
    expect(await check(units)).toContain(sentence);
  });

  test('is believed as it is', async () => {
    expect(await check([{ id: 'x', size: 3, outdated: 3, down: 3 }])).toBe('');
    // Some of them are on their way to the version beside those that they replace.
    expect(await check([{ id: 'x', size: 3, outdated: 4 }])).toBe('');
    expect(await check([])).toBe('');
  });
});

test('a unit that is listed twice on a page is not believed', async () => {
  const unit = { id: 'x', labels: {}, size: 1, version: null, mixed: false, available: true };
  const page = (units: object[]) =>
    wrongIn(pushTypeProtocol, 'fetchDeployUnits', {}, { service: 'kv', units, next: null });
  expect(await page([unit, unit])).toContain('units.1.id: x appears twice');
  expect(await page([unit])).toBe('');
});

describe.each<[string, Protocol, string, object]>([
  ['a push type', pushTypeProtocol, 'runHealthChecks', { units: ['x', 'y'], updatedBy: [] }],
  ['the Health Check Service', healthServiceProtocol, 'evaluate', [{ id: 'x' }, { id: 'y' }]],
])('the health that %s reports', (_, protocol, method, targets) => {
  const request = { targets, checks: [{ name: 'errors' }], baseline: { start: 0, end: 1 }, now: NOW };
  const evidence = (window: object = { start: NOW - MINUTE, end: NOW }, more: object = {}) => ({
    ...{ name: 'errors', verdict: 'healthy', observed: 0, reference: null, threshold: 1 },
    ...{ samples: 3, tasks: 1, reason: '', window, ...more },
  });
  const check = (units: object[], deploy: object[] = []) =>
    wrongIn(protocol, method, request, { units, deploy: { checks: deploy } });

  test.each<[string, object[], object[], string]>([
    ['a unit that is no target', [{ id: 'z', checks: [] }], [], 'units.0.id: z was not asked for'],
    ['a unit twice', ['x', 'x'].map((id) => ({ id, checks: [] })), [], 'units.1.id: x appears twice'],
    [
      'a check twice',
      [{ id: 'x', checks: [evidence(), evidence()] }],
      [],
      'units.0.checks.1.name: errors appears twice',
    ],
    [
      'a check that nobody asked for',
      [],
      [evidence(undefined, { name: 'cpu' })],
      'deploy.checks.0.name: cpu was not asked for',
    ],
    ['evidence of the future', [], [evidence({ start: NOW, end: NOW + 60 * MINUTE })], 'deploy.checks.0.window.end'],
    [
      'a window that ends before it starts',
      [],
      [evidence({ start: NOW, end: NOW - 1 })],
      'deploy.checks.0.window.start',
    ],
    ['fewer samples than none', [], [evidence(undefined, { samples: -1 })], 'expected number to be >=0 (it is -1)'],
    [
      'tasks that had some samples, and none of them',
      [{ id: 'x', checks: [evidence(undefined, { samples: 0 })] }],
      [],
      'units.0.checks.0.samples: 0 of 1 task that had some',
    ],
    ['samples of no task', [], [evidence(undefined, { tasks: 0 })], 'deploy.checks.0.tasks: 0 gave 3 samples'],
  ])('is not believed with %s', async (__, units, deploy, sentence) => {
    expect(await check(units, deploy)).toContain(sentence);
  });

  test('is believed in part, with a clock that is a little ahead, and with windows of their own', async () => {
    const ahead = evidence({ start: NOW - 60 * MINUTE, end: NOW + 5 * MINUTE });
    expect(await check([{ id: 'y', checks: [ahead] }])).toBe('');
    expect(await check([{ id: 'x', checks: [] }], [evidence({ start: 0, end: NOW - 24 * 60 * MINUTE })])).toBe('');
    expect(await check([{ id: 'x', checks: [evidence({ start: NOW, end: NOW })] }])).toBe('');
  });

  test('is read where it rests on nothing and says so: it then decides nothing', async () => {
    expect(await check([{ id: 'x', checks: [evidence(undefined, { samples: 0, tasks: 0 })] }])).toBe('');
  });

  test.each(['inconclusive', 'errored'])(
    'is believed without a window where it decides nothing: %s',
    async (verdict) => {
      for (const window of [
        { start: 0, end: 0 },
        { start: NOW, end: 0 },
      ])
        expect(await check([{ id: 'x', checks: [evidence(window, { verdict })] }])).toBe('');
    },
  );
});
