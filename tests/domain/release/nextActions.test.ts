import { RELEASE_FREE, takeRelease, whyNotRelease } from '../../../domain/release/control';
import {
  log,
  newRelease,
  releaseState,
  rollbackSpec,
  withAction,
  type ReleaseControl,
  type ReleaseInput,
  type ReleaseRecord,
} from '../../../domain/release/state';
import { nextActions } from '../../../domain/release/nextActions';
import { releaseStatus } from '../../../domain/release/view';
import { DEFAULT_SETTINGS } from '../../../domain/settings';
import { pipelineSchema, type PipelineSource, type PipelineSpec } from '../../../domain/spec/pipeline';
import { RELEASE_VERBS, type ReleaseVerb } from '../../../domain/verbs';
import type { ActionState, ReleaseCause } from '../../../domain/views';
import { artifact, deployed, manual, NOW } from '../../builders/pipelineWorld';

type Action = Partial<Omit<Extract<PipelineSource['actions'][string], { type: 'build' }>, 'type'>>;
type States = Record<string, ActionState>;
const specOf = (actions: Record<string, Action>): PipelineSpec =>
  pipelineSchema.parse({
    pipeline: 'kvstore',
    owners: ['user:alice'],
    actions: Object.fromEntries(Object.entries(actions).map(([name, action]) => [name, { type: 'build', ...action }])),
  });
const next = (
  actions: Record<string, Action>,
  states: States,
  artifacts = [artifact('kv:2')],
  previous = [artifact('kv:1')],
) =>
  nextActions({ spec: specOf(actions), states, artifacts, previous }).map((decision) =>
    decision.kind === 'start' ? `start ${decision.action}` : `skip ${decision.action}: ${decision.reason}`,
  );

describe('possible next actions', () => {
  const chain = { build: {}, test: { needs: ['build'] } };
  const diamond = (last: Action) => ({ a: {}, b: {}, last: { needs: ['a', 'b'], ...last } });
  const cleanup = (runIf: 'failure' | 'always') => ({ deploy: {}, cleanup: { needs: ['deploy'], runIf } });
  test.each<[string, Record<string, Action>, States, string[]]>([
    ['what needs nothing starts', chain, {}, ['start build']],
    ['nothing starts twice', chain, { build: 'running' }, []],
    ['a blocked action runs already', chain, { build: 'blocked' }, []],
    ['what was needed succeeded', chain, { build: 'succeeded' }, ['start test']],
    ['what was needed failed', chain, { build: 'failed' }, ['skip test: it needs build, which failed']],
    ['a needed action was skipped', chain, { build: 'skipped' }, ['skip test: it needs build, which was skipped']],
    [
      'a needed action was cancelled',
      chain,
      { build: 'cancelled' },
      ['skip test: it needs build, which was cancelled'],
    ],
    ['all have ended', chain, { build: 'succeeded', test: 'succeeded' }, []],
    ['two start together', diamond({}), {}, ['start a', 'start b']],
    ['one of two is missing', diamond({}), { a: 'succeeded', b: 'running' }, []],
    ['one of two failed', diamond({}), { a: 'succeeded', b: 'failed' }, ['skip last: it needs b, which failed']],
    ['any: one of two failed', diamond({ join: 'any' }), { a: 'succeeded', b: 'failed' }, ['start last']],
    ['any: one of two still runs', diamond({ join: 'any' }), { a: 'succeeded', b: 'running' }, []],
    [
      'any: both failed',
      diamond({ join: 'any' }),
      { a: 'failed', b: 'skipped' },
      ['skip last: none of what it needs succeeded'],
    ],
    ['on failure, and it failed', cleanup('failure'), { deploy: 'failed' }, ['start cleanup']],
    [
      'on failure, and it succeeded',
      cleanup('failure'),
      { deploy: 'succeeded' },
      ['skip cleanup: nothing that it needs failed'],
    ],
    ['always, and it was skipped', cleanup('always'), { deploy: 'skipped' }, ['start cleanup']],
    ['always, but not before it ended', cleanup('always'), { deploy: 'running' }, []],
    [
      'who makes an input is needed too',
      { image: { outputs: ['image'] }, ship: { inputs: ['image'] } },
      {},
      ['start image'],
    ],
  ])('%s', (_, actions, states, decisions) => expect(next(actions, states)).toEqual(decisions));

  const when = (clause: NonNullable<Action['when']>[number]) => ({
    canary: {},
    deploy: { needs: ['canary'], join: 'any' as const, when: [clause] },
    go: {},
  });
  const starts = (clause: NonNullable<Action['when']>[number], states: States = {}) =>
    next(when(clause), { canary: 'succeeded', ...states }).some((line) => line === 'start deploy');
  test.each<[string, boolean, boolean]>([
    ['a version that is listed', starts({ artifact: 'executable', field: 'version', in: ['kv:2'] }), true],
    ['a version that is not', starts({ artifact: 'executable', field: 'version', in: ['kv:3'] }), false],
    [
      'a field that the artifact does not have',
      starts({ artifact: 'executable', field: 'branch', in: ['main'] }),
      false,
    ],
    [
      'an artifact that the release does not have',
      starts({ artifact: 'model', field: 'version', in: ['kv:2'] }),
      false,
    ],
    ['a changed artifact', starts({ changed: 'executable' }), true],
    ['an outcome', starts({ action: 'canary', outcome: 'succeeded' }), true],
    ['another outcome', starts({ action: 'canary', outcome: 'failed' }), false],
  ])('when: %s', (_, started, expected) => expect(started).toBe(expected));

  test('an artifact that the pipeline makes is seen as an input would see it', () => {
    const made = (name: string, version: string) => [artifact(version, name)];
    const progress = (when: NonNullable<Action['when']>, before: string[]) => ({
      spec: specOf({
        build: { outputs: ['executable'] },
        rebuild: { needs: ['build'], outputs: ['executable'] },
        deploy: { needs: ['rebuild'], when },
      }),
      states: { build: 'succeeded', rebuild: 'succeeded' } as const,
      artifacts: [artifact('12', 'source')],
      outputs: { build: made('executable', 'kv:12'), rebuild: made('executable', 'kv:12-fdo') },
      previous: before.map((version) => artifact(version, 'executable')),
    });
    const kind = (when: NonNullable<Action['when']>[number], before: string[] = []) =>
      nextActions(progress([when], before))[0]?.kind;
    expect(kind({ artifact: 'executable', field: 'version', in: ['kv:12-fdo'] })).toBe('start');
    expect(kind({ artifact: 'executable', field: 'version', in: ['kv:12'] })).toBe('skip');
    expect(kind({ changed: 'executable' }, ['kv:11', 'kv:11-fdo'])).toBe('start');
    expect(kind({ changed: 'executable' }, ['kv:12', 'kv:12-fdo'])).toBe('skip');
  });

  test('an artifact as before has not changed; one that was not there before has', () => {
    const actions = { deploy: { when: [{ changed: 'executable' }] } };
    expect(next(actions, {}, [artifact('kv:1')])[0]).toMatch(/^skip deploy: its condition .* does not hold$/);
    expect(next(actions, {}, [artifact('kv:1')], [])).toEqual(['start deploy']);
  });
});

const input = (spec: PipelineSpec): ReleaseInput => ({
  number: 12,
  spec,
  artifacts: [artifact('kv:2')],
  previous: [],
  trigger: manual(),
  lastGood: {},
  policy: { owners: [], groups: {} },
  settings: DEFAULT_SETTINGS,
});
const CHAIN = specOf({ build: {}, deploy: { needs: ['build'] }, cleanup: { needs: ['deploy'], runIf: 'failure' } });
const inStates = (states: States, more: Partial<ReleaseRecord> = {}): ReleaseRecord =>
  Object.entries(states).reduce((record, [name, state]) => withAction(record, name, { state }), {
    ...newRelease(input(CHAIN), NOW),
    ...more,
  });

describe('the state of a release', () => {
  const check = (states: States, cause: ReleaseCause | null, state: string) =>
    expect(releaseState(inStates(states, { cause }), CHAIN)).toBe(state);
  test.each<[string, States, ReleaseCause | null, string]>([
    ['runs while something runs', { build: 'succeeded', deploy: 'running' }, null, 'running'],
    ['succeeded', { build: 'succeeded', deploy: 'succeeded', cleanup: 'skipped' }, null, 'succeeded'],
    ['failed', { build: 'failed', deploy: 'skipped', cleanup: 'skipped' }, null, 'failed'],
    [
      'succeeded, when a failure was taken care of',
      { build: 'succeeded', deploy: 'failed', cleanup: 'succeeded' },
      null,
      'succeeded',
    ],
    [
      'failed, when taking care of it failed',
      { build: 'succeeded', deploy: 'failed', cleanup: 'failed' },
      null,
      'failed',
    ],
    [
      'is cancelled, with its cause',
      { build: 'succeeded', deploy: 'cancelled', cleanup: 'skipped' },
      'superseded',
      'cancelled',
    ],
  ])('%s', (_, states, cause, state) => check(states, cause, state));

  test('is paused while something is left to do', () => {
    expect(releaseState(inStates({}, { paused: true }), CHAIN)).toBe('paused');
    const over = inStates({ build: 'succeeded', deploy: 'succeeded', cleanup: 'skipped' }, { paused: true });
    expect(releaseState(over, CHAIN)).toBe('succeeded');
  });

  test('shows what it was given and what it built', () => {
    const record = withAction(inStates({}), 'build', { outputs: [artifact('img:2', 'image')] });
    const status = releaseStatus(record, input(CHAIN));
    expect(status.artifacts.map(({ version }) => version)).toEqual(['kv:2', 'img:2']);
    expect(status).toMatchObject({ id: 'kvstore/12', state: 'running', endedAt: null });
    expect(status.actions.map(({ name, needs }) => [name, needs])).toEqual([
      ['build', []],
      ['deploy', ['build']],
      ['cleanup', ['deploy']],
    ]);
  });

  test('keeps the last steps only', () => {
    let record = inStates({});
    for (let n = 0; n < 300; n += 1) record = log(record, NOW, 'noted', `${n}`);
    expect([record.timeline.length, record.timeline.at(-1)?.text]).toEqual([200, '299']);
  });
});

describe('a rollback', () => {
  const deploy = { type: 'deploy', with: { pushType: 'twine' } } as const;
  const spec = pipelineSchema.parse({
    pipeline: 'kvstore',
    owners: ['user:alice'],
    actions: {
      build: { type: 'build' },
      staging: { ...deploy, needs: ['build'], runIf: 'always', when: [{ changed: 'executable' }] },
      prod: { ...deploy, needs: ['staging'], join: 'any' },
    },
  });

  test('runs the deploys only, at once and without conditions', () =>
    expect(rollbackSpec(spec).actions).toMatchObject({
      staging: { needs: [], when: [], runIf: 'success', join: 'all' },
      prod: { needs: [], when: [], runIf: 'success', join: 'all' },
    }));

  test('waits for no group of its pipeline, and takes those that it shares with others', () => {
    const mutex = { prod: {}, rig: { scope: 'global' } } as const;
    const actions = { prod: { ...deploy, mutex: ['prod', 'rig'] } };
    const grouped = pipelineSchema.parse({ pipeline: 'kvstore', owners: ['user:alice'], mutex, actions });
    expect(rollbackSpec(grouped).actions).toMatchObject({ prod: { mutex: ['rig'] } });
  });

  test('deploys nothing to where nothing was deployed before', () =>
    expect(Object.keys(rollbackSpec(spec, ['staging']).actions)).toEqual(['staging']));
});

describe('the verbs that a release takes', () => {
  const asked = { actor: 'user:bob', reason: 'r' };
  const ending = (verb: 'cancel' | 'revert') => takeRelease(RELEASE_FREE, verb, asked);
  const paused: ReleaseControl = { ...RELEASE_FREE, paused: true };
  const going = inStates({ build: 'running' });
  const over = inStates({ build: 'failed', deploy: 'skipped', cleanup: 'skipped' });
  const half = { ...going, deploys: [deployed('deploy', 'succeeded')] };
  test.each<[string, ReleaseControl, ReleaseRecord, ReleaseVerb[]]>([
    ['while it runs', RELEASE_FREE, going, ['pause', 'cancel', 'revert']],
    ['while it is paused', paused, going, ['resume', 'cancel', 'revert']],
    ['while it is cancelled', ending('cancel'), going, ['revert']],
    ['while it is reverted', ending('revert'), going, ['revert']],
    ['once it has ended', RELEASE_FREE, over, []],
    ['once something of it is deployed', RELEASE_FREE, half, ['pause', 'cancel', 'revert']],
  ])('%s', (_, control, record, taken) =>
    expect(RELEASE_VERBS.filter((verb) => whyNotRelease(control, record, verb) === undefined)).toEqual(taken),
  );

  test('who cancelled or reverted it is named', () => {
    expect(whyNotRelease(ending('cancel'), going, 'cancel')).toBe('user:bob has already cancelled it');
    expect(whyNotRelease(ending('revert'), going, 'pause')).toBe('user:bob has already reverted it');
    expect(takeRelease(RELEASE_FREE, 'cancel', {}).ending?.actor).toBe('user:unknown');
  });

  test('a revert goes before a cancel and is never taken back', () => {
    const reverted = takeRelease(ending('cancel'), 'revert', { actor: 'user:eve', notBad: true });
    expect(reverted.ending).toMatchObject({ actor: 'user:eve', revert: true, notBad: true });
    expect(takeRelease(reverted, 'revert', asked)).toEqual(reverted);
    expect(takeRelease(reverted, 'cancel', asked)).toEqual(reverted);
  });

  test('pause and resume do what they say', () => {
    expect(takeRelease(RELEASE_FREE, 'pause', asked)).toEqual(paused);
    expect(takeRelease(paused, 'resume', asked)).toEqual(RELEASE_FREE);
  });
});
