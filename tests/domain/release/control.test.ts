import { excessOfCommand } from '../../../domain/excess';
import { RELEASE_FREE, takeRelease, whyNotRelease } from '../../../domain/release/control';
import {
  newRelease,
  retryAction,
  getActionStates,
  withAction,
  type ReleaseControl,
  type ReleaseRecord,
} from '../../../domain/release/state';
import { nextActions } from '../../../domain/release/nextActions';
import { offerOverridden } from '../../../domain/release/overrideOffer';
import { windowSkipped } from '../../../domain/release/skipWindow';
import { DEFAULT_SETTINGS } from '../../../domain/settings';
import { pipelineSchema, type PipelineSource } from '../../../domain/spec/pipeline';
import type { ReleaseVerb } from '../../../domain/verbs';
import type { ActionState } from '../../../domain/views';
import { manual, NOW } from '../../builders/pipelineWorld';

type Actions = Record<string, Partial<Omit<Extract<PipelineSource['actions'][string], { type: 'build' }>, 'type'>>>;
const specOf = (actions: Actions) =>
  pipelineSchema.parse({
    pipeline: 'kvstore',
    owners: ['user:alice'],
    actions: Object.fromEntries(Object.entries(actions).map(([name, more]) => [name, { type: 'build', ...more }])),
  });

/** A release whose actions stand so. */
const recordOf = (states: Record<string, ActionState>, actions: Actions = {}): ReleaseRecord => {
  const all = { ...Object.fromEntries(Object.keys(states).map((name) => [name, {}])), ...actions };
  const input = { number: 1, spec: specOf(all), artifacts: [], previous: [], trigger: manual(), lastGood: {} };
  const policy = { owners: ['user:alice'], groups: {} };
  return Object.entries(states).reduce(
    (record, [name, state]) => withAction(record, name, { state, attempt: 2 }),
    newRelease({ ...input, policy, settings: DEFAULT_SETTINGS }, NOW),
  );
};
const atPick = withAction(recordOf({ approve: 'blocked', deploy: 'waiting' }), 'approve', { pickBy: ['user:alice'] });
const approved: ReleaseControl = takeRelease(RELEASE_FREE, 'pick', {
  ...{ action: 'approve', approve: true, actor: 'user:alice', reason: '' },
});

describe('why a release does not take', () => {
  const yes = { action: 'approve', approve: true };
  test.each<[string, ReleaseVerb, object, ReleaseRecord, ReleaseControl, string | undefined]>([
    ['a pick that waits: it takes it', 'pick', yes, atPick, RELEASE_FREE, undefined],
    ['a rejection: it takes it', 'pick', { ...yes, approve: false }, atPick, RELEASE_FREE, undefined],
    ['a pick while it is paused: it takes it', 'pick', yes, atPick, { ...RELEASE_FREE, paused: true }, undefined],
    [
      'a pick of nothing',
      'pick',
      { approve: true },
      atPick,
      RELEASE_FREE,
      'a pick needs an action and approve: true or false',
    ],
    [
      'a pick that decides nothing',
      'pick',
      { action: 'approve' },
      atPick,
      RELEASE_FREE,
      'a pick needs an action and approve: true or false',
    ],
    [
      'a pick of what it does not have',
      'pick',
      { ...yes, action: 'sign' },
      atPick,
      RELEASE_FREE,
      'it has no action sign',
    ],
    [
      'a pick of what waits for nobody',
      'pick',
      { ...yes, action: 'deploy' },
      atPick,
      RELEASE_FREE,
      'deploy does not wait for a person (it is waiting)',
    ],
    [
      'a second pick of the same',
      'pick',
      { ...yes, approve: false },
      atPick,
      approved,
      'user:alice has already approved approve',
    ],
    [
      'a pick of one that was cancelled',
      'pick',
      yes,
      atPick,
      takeRelease(RELEASE_FREE, 'cancel', { actor: 'user:bob' }),
      'user:bob has already cancelled it',
    ],
    [
      'a retry of what failed: it takes it',
      'retry',
      { action: 'test' },
      recordOf({ test: 'failed', other: 'running' }),
      RELEASE_FREE,
      undefined,
    ],
    [
      'a retry of nothing',
      'retry',
      {},
      recordOf({ test: 'failed', other: 'running' }),
      RELEASE_FREE,
      'a retry needs an action',
    ],
    [
      'a retry of what it does not have',
      'retry',
      { action: 'x' },
      recordOf({ test: 'running' }),
      RELEASE_FREE,
      'it has no action x',
    ],
    [
      'a retry of what succeeded',
      'retry',
      { action: 'test' },
      recordOf({ test: 'succeeded', other: 'running' }),
      RELEASE_FREE,
      'test has not failed (it is succeeded)',
    ],
    [
      'a retry of what was cancelled',
      'retry',
      { action: 'test' },
      recordOf({ test: 'cancelled', other: 'running' }),
      RELEASE_FREE,
      'test has not failed (it is cancelled)',
    ],
    [
      'a retry once all has ended',
      'retry',
      { action: 'test' },
      recordOf({ test: 'failed' }),
      RELEASE_FREE,
      'it has ended',
    ],
    [
      'a retry of one that was reverted',
      'retry',
      { action: 'test' },
      recordOf({ test: 'failed', other: 'running' }),
      takeRelease(RELEASE_FREE, 'revert', { actor: 'user:bob' }),
      'user:bob has already reverted it',
    ],
  ])('%s', (_, verb, input, record, control, why) => expect(whyNotRelease(control, record, verb, input)).toBe(why));

  test('retrying a pick asks the person anew', () => {
    const rejected = takeRelease(RELEASE_FREE, 'pick', { action: 'approve', approve: false, actor: 'user:alice' });
    const asked = takeRelease(rejected, 'retry', { action: 'approve' });
    expect(whyNotRelease(asked, atPick, 'pick', yes)).toBeUndefined();
  });
  test('retrying another action leaves the pick as it was', () =>
    expect(takeRelease(approved, 'retry', { action: 'deploy' }).picks).toEqual(approved.picks));
  test('a freeze forbids no verb: who froze waits, and people may still decide', () => {
    const frozen = { actor: 'user:bob', at: '', reason: 'holidays' };
    expect(whyNotRelease({ ...RELEASE_FREE, frozen }, atPick, 'pick', yes)).toBeUndefined();
  });
});

describe('retrying an action', () => {
  const actions: Actions = {
    test: {},
    other: {},
    deploy: { needs: ['test'] },
    publish: { needs: ['deploy'] },
    alarm: { needs: ['test'], runIf: 'failure' },
    tidy: { needs: ['publish'], runIf: 'always' },
    aside: { needs: ['other'] },
  };
  const spec = specOf(actions);
  const before = recordOf(
    {
      test: 'failed',
      other: 'running',
      deploy: 'skipped',
      publish: 'skipped',
      alarm: 'succeeded',
      tidy: 'succeeded',
      aside: 'waiting',
    },
    actions,
  );
  const after = retryAction(before, spec, 'test');

  test('opens it and what was skipped because of it, near and far, and nothing else', () =>
    expect(getActionStates(after)).toEqual({
      ...{ test: 'waiting', other: 'running', deploy: 'waiting', publish: 'waiting' },
      ...{ alarm: 'succeeded', tidy: 'succeeded', aside: 'waiting' },
    }));
  test('gives it a fresh attempt, of which nothing is known yet', () => {
    expect(after.actions['test']).toMatchObject({ attempt: 3, startedAt: null, endedAt: null, message: null });
    expect(after.actions['deploy']).toMatchObject({ attempt: 1, message: null });
  });
  test('starts it, and only it, at once', () => {
    const states = getActionStates(after);
    expect(nextActions({ spec, states, artifacts: [], previous: [] })).toEqual([{ kind: 'start', action: 'test' }]);
  });
  test('decides what was skipped anew once it has ended', () => {
    const states = { ...getActionStates(after), test: 'succeeded' as const };
    expect(nextActions({ spec, states, artifacts: [], previous: [] })).toEqual([{ kind: 'start', action: 'deploy' }]);
  });
  test('leaves alone what another failure skipped', () => {
    const two: Actions = { a: {}, b: {}, c: { needs: ['b'] }, d: {} };
    const record = recordOf({ a: 'failed', b: 'failed', c: 'skipped', d: 'running' }, two);
    expect(getActionStates(retryAction(record, specOf(two), 'a'))).toMatchObject({ b: 'failed', c: 'skipped' });
  });
});

describe('going past a window', () => {
  const blocked = recordOf({ test: 'blocked', pack: 'blocked', deploy: 'running' });
  const atWindow = (name: string, record = blocked) => withAction(record, name, { window: 'closed' });
  const skips = (record: ReleaseRecord, action?: string) =>
    whyNotRelease(RELEASE_FREE, record, 'skip-window', action === undefined ? {} : { action });

  test('is for what waits for its window, by name or all of it, and for nothing else', () => {
    expect(skips(atWindow('test'), 'test')).toBeUndefined();
    expect(skips(atWindow('test'))).toBeUndefined();
    expect(skips(withAction(blocked, 'deploy', { deploying: true }))).toBeUndefined();
    expect(skips(blocked)).toBe('none of its actions waits for its window or soaks');
    expect(skips(atWindow('test'), 'pack')).toBe('pack does not wait for its window, nor does it soak (it is blocked)');
    expect(skips(atWindow('test'), 'sign')).toBe('it has no action sign');
    expect(skips(withAction(blocked, 'test', { soak: 'waiting' }), 'test')).toBeUndefined();
  });

  test('lets those that wait continue, which a new attempt does not inherit', () => {
    const both = atWindow('pack', atWindow('test'));
    const windows = ({ actions }: ReleaseRecord) => [actions['test']?.window, actions['pack']?.window];
    expect(windows(windowSkipped(both, {}))).toEqual(['skipped', 'skipped']);
    expect(windows(windowSkipped(both, { action: 'pack' }))).toEqual(['closed', 'skipped']);
    expect(windows(windowSkipped(blocked, {}))).toEqual([undefined, undefined]);
    expect(
      windows(retryAction(windowSkipped(both, {}), specOf({ test: {}, pack: {}, deploy: {} }), 'test'))[0],
    ).toBeNull();
  });
});

describe('letting a deploy begin although its offers do not fit their users', () => {
  const blockedBy = 'waiting for other pipelines: net has not offered place yet';
  const blocked = withAction(recordOf({ deploy: 'blocked', test: 'running' }), 'deploy', { blockedBy });
  const users = [{ offer: 'vpc', user: 'shop/deploy', why: 'wishes for ^1' }];
  const waiting = withAction(blocked, 'deploy', { unfit: { users, more: 0 } });
  const unmet = { from: 'net', offer: 'place', range: null, state: 'waiting', version: null, seq: null } as const;
  const whyNot = (record: ReleaseRecord, action?: string) =>
    whyNotRelease(RELEASE_FREE, record, 'override-offer', action === undefined ? {} : { action });
  const overridden = offerOverridden(waiting, { action: 'deploy', actor: 'user:bob', reason: 'attack' }, 'at');

  test('is for a deploy that waits for its users, once', () => {
    expect(whyNot(waiting, 'deploy')).toBeUndefined();
    expect(whyNot(overridden, 'deploy')).toBe('user:bob has already overridden it');
    expect(overridden.actions['deploy']?.override).toEqual({ actor: 'user:bob', at: 'at', reason: 'attack' });
  });

  test('is refused to all others, with the reason', () => {
    expect(whyNot(waiting)).toBe('it needs a deploy as release/action');
    expect(whyNot(waiting, 'sign')).toBe('it has no action sign');
    expect(whyNot(waiting, 'test')).toBe('test does not wait for users of its offers (it is running)');
    expect(whyNot(recordOf({ deploy: 'succeeded' }), 'deploy')).toBe('it has ended');
  });

  test('gives no deploy the value that it wishes for', () =>
    expect(whyNot(withAction(blocked, 'deploy', { wishes: [unmet] }), 'deploy')).toBe(
      `deploy lacks a value that only another pipeline can offer (${blockedBy}): release that pipeline, or change the wish, apply it and release again`,
    ));

  test('counts for one attempt: a retry waits for the users again', () => {
    const failed = withAction(overridden, 'deploy', { state: 'failed', unfit: null });
    const again = retryAction(failed, specOf({ deploy: {}, test: {} }), 'deploy');
    expect(again.actions['deploy']).toMatchObject({ state: 'waiting', override: null, unfit: null });
    expect(whyNot(withAction(again, 'deploy', { unfit: { users, more: 0 } }), 'deploy')).toBeUndefined();
  });
});

test('the groups that come with an approval are texts no longer than an actor, whatever a signal holds', () => {
  const given = (...vouched: unknown[]) => ({ action: 'approve', approve: true, vouched: vouched as string[] });
  expect(excessOfCommand(given('group:sre', `group:${'x'.repeat(1000)}`))).toBeDefined();
  const { approvals } = takeRelease(RELEASE_FREE, 'pick', given('group:sre', { fat: 'x'.repeat(1_000_000) }));
  expect(approvals['approve']).toMatchObject([{ vouched: ['group:sre'] }]);
});

test('a revert keeps the rule that permitted it, for the rollback that may follow', () => {
  const { ending } = takeRelease(RELEASE_FREE, 'revert', { actor: 'user:root', permitted: 'platform.admins' });
  expect(ending).toEqual({ actor: 'user:root', reason: '', revert: true, notBad: false, permitted: 'platform.admins' });
  const { ending: owner } = takeRelease(RELEASE_FREE, 'revert', { actor: 'user:alice', notBad: true });
  expect(owner).toEqual({ actor: 'user:alice', reason: '', revert: true, notBad: true });
});
