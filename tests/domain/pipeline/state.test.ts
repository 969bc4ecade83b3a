import { recordRelease } from '../../../domain/pipeline/recordOutcome';
import { takePipeline, whyNotPipeline } from '../../../domain/pipeline/control';
import { startable } from '../../../domain/pipeline/queue';
import { refuseRelease, refuseRollBack } from '../../../domain/pipeline/requests';
import { refuseApply } from '../../../domain/pipeline/refuseApply';
import { NOT_BOOKED, findRollbackArtifacts, rollbackUnderWay, queueRollback } from '../../../domain/pipeline/rollback';
import { markKnownBad } from '../../../domain/pipeline/knownBad';
import { ARTIFACT_LIMITS } from '../../../domain/limits';
import {
  queueRelease,
  holdPipeline,
  isKnownBad,
  markReleaseRunning,
  type PipelineState,
} from '../../../domain/pipeline/state';
import { findRepeated } from '../../../domain/pipeline/submissions';
import { pipelineStatus } from '../../../domain/pipeline/view';
import type { DeployEndRecord } from '../../../domain/release/state';
import type { CommandInput, PipelineVerb } from '../../../domain/verbs';
import type { Artifact } from '../../../domain/artifact';
import type { Trigger } from '../../../domain/views';
import { artifact, deployed, manual, NOW, pipelineOf, resultOf, running, specOf } from '../../builders/pipelineWorld';

const finder = (key: string | null = null): Trigger => ({ kind: 'finder', actor: 'service:commits', key });
/** A release of these artifacts that ran and ended with these deploys. */
const released = (state: PipelineState, ...deploys: DeployEndRecord[]): PipelineState => {
  const artifacts = deploys.flatMap((deploy) => deploy.artifacts);
  return recordRelease(running(state, ...artifacts), resultOf(state.nextNumber, deploys, artifacts), NOW);
};
const good = (state: PipelineState, version: string, ...actions: string[]): PipelineState =>
  released(
    state,
    ...(actions.length > 0 ? actions : ['deploy']).map((action) => deployed(action, 'succeeded', artifact(version))),
  );
const reverted = (state: PipelineState, version: string, by = 'health', more: object = {}): PipelineState =>
  released(state, deployed('deploy', { revertedBy: by, ...more }, artifact(version)));
const deploying = (state: PipelineState, owner: string): PipelineState => ({
  ...state,
  deploys: { ...state.deploys, holder: { owner, requesters: [`${owner}/deploy`] } },
});
const badOf = (state: PipelineState) => state.knownBad.map((bad) => bad.artifact);
const versionsOf = (back: ReturnType<typeof findRollbackArtifacts>) =>
  'impossible' in back ? back.impossible : back.map(({ name, version }) => `${name}@${version}`);

describe('a submission is the same release again', () => {
  const state = queueRelease(pipelineOf(), [artifact('kv:1')], manual('k1'), NOW);
  const built = artifact('kv:1-built', 'image');
  const ended = recordRelease(markReleaseRunning(state, 1), resultOf(1, [], [artifact('kv:1'), built]), NOW);
  test.each<[string, PipelineState, string, Trigger, number | undefined]>([
    ['with the same key', state, 'kv:2', manual('k1'), 1],
    ['from a finder with the same artifacts', state, 'kv:1', finder(), 1],
    ['from a finder after it ended, whatever it built', ended, 'kv:1', finder(), 1],
    ['not with other artifacts', ended, 'kv:2', finder(), undefined],
    ['not when a person asks again', ended, 'kv:1', manual(), undefined],
    ['not with another key', state, 'kv:1', manual('k2'), undefined],
  ])('%s', (_, known, version, trigger, number) =>
    expect(findRepeated(known, [artifact(version)], trigger)).toBe(number),
  );
});

describe('numbers and room', () => {
  test('numbers rise from 1 and are never used again', () => {
    const two = running(running(pipelineOf(), artifact('kv:1')), artifact('kv:2'));
    const after = recordRelease(recordRelease(two, resultOf(2, []), NOW), resultOf(1, []), NOW);
    expect(running(after, artifact('kv:3')).active.map(({ number }) => number)).toEqual([3]);
  });

  test('no more releases run than maxActive, the oldest first; a rollback needs no room', () => {
    const queue = (state: PipelineState, trigger: Trigger) => queueRelease(state, [], trigger, NOW);
    const rollback: Trigger = { kind: 'rollback', actor: 'user:alice', key: null, of: 1 };
    let state = [manual(), manual(), manual(), rollback].reduce(
      queue,
      pipelineOf(['deploy'], { releases: { maxActive: 2 } }),
    );
    expect(startable(state, NOW).map(({ number }) => number)).toEqual([4, 1, 2]);
    for (const { number } of startable(state, NOW)) state = markReleaseRunning(state, number);
    expect(startable(state, NOW)).toEqual([]);
  });

  test('books a release once', () => {
    const once = good(pipelineOf(), 'kv:1');
    expect(recordRelease(once, resultOf(1, []), NOW)).toEqual(once);
  });

  test('keeps the last hundred releases and the last ten good ones', () => {
    let state = pipelineOf();
    for (let n = 1; n <= 120; n += 1) state = good(state, `kv:${n}`);
    expect([state.history.length, state.good['deploy']?.length]).toEqual([100, 10]);
    expect(state.history.at(-1)).toMatchObject({ number: 120, durationMs: 3_600_000 });
  });
});

describe('after a revert', () => {
  const first = good(pipelineOf(), 'kv:1');

  test('the artifact is known-bad, and the reason is on record', () => {
    const state = reverted(first, 'kv:2');
    expect(state.knownBad).toMatchObject([{ artifact: 'executable@kv:2', reason: 'release 2 was reverted by health' }]);
    expect(isKnownBad(state, artifact('kv:1'))).toBeUndefined();
  });

  test('the record says so where a person ended the revert', () => {
    const bad = deployed('deploy', { revertedBy: 'user:alice' }, artifact('kv:2'));
    const reason = 'user:alice ended it before the revert had finished';
    const state = released(first, { ...bad, result: { ...bad.result, outcome: 'revert-failed', reason } });
    expect(state.knownBad).toMatchObject([{ reason: `release 2: ${reason}` }]);
  });

  test('it is not when the person said so', () =>
    expect(badOf(reverted(first, 'kv:2', 'user:alice', { bad: false }))).toEqual([]));

  test('artifacts that the good release before had as well are not to blame', () => {
    const config = artifact('c1', 'config');
    const before = released(pipelineOf(), deployed('deploy', 'succeeded', artifact('kv:1'), config));
    expect(badOf(released(before, deployed('deploy', { revertedBy: 'health' }, artifact('kv:2'), config)))).toEqual([
      'executable@kv:2',
    ]);
  });

  test('without anything new all of it is', () => expect(badOf(reverted(first, 'kv:1'))).toEqual(['executable@kv:1']));

  test('an attempt that came through afterwards is what counts', () => {
    const again = artifact('kv:2');
    const state = released(
      first,
      deployed('deploy', { revertedBy: 'user:alice', bad: false }, again),
      deployed('deploy', 'succeeded', again),
    );
    expect([badOf(state), state.held, state.revertsInARow]).toEqual([[], null, 0]);
    const twice = released(
      first,
      deployed('deploy', 'succeeded', artifact('kv:1')),
      deployed('deploy', { revertedBy: 'health' }, again),
    );
    expect([badOf(twice), twice.revertsInARow]).toEqual([['executable@kv:2'], 1]);
  });

  type OnRevert = 'until-newer' | 'hold' | 'continue';
  const held = (onRevert: OnRevert, ...by: string[]) => {
    const pipeline = pipelineOf(['deploy'], { releases: { onRevert } });
    return by.reduce(
      (state, who, n) => (who === 'good' ? good(state, `g:${n}`) : reverted(state, `kv:${n}`, who)),
      pipeline,
    ).held?.reason;
  };
  test.each<[OnRevert, string[], string | undefined]>([
    ['until-newer', ['health'], undefined],
    ['until-newer', ['health', 'health'], '2 reverts in a row'],
    ['until-newer', ['health', 'good', 'health'], undefined],
    ['until-newer', ['user:bob'], 'user:bob reverted a deploy'],
    ['hold', ['health'], 'a deploy was reverted'],
    ['continue', ['health', 'health', 'user:bob'], undefined],
  ])('onRevert: %s, after %j: held because %s', (onRevert, by, why) => expect(held(onRevert, ...by)).toBe(why));

  test('a hold of a person stands', () => {
    const state = holdPipeline(running(first, artifact('kv:2')), 'user:sam', 'conference', NOW);
    const after = recordRelease(
      state,
      resultOf(2, [deployed('deploy', { revertedBy: 'user:bob' }, artifact('kv:2'))]),
      NOW,
    );
    expect(after.held).toMatchObject({ actor: 'user:sam', reason: 'conference' });
  });
});

describe('a rollback goes back to', () => {
  const BOTH = ['staging', 'prod'];
  const two = () => pipelineOf(BOTH);
  const onlyStaging = (state: PipelineState, version: string) => good(state, version, 'staging');
  const rollBack = (state: PipelineState, of: number) => {
    const back = findRollbackArtifacts(state, of);
    if ('impossible' in back) throw new Error(back.impossible);
    return queueRollback(state, back, { of, actor: 'user:alice', reason: 'slow', notBad: false }, NOW);
  };
  /** The release that rolls back ran and succeeded. */
  const backOn = (state: PipelineState, version: string) =>
    recordRelease(
      markReleaseRunning(state, state.nextNumber - 1),
      resultOf(state.nextNumber - 1, [deployed('deploy', 'succeeded', artifact(version))]),
      NOW,
    );

  const NOTHING_BEFORE = 'nothing that ran before it is known to be good';
  const firstOver = (before: string | undefined, more: Artifact[] = [], beforeEach?: string) => {
    const { result, ...deploy } = deployed('deploy', 'succeeded', artifact('kv:1'), ...more);
    const ran = { ...(before && { before }), ...(beforeEach && { beforeEach }) };
    return released(pipelineOf(), { ...deploy, result: { ...result, ...ran } });
  };
  /** The follow-on of a release of kv:1 ran and succeeded. */
  const completed = (state: PipelineState, of: number) => {
    const by = { kind: 'follow-on', actor: 'service:conveyor', key: null, of } as const;
    const followOn = { followOn: { action: 'deploy', units: ['job-y'] } };
    return backOn(queueRelease(state, [artifact('kv:1')], by, NOW, followOn), 'kv:1');
  };
  const three = ['kv:1', 'kv:2', 'kv:3'].reduce((state, version) => good(state, version), pipelineOf());
  test.each<[string, PipelineState, number, string | string[]]>([
    ['the version before', three, 3, ['executable@kv:2']],
    ['nothing, when it was never deployed', pipelineOf(), 1, 'nothing of it is deployed'],
    ['nothing yet, of the first one that runs', running(pipelineOf(), artifact('kv:1')), 1, NOT_BOOKED],
    [
      'nothing yet, of the first one that waits',
      queueRelease(pipelineOf(), [], manual(), NOW),
      1,
      'it has not started',
    ],
    [
      'nothing, when it was never deployed and the first one is being undone',
      rollBack(firstOver('kv:0'), 1),
      7,
      'nothing of it is deployed',
    ],
    ['nothing, when something newer runs', three, 2, 'release 3 is what runs now; revert that one'],
    [
      'nothing, while something newer is being deployed',
      deploying(running(three, artifact('kv:4')), '4'),
      2,
      'release 4 is being deployed over release 3; revert one of these',
    ],
    [
      'nothing, while a rollback of something newer is being deployed',
      deploying(markReleaseRunning(rollBack(three, 3), 4), '4'),
      1,
      'release 4 is being deployed over release 3; revert one of these',
    ],
    [
      'nothing, of a follow-on while a rollback undoes the release that it completed',
      markReleaseRunning(rollBack(completed(firstOver('kv:0'), 1), 1), 3),
      2,
      'release 3 undoes it together with release 1',
    ],
    [
      'nothing, while something newer that has deployed in part continues',
      deploying(three, '3'),
      2,
      'release 3 is being deployed; revert that one',
    ],
    ['what the fleet ran before the first', firstOver('kv:0'), 1, ['executable@kv:0']],
    ['what a fleet ran in several versions, not', firstOver(undefined), 1, NOTHING_BEFORE],
    [
      'which units ran which version before the first is said',
      firstOver(undefined, [], 'kv:0 in x; kv:9 in y'),
      1,
      `${NOTHING_BEFORE}: before release 1 units ran several versions (kv:0 in x; kv:9 in y); release the version that all units should run`,
    ],
    [
      'also after a second one was undone',
      rollBack(good(firstOver(undefined, [], 'kv:0 in x; kv:9 in y'), 'kv:2'), 2),
      1,
      expect.stringContaining('(kv:0 in x; kv:9 in y)'),
    ],
    ['what a deploy of several artifacts ran, not', firstOver('a@1+b@1', [artifact('b:1', 'b')]), 1, NOTHING_BEFORE],
    ['another version, when the release before had the same', good(three, 'kv:3'), 4, ['executable@kv:2']],
    ['a version that is not known-bad', markKnownBad(three, [artifact('kv:2')], 'r', NOW), 3, ['executable@kv:1']],
    [
      'what was good for all of its deploys together',
      good(onlyStaging(good(two(), 'kv:1', ...BOTH), 'kv:2'), 'kv:3', ...BOTH),
      3,
      ['executable@kv:1'],
    ],
    [
      'what is good for the deploys that the pipeline still has',
      { ...three, good: { ...three.good, old: [] } },
      3,
      ['executable@kv:2'],
    ],
  ])('%s', (_, state, of, back) => expect(versionsOf(findRollbackArtifacts(state, of))).toEqual(back));

  test('the version before that, when the rollback itself is rolled back', () => {
    const onTwo = backOn(rollBack(three, 3), 'kv:2');
    expect(versionsOf(findRollbackArtifacts(onTwo, 4))).toEqual(['executable@kv:1']);
    expect(badOf(rollBack(onTwo, 4))).toEqual(['executable@kv:3', 'executable@kv:2']);
  });

  test('the same as before, when a rollback came to nothing and is asked for again', () => {
    const failed = recordRelease(
      markReleaseRunning(rollBack(three, 3), 4),
      { ...resultOf(4, [], [artifact('kv:2')]), state: 'failed' },
      NOW,
    );
    expect(versionsOf(findRollbackArtifacts(failed, 3))).toEqual(['executable@kv:2']);
    expect(badOf(rollBack(failed, 3))).toEqual(['executable@kv:3']);
    expect(versionsOf(findRollbackArtifacts(good(failed, 'kv:5'), 3))).toBe(
      'release 5 is what runs now; revert that one',
    );
  });

  describe('after a rollback of the third release that did not come through,', () => {
    const ended = (...outcomes: Parameters<typeof deployed>[1][]): PipelineState =>
      recordRelease(
        markReleaseRunning(rollBack(three, 3), 4),
        resultOf(
          4,
          outcomes.map((outcome) => deployed('deploy', outcome, artifact('kv:2'))),
          [artifact('kv:2')],
        ),
        NOW,
      );
    const saidOf = (state: PipelineState, ...releases: number[]) =>
      releases.map((of) => versionsOf(findRollbackArtifacts(state, of)));

    test('the third release is what runs, if the rollback was itself reverted or never started', () => {
      const reverted = ended({ revertedBy: 'user:alice' }, { revertedBy: 'user:alice' });
      const neverStarted = recordRelease(rollBack(three, 3), { ...resultOf(4, [], []), neverStarted: true }, NOW);
      const runs = 'release 3 is what runs now; revert that one';
      for (const state of [reverted, neverStarted]) {
        expect(saidOf(state, 4, 2, 1)).toEqual([runs, runs, runs]);
        expect(pipelineStatus(state, NOW).lastGood).toMatchObject({ deploy: { release: 3, version: 'kv:3' } });
      }
      // The revert has marked the version of the rollback as bad.
      expect([...saidOf(reverted, 3), ...saidOf(neverStarted, 3)]).toEqual([['executable@kv:1'], ['executable@kv:2']]);
      const over = deploying(running(reverted, artifact('kv:4')), '5');
      expect(saidOf(over, 1)).toEqual(['release 5 is being deployed over release 3; revert one of these']);
    });

    test('the refusal names the third release, if the rollback has left units of both', () => {
      const why = 'release 3 may still run, since its rollback, release 4, did not succeed; revert that one';
      for (const state of [ended('failed'), ended('cancelled'), ended({ revertedBy: 'user:alice' }, 'failed')])
        expect(saidOf(state, 1)).toEqual([why]);
    });
  });

  test.each(['cancelled', 'failed'] as const)('the last good version when a deploy %s half way', (outcome) => {
    const half = released(three, deployed('deploy', outcome, artifact('kv:4')));
    expect(versionsOf(findRollbackArtifacts(half, 4))).toEqual(['executable@kv:3']);
    expect(badOf(rollBack(half, 4))).toEqual(['executable@kv:4']);
    const back = released(three, deployed('deploy', { revertedBy: 'health' }, artifact('kv:4')));
    expect(versionsOf(findRollbackArtifacts(back, 4))).toBe('release 3 is what runs now; revert that one');
  });

  test('the same as before, when the rollback came through in one place alone', () => {
    const state = rollBack(
      ['kv:1', 'kv:2'].reduce((next, version) => good(next, version, ...BOTH), two()),
      2,
    );
    const ends = [deployed('staging', 'succeeded', artifact('kv:1')), deployed('prod', 'failed', artifact('kv:1'))];
    const half = recordRelease(markReleaseRunning(state, 3), resultOf(3, ends, [artifact('kv:1')]), NOW);
    expect(versionsOf(findRollbackArtifacts(half, 2))).toEqual(['executable@kv:1']);
    expect(badOf(rollBack(half, 2))).toEqual(['executable@kv:2']);
  });

  test('the version that it went back to is not known-bad, when a rollback that failed is undone itself', () => {
    const failed = recordRelease(
      markReleaseRunning(rollBack(three, 3), 4),
      resultOf(4, [deployed('deploy', 'failed', artifact('kv:2'))], [artifact('kv:2'), artifact('t1', 'test-data')]),
      NOW,
    );
    expect(versionsOf(findRollbackArtifacts(failed, 4))).toEqual(['executable@kv:2']);
    expect(badOf(rollBack(failed, 4))).toEqual(['executable@kv:3']);
  });

  test('the version that it undoes is known-bad and no longer good, deploys are held, and the rollback is queued', () => {
    const state = rollBack(three, 3);
    expect(badOf(state)).toEqual(['executable@kv:3']);
    expect(state.good['deploy']?.map(({ version }) => version)).toEqual(['kv:1', 'kv:2']);
    expect(state.held?.reason).toBe('reverted release 3: slow');
    expect(state.active).toMatchObject([{ number: 4, state: 'queued', trigger: { kind: 'rollback', of: 3 } }]);
  });

  test('an artifact that several deploys had is known-bad once', () =>
    expect(badOf(rollBack(good(good(two(), 'kv:1', ...BOTH), 'kv:2', ...BOTH), 2))).toEqual(['executable@kv:2']));

  test('nothing is held with onRevert: continue', () => {
    const state = { ...three, spec: specOf(['deploy'], { releases: { onRevert: 'continue' } }) };
    expect(rollBack(state, 3).held).toBeNull();
  });

  test('artifacts that both have are not to blame, or the rollback would be refused', () => {
    const config = artifact('c1', 'config');
    const with1 = released(pipelineOf(), deployed('deploy', 'succeeded', artifact('kv:1'), config));
    const with2 = released(with1, deployed('deploy', 'succeeded', artifact('kv:2'), config));
    expect(badOf(rollBack(with2, 2))).toEqual(['executable@kv:2']);
  });
});

test('a release that is given one artifact twice is refused', () => {
  const twice = [artifact('kv:1'), artifact('kv:2')];
  expect(refuseRelease(pipelineOf(), twice, manual())?.message).toBe('executable is given twice');
});

test('an action cannot be called what JavaScript reserves', () => {
  expect(() => specOf(['constructor'])).toThrow(/constructor is a reserved word/);
});

describe('a request is refused', () => {
  const state = markKnownBad(pipelineOf(), [artifact('kv:13')], 'errors is 0.2', NOW);
  const refusal = (version: string | null, trigger: Trigger, name?: string) =>
    refuseRelease(state, version === null ? [] : [artifact(version, name)], trigger)?.code;
  test.each<[string, string | undefined, string | undefined]>([
    ['an owner may release', refusal('kv:1', manual()), undefined],
    ['a member of a group that owns it may', refusal('kv:1', { ...manual(), actor: 'user:sam' }), undefined],
    ['nobody else may', refusal('kv:1', { ...manual(), actor: 'user:eve' }), 'not-permitted'],
    [
      'nobody else may through the API either',
      refusal('kv:1', { kind: 'api', actor: 'user:eve', key: null }),
      'not-permitted',
    ],
    [
      'nobody else may pretend to roll back',
      refusal('kv:1', { kind: 'rollback', actor: 'user:eve', key: null }),
      'not-permitted',
    ],
    ['what the platform finds needs no owner', refusal('kv:1', finder()), undefined],
    ['a known-bad artifact', refusal('kv:13', manual()), 'known-bad'],
    ['an artifact that it does not take', refusal('kv:1', manual(), 'model'), 'unknown-artifact'],
    ['without a version of each artifact', refusal(null, manual()), 'missing-artifact'],
  ])('%s', (_, code, expected) => expect(code).toBe(expected));

  test('only an owner changes a pipeline, and only an owner-to-be creates one', () => {
    const mine = specOf();
    const theirs = { ...mine, owners: ['user:eve'] };
    expect(refuseApply(null, theirs, {}, 'user:eve')).toBeUndefined();
    expect(refuseApply(null, mine, {}, 'user:eve')?.code).toBe('not-permitted');
    expect(refuseApply(state, theirs, {}, 'user:eve')?.code).toBe('not-permitted');
    expect(refuseApply(state, theirs, {}, 'user:alice')).toBeUndefined();
  });

  test('a principal that a rule of the platform permits need not be an owner, and a group never acts', () => {
    const root = { actor: 'user:root', permitted: 'platform.admins' };
    const two = good(good(pipelineOf(), 'kv:1'), 'kv:2');
    const storage = { actor: 'group:storage', key: null };
    expect(refuseApply(state, specOf(), {}, root.actor, root.permitted)).toBeUndefined();
    expect(refuseRollBack(two, 2, root)).toBeUndefined();
    expect(refusal('kv:1', { ...root, kind: 'manual', key: null })).toBeUndefined();
    expect(refuseApply(state, specOf(), {}, 'group:storage', root.permitted)?.code).toBe('not-permitted');
    expect(refuseRollBack(two, 2, storage as never)?.code).toBe('not-permitted');
    expect(refusal('kv:1', { ...storage, kind: 'manual' })).toBe('not-permitted');
  });

  test('a rollback is for owners, once, and only where there is something to go back to', () => {
    const two = good(good(pipelineOf(), 'kv:1'), 'kv:2');
    expect(refuseRollBack(two, 2, { actor: 'user:eve' })?.code).toBe('not-permitted');
    expect(refuseRollBack(two, 2, { actor: 'user:alice' })).toBeUndefined();
    expect(refuseRollBack(two, 1, { actor: 'user:alice' })).toEqual({
      code: 'invalid-state',
      message: 'release 2 is what runs now; revert that one',
    });
    const rolling = queueRelease(two, [], { kind: 'rollback', actor: 'user:alice', key: null, of: 2 }, NOW);
    expect(refuseRollBack(rolling, 2, { actor: 'user:alice' })).toBeUndefined();
    expect(rollbackUnderWay(rolling, 2)).toBe(rolling.nextNumber - 1);
  });

  test('a rollback is refused where no earlier release had an artifact that the pipeline file deploys now', () => {
    const two = good(good(pipelineOf(), 'kv:1'), 'kv:2');
    const { deploy } = two.spec.actions;
    const actions = { ...two.spec.actions, deploy: { ...deploy, inputs: [...deploy!.inputs, 'model'] } };
    const wanting = { ...two, spec: { ...two.spec, actions } } as PipelineState;
    expect(refuseRollBack(wanting, 2, { actor: 'user:alice' })).toMatchObject({
      code: 'invalid-state',
      message: expect.stringMatching(/^no earlier release had model, which the pipeline file now deploys: release/),
    });
  });
});

describe('the verbs of a pipeline', () => {
  const open = markKnownBad(pipelineOf(), [artifact('kv:13')], 'r', NOW);
  const shut = holdPipeline(open, 'user:sam', 'conference', NOW);
  test.each<[string, PipelineState, PipelineVerb, CommandInput, string | undefined]>([
    ['hold', open, 'hold', {}, undefined],
    ['hold, when it is held', shut, 'hold', {}, 'user:sam already holds it: conference'],
    ['unhold', shut, 'unhold', {}, undefined],
    ['unhold, when it is not held', open, 'unhold', {}, 'it is not held'],
    ['allow-artifact', open, 'allow-artifact', { artifact: 'executable@kv:13' }, undefined],
    [
      'allow-artifact of a good one',
      open,
      'allow-artifact',
      { artifact: 'executable@kv:1' },
      'executable@kv:1 is not known-bad',
    ],
    ['allow-artifact of nothing', open, 'allow-artifact', {}, 'it needs the artifact as name@version'],
    ['end-use', open, 'end-use', { user: 'shop/deploy' }, undefined],
    [
      'end-use of itself',
      open,
      'end-use',
      { user: 'kvstore/deploy' },
      'it needs a deploy of another pipeline as pipeline/action',
    ],
    [
      'end-use of no deploy',
      open,
      'end-use',
      { user: 'shop' },
      'it needs a deploy of another pipeline as pipeline/action',
    ],
  ])('%s', (_, state, verb, input, why) => expect(whyNotPipeline(state, verb, input, NOW)).toBe(why));

  test('hold says who, when and why; unhold allows no artifact', () => {
    const held = takePipeline(open, 'hold', { actor: 'user:alice', reason: 'r' }, NOW);
    expect(held.held).toEqual({ actor: 'user:alice', reason: 'r', at: '2026-11-23T17:00:00.000Z' });
    const again = takePipeline(held, 'unhold', {}, NOW);
    expect(again.held).toBeNull();
    expect(badOf(again)).toEqual(['executable@kv:13']);
  });

  test('an artifact is allowed whatever its digest', () => {
    const digested = markKnownBad(open, [{ ...artifact('kv:13'), digest: 'sha256:1' }], 'r', NOW);
    expect(digested.knownBad).toHaveLength(2);
    expect(takePipeline(digested, 'allow-artifact', { artifact: 'executable@kv:13' }, NOW).knownBad).toEqual([]);
  });
});

test('the history keeps an entry of metadata that is as long as a door lets in', () => {
  const one: Artifact = {
    ...artifact('kv:2'),
    metadata: { attestation: 'x'.repeat(ARTIFACT_LIMITS.metadataValue.max) },
  };
  const state = recordRelease(running(pipelineOf(), one), resultOf(1, [], [one]), NOW);
  expect(state.history.at(-1)?.artifacts).toEqual([one]);
});
