import { admit } from '../../../domain/pipeline/admission';
import { recordRelease } from '../../../domain/pipeline/recordOutcome';
import { thinQueue, startable } from '../../../domain/pipeline/queue';
import { refuseRelease, refuseRerun } from '../../../domain/pipeline/requests';
import { rerunCreated } from '../../../domain/pipeline/rerun';
import { pipelineStatus } from '../../../domain/pipeline/view';
import { queueRelease, isKnownBad, markReleaseRunning, type PipelineState } from '../../../domain/pipeline/state';
import { findCarriedOver, recallResults, type Recollection } from '../../../domain/release/rerun';
import { newRelease, withAction, type ActionRecord, type ReleaseRecord } from '../../../domain/release/state';
import { pipelineSchema, type PipelineSource } from '../../../domain/spec/pipeline';
import type { Trigger } from '../../../domain/views';
import { begunBy, deployOf, toldOf, waitingOf, withAsked } from '../../builders/admissionWorld';
import { artifact, deployed, manual, NOW, pipelineOf, resultOf, running } from '../../builders/pipelineWorld';

const KV2 = artifact('kv:2');

/** A pipeline whose release 1 has failed before it deployed anything, or as told. */
const failed = (more: Partial<PipelineSource> = {}, trigger: Trigger = manual()): PipelineState => {
  const state = pipelineOf(['deploy'], more);
  const one = markReleaseRunning(queueRelease(state, [KV2], trigger, NOW), 1);
  return recordRelease(one, { ...resultOf(1, [], [KV2]), state: 'failed' }, NOW);
};
const rerun = (state: PipelineState, of = 1): PipelineState => rerunCreated(state, of, [KV2], manual(), NOW);
const why = (state: PipelineState, of = 1, trigger: Trigger = manual()) => refuseRerun(state, [KV2], trigger, of);

describe('a release is run again', () => {
  test('once it failed, under a new number, in its own place', () => {
    expect(why(failed())).toBeUndefined();
    expect(rerun(failed()).active).toMatchObject([{ number: 2, rerunOf: 1, place: 1, artifacts: [KV2] }]);
  });

  test('and so is its rerun, still in the place of the first', () => {
    const state = rerun(failed());
    const twice = recordRelease(markReleaseRunning(state, 2), { ...resultOf(2, [], [KV2]), state: 'failed' }, NOW);
    expect(twice.history.at(-1)).toMatchObject({ number: 2, rerunOf: 1, place: 1 });
    expect(rerun(twice, 2).active).toMatchObject([{ number: 3, rerunOf: 2, place: 1 }]);
  });

  test('and the status of its pipeline says which releases that are, until one is under way', () => {
    expect(pipelineStatus(failed(), NOW).rerunnable).toEqual([1]);
    expect(pipelineStatus(rerun(failed()), NOW).rerunnable).toBeUndefined();
    expect(pipelineStatus(failed({}, { ...manual(), kind: 'rollback' }), NOW).rerunnable).toBeUndefined();
  });

  test('without its old input becoming the latest', () => {
    const state = { ...failed(), inputs: { executable: artifact('kv:3') } };
    expect(rerun(state).inputs).toEqual({ executable: artifact('kv:3') });
  });

  test('with the latest of what the pipeline takes only since', () => {
    const artifacts = { executable: { finder: 'manual' }, config: { finder: 'manual' } };
    const config = artifact('7', 'config');
    const state = { ...failed({ artifacts }), inputs: { config } };
    expect(rerun(state).active[0]?.artifacts).toEqual([KV2, config]);
    expect(why({ ...state, inputs: {} })).toMatchObject({ code: 'missing-artifact', names: ['config'] });
  });

  test.each<[string, PipelineState, string, string]>([
    ['that runs', running(pipelineOf(), KV2), 'it has not ended', 'conveyor retry kvstore/1/ACTION'],
    [
      'that waits',
      queueRelease(pipelineOf(), [KV2], manual(), NOW),
      'it has not started yet',
      'conveyor status kvstore/1',
    ],
    ['that nobody remembers', pipelineOf(), 'its pipeline does not remember it any more', 'conveyor release kvstore'],
    [
      'that succeeded',
      recordRelease(running(pipelineOf(), KV2), resultOf(1, [], [KV2]), NOW),
      'it succeeded, so there is nothing to run again',
      'conveyor release kvstore --artifact executable=kv:2',
    ],
    [
      'that never started',
      recordRelease(
        queueRelease(pipelineOf(), [KV2], manual(), NOW),
        { ...resultOf(1, [], [KV2]), state: 'cancelled', cause: 'operator', neverStarted: true },
        NOW,
      ),
      'it never started, so there is nothing to carry over',
      'conveyor release kvstore --artifact executable=kv:2',
    ],
    [
      'that is a rollback',
      failed({}, { kind: 'rollback', actor: 'user:alice', key: null, of: 7 }),
      'it is a rollback',
      'conveyor revert kvstore/7',
    ],
    [
      'that is an emergency',
      failed({}, { kind: 'emergency', actor: 'user:alice', key: null, reason: 'outage' }),
      'it is an emergency',
      'conveyor push kvstore',
    ],
    [
      'after a newer one began the same deploy',
      { ...failed(), newestBegun: { deploy: 4 } },
      'release 4 is newer and has begun deploy, and no older one begins that any more',
      'conveyor release kvstore --artifact executable=kv:2',
    ],
  ])('but not one %s, and it is said what to do instead', (_title, state, message, instead) => {
    const refusal = why(state);
    expect(refusal).toMatchObject({ code: 'not-rerunnable', message });
    expect(refusal?.names?.[0]).toContain(instead);
  });

  test('but not with something else than it was given', () =>
    expect(refuseRerun(failed(), [artifact('kv:9')], manual(), 1)).toMatchObject({ code: 'invalid-state' }));

  test('but not what is known to be bad, also what it made itself', () => {
    const made = artifact('made', 'image');
    const one = markReleaseRunning(queueRelease(pipelineOf(), [KV2], manual(), NOW), 1);
    const deploys = [deployed('deploy', { revertedBy: 'health' }, made)];
    const state = recordRelease(one, { ...resultOf(1, deploys, [KV2, made]), state: 'failed' }, NOW);
    expect(isKnownBad(state, made)).toBeDefined();
    expect(why(state)).toMatchObject({ code: 'known-bad', names: ['image@made'] });
  });

  test('only by who may release', () =>
    expect(why(failed(), 1, { ...manual(), actor: 'user:mallory' })).toMatchObject({ code: 'not-permitted' }));

  test('with the key of a release that ran something else not at all', () => {
    const state = failed({}, manual('ci-1'));
    expect(why(state, 1, manual('ci-1'))).toMatchObject({
      code: 'key-reused',
      names: ['ci-1', 'kvstore/1 with executable@kv:2', 'executable@kv:2, to run release 1 again'],
    });
  });

  test('with the key of a rerun of it under any of its numbers', () => {
    const twice = recordRelease(
      markReleaseRunning(rerun(failed()), 2),
      { ...resultOf(2, [], [KV2]), state: 'failed' },
      NOW,
    );
    const third = rerunCreated(twice, 2, [KV2], manual('ci-1'), NOW);
    for (const of of [1, 2]) expect(why(third, of, manual('ci-1'))).toBeUndefined();
    expect(refuseRelease(third, [KV2], manual('ci-1'))).toMatchObject({ code: 'key-reused' });
  });
});

describe('a newer release stays newer than the rerun of an older one', () => {
  /** Release 1 failed, 2 runs, 3 runs 1 again. */
  const three = (more: Partial<PipelineSource> = {}): PipelineState =>
    markReleaseRunning(rerun(begunBy(failed(more), manual())), 3);

  test('both are ready: the rerun makes way', () => {
    const state = withAsked(three(), deployOf(2), deployOf(3));
    expect(toldOf(state)).toEqual(['3 deploy superseded by 2', '2 deploy granted']);
  });

  test('the newer one has begun: the rerun begins no more', () => {
    const begun = admit(withAsked(three(), deployOf(2)), NOW).state;
    expect(toldOf(withAsked(begun, deployOf(3)))).toEqual(['3 deploy superseded by 2']);
  });

  test('the rerun has begun: the newer one comes after it, or stops it with supersede: running', () => {
    const begun = admit(withAsked(three(), deployOf(3)), NOW).state;
    expect(waitingOf(withAsked(begun, deployOf(2)))).toEqual(['2 deploy: release 3 deploys']);
    const running = admit(withAsked(three({ releases: { supersede: 'running' } }), deployOf(3)), NOW).state;
    expect(admit(withAsked(running, deployOf(2)), NOW).overtaken).toEqual([{ release: 3, by: 2, why: 'superseded' }]);
  });

  test('in order, the rerun comes first', () =>
    expect(waitingOf(withAsked(three({ releases: { supersede: 'never' } }), deployOf(2)))).toEqual([
      '2 deploy: release 3 comes first',
    ]));

  test('one that makes way for a rerun gets its number, not that of its place', () => {
    const older = markReleaseRunning(queueRelease(failed(), [artifact('kv:1')], manual(), NOW), 2);
    const state = { ...older, active: older.active.map((one) => ({ ...one, rerunOf: 0, place: 0 })) };
    const begun = admit(withAsked(markReleaseRunning(rerun(state), 3), deployOf(3)), NOW).state;
    expect(toldOf(withAsked(begun, deployOf(2)))).toEqual(['2 deploy superseded by 3']);
  });

  test('in the queue it starts where the older one stood, and is what the calendar leaves out', () => {
    const calendar = { mode: 'calendar', calendar: '0 9 * * *', timezone: 'UTC', gates: 'releases' } as const;
    const queued = (more = {}) => rerun(queueRelease(failed(more), [artifact('kv:3')], manual(), NOW));
    expect(startable(queued(), NOW).map(({ number }) => number)).toEqual([3, 2]);
    expect(thinQueue(queued({ schedule: calendar }), NOW).active.map(({ number }) => number)).toEqual([2]);
  });
});

describe('carried over is', () => {
  const actions = (source: PipelineSource['actions']) =>
    pipelineSchema.parse({ pipeline: 'kvstore', owners: ['user:alice'], actions: source }).actions;
  type Action = PipelineSource['actions'][string];
  const BUILD: Action = { type: 'build', inputs: ['source'], outputs: ['executable'] };
  const TEST: Action = { type: 'integr-test', inputs: ['executable'] };
  const DEPLOY: Action = { type: 'deploy', inputs: ['executable'], with: { pushType: 'twine' } };
  const done = (more: Partial<ActionRecord> = {}) =>
    ({ state: 'succeeded', message: 'ok', outputs: [], ...more }) as const;
  const before = (source: PipelineSource['actions'], more: Partial<Recollection> = {}): Recollection => ({
    number: 1,
    actions: actions(source),
    artifacts: [artifact('2', 'source')],
    previous: [],
    records: { build: done({ outputs: [KV2] }), test: done() },
    ...more,
  });

  /** The actions that would be carried, with those before them in the given states. */
  function carried(
    source: PipelineSource['actions'],
    was: Recollection,
    now: Readonly<Record<string, Partial<ActionRecord>>> = {},
    deploys: ReleaseRecord['deploys'] = [],
  ): string[] {
    const spec = pipelineSchema.parse({ pipeline: 'kvstore', owners: ['user:alice'], actions: source });
    const input = { spec, artifacts: [artifact('2', 'source')] };
    const blank = newRelease({ ...input, number: 2 } as never, NOW);
    const record = Object.entries(now).reduce((next, [name, patch]) => withAction(next, name, patch), blank);
    const known = recallResults(spec.actions, was);
    return Object.keys(spec.actions).filter((name) => findCarriedOver(known, input, { ...record, deploys }, name));
  }

  const SAME = { build: BUILD, test: TEST };
  const BUILT = { build: { state: 'succeeded', outputs: [KV2], carriedFrom: 1 } } as const;

  test('actions that succeeded, are defined the same, and have the same inputs', () =>
    expect(carried(SAME, before(SAME), BUILT)).toEqual(['build', 'test']));

  test('nothing whose inputs are others', () => {
    const other = { build: { state: 'succeeded', outputs: [artifact('kv:3')] } } as const;
    expect(carried(SAME, before(SAME), other)).toEqual(['build']);
  });

  test('nothing that comes after what ran again, though it made the same', () => {
    const again = { build: { state: 'succeeded', outputs: [KV2] } } as const;
    expect(carried(SAME, before(SAME), again)).toEqual(['build']);
  });

  test('nothing that is defined otherwise, nor what is new or did not succeed', () => {
    const changed = { ...SAME, build: { ...BUILD, timeout: '1h' }, more: TEST };
    expect(carried(changed, before(SAME), BUILT)).toEqual(['test']);
    const records = { build: done({ outputs: [KV2] }), test: done({ state: 'failed' }) };
    expect(carried(SAME, before(SAME, { records }), BUILT)).toEqual(['build']);
  });

  test('actions after a deploy only where that found nothing to update', () => {
    const soak: Action = { type: 'perf-test', needs: ['deploy'] };
    const source = { build: BUILD, deploy: DEPLOY, soak };
    const records = { build: done({ outputs: [KV2] }), deploy: done(), soak: done() };
    const now = { ...BUILT, deploy: { state: 'succeeded' } } as const;
    const settledDeploy = deployed('deploy', 'succeeded', KV2);
    const unchanged = { ...settledDeploy, result: { ...settledDeploy.result, unchanged: true as const } };
    expect(carried(source, before(source, { records }), now, [settledDeploy])).toEqual(['build']);
    expect(carried(source, before(source, { records }), now, [unchanged])).toEqual(['build', 'soak']);
  });

  test('actions after a pick that a person approved again, never the pick', () => {
    const ask: Action = { type: 'manual-pick', needs: ['build'] };
    const source = { build: BUILD, ask, test: { ...TEST, needs: ['ask'] } };
    const records = { build: done({ outputs: [KV2] }), ask: done(), test: done() };
    const now = { ...BUILT, ask: { state: 'succeeded' } } as const;
    expect(carried(source, before(source, { records }), now)).toEqual(['build', 'test']);
  });

  test('with the release whose run it was, however often it is carried', () => {
    const records = { build: done({ outputs: [KV2], carriedFrom: 1 }) };
    expect(recallResults(actions(SAME), before(SAME, { number: 5, records })).carried).toEqual({
      build: { from: 1, inputs: ['source@2'], outputs: [KV2], message: 'ok' },
    });
  });
});
