import { admit } from '../../../domain/pipeline/admission';
import { recordDeploy, recordRelease } from '../../../domain/pipeline/recordOutcome';
import { takePipeline } from '../../../domain/pipeline/control';
import { startable, thinQueue } from '../../../domain/pipeline/queue';
import { queueRollback } from '../../../domain/pipeline/rollback';
import { markReleaseRunning, type PipelineState } from '../../../domain/pipeline/state';
import { pipelineStatus } from '../../../domain/pipeline/view';
import type { DeployEndRecord } from '../../../domain/release/state';
import { judgeWait } from '../../../domain/release/waitFor';
import {
  admittedOf,
  begunBy,
  deployOf,
  emergency,
  pipelineWith,
  rollback,
  toldOf,
  withAsked,
} from '../../builders/admissionWorld';
import { artifact, deployed, manual, NOW, resultOf } from '../../builders/pipelineWorld';

const Y = ['kvstore-y'];
const without = (version: string, skipped: readonly string[] = Y): DeployEndRecord => {
  const deploy = deployed('deploy', 'succeeded', artifact(version));
  return { ...deploy, result: { ...deploy.result, skipped } };
};
const over = (state: PipelineState, number: number, deploy: DeployEndRecord): PipelineState =>
  recordRelease(state, resultOf(number, [deploy], deploy.artifacts), NOW);
/** Release 1 brought kv:0 everywhere, release 2 brought kv:2 without y; release 3 follows on, and runs. */
const following = (more: Parameters<typeof pipelineWith>[1] = {}): PipelineState => {
  const one = over(pipelineWith(1, more), 1, deployed('deploy', 'succeeded', artifact('kv:0')));
  return markReleaseRunning(over(begunBy(one, manual()), 2, without('kv:2')), 3);
};
const followOns = ({ active }: PipelineState) =>
  active.flatMap(({ number, trigger, followOn }) =>
    followOn ? [`${number} of ${trigger.of}: ${followOn.units}`] : [],
  );
const mine = (release = 3) => deployOf(release, { artifacts: [artifact('kv:2')] });
/** How the follow-on that deploys ended. */
const ended = (state: PipelineState, deploy: DeployEndRecord) =>
  recordDeploy(admittedOf(state, mine()), 3, deploy, NOW);

describe('a deploy that left units out', () => {
  test('is followed on by a release of its artifacts for those units', () => {
    const state = following();
    expect(followOns(state)).toEqual(['3 of 2: kvstore-y']);
    expect(state.active[0]).toMatchObject({
      artifacts: [{ version: 'kv:2' }],
      trigger: { kind: 'follow-on', actor: 'service:conveyor' },
    });
  });

  test.each<[string, DeployEndRecord]>([
    ['left nothing out', without('kv:2', [])],
    ['was reverted', { ...without('kv:2'), result: { ...without('kv:2').result, outcome: 'reverted' } }],
  ])('is not when it %s', (_, deploy) => expect(followOns(over(pipelineWith(1), 1, deploy))).toEqual([]));

  test('is followed on once, also when it is in the records before its release has ended', () => {
    const booked = recordDeploy(pipelineWith(1), 1, without('kv:2'), NOW);
    expect(followOns(over(booked, 1, without('kv:2')))).toEqual(['2 of 1: kvstore-y']);
  });
});

describe('a follow-on', () => {
  test('starts without room, calendar or pick, but not while the pipeline is frozen', () => {
    const schedule = { mode: 'calendar', gates: 'releases', calendar: '0 10 * * 1', timezone: 'UTC' } as const;
    const one = pipelineWith(2, { releases: { maxActive: 1 }, schedule });
    const queued = over(one, 1, without('kv:2'));
    expect(startable(queued, NOW).map(({ number }) => number)).toEqual([3]);
    expect(startable(takePipeline(queued, 'freeze', { actor: 'user:alice' }, NOW), NOW)).toEqual([]);
  });

  test('is let in by a calendar of deploys that is closed, and not while the pipeline is held', () => {
    const schedule = { mode: 'calendar', calendar: '0 0 1 1 *', timezone: 'UTC' } as const;
    expect(toldOf(withAsked(following({ schedule }), mine()))).toEqual(['3 deploy granted']);
    expect(toldOf(withAsked({ ...following(), held: { actor: 'a', at: '', reason: '' } }, mine()))).toEqual([]);
  });

  test.each(['waiting', 'running', 'never'] as const)(
    'supersedes no release, and waits for its turn (%s)',
    (supersede) => {
      const state = following({ releases: { supersede } });
      const older = { ...state, active: [...begunBy(state, manual()).active], nextNumber: 5 };
      const deploying = admittedOf(older, deployOf(4));
      expect(admit(withAsked(deploying, mine()), NOW)).toMatchObject({ decisions: [], overtaken: [] });
      // Nor does it keep others from their turn while it waits for its units.
      expect(toldOf(withAsked(older, deployOf(4)))).toEqual(['4 deploy granted']);
      const done = recordRelease(deploying, resultOf(4, [deployed('deploy', 'cancelled', artifact('kv:4'))]), NOW);
      expect(toldOf(withAsked(done, mine()))).toEqual(['3 deploy granted']);
    },
  );

  test('goes back to what was good before its version', () => {
    const { decisions: told } = admit(withAsked(following(), mine()), NOW);
    expect(told[0]?.admission).toEqual({ kind: 'granted', lastGood: 'kv:0' });
  });

  test('learns once that it is not needed when a newer version came through, and is refused when it asks', () => {
    const newer = over(begunBy(following(), manual()), 4, deployed('deploy', 'succeeded', artifact('kv:4')));
    expect(toldOf(newer)).toEqual(['3 deploy superseded by 4']);
    const { state } = admit(newer, NOW);
    expect(toldOf(state)).toEqual([]);
    expect(toldOf(withAsked(state, mine()))).toEqual(['3 deploy superseded by 4']);
  });

  test('stays when a newer version was reverted or cancelled', () => {
    const four = begunBy(following(), manual());
    for (const end of ['cancelled', { revertedBy: 'health' }] as const)
      expect(toldOf(withAsked(over(four, 4, deployed('deploy', end, artifact('kv:4'))), mine()))).toEqual([
        '3 deploy granted',
      ]);
  });

  test.each<[notBad: boolean, told: string, end: object]>([
    [false, '3 deploy bad-package', { cause: 'bad-package' }],
    [true, '3 deploy superseded by 4', { cause: 'superseded', causedBy: 4 }],
  ])('ends when what it follows is reverted (not bad: %s), also before it started', (notBad, told, end) => {
    const undone = (state: PipelineState) =>
      queueRollback(state, [artifact('kv:0')], { of: 2, actor: 'user:alice', reason: '', notBad }, NOW);
    expect(toldOf(undone(following()))).toEqual([told]);
    const state = following();
    const queued = { ...state, active: state.active.map((release) => ({ ...release, state: 'queued' as const })) };
    expect(thinQueue(undone(queued), NOW).history.at(-1)).toMatchObject({ number: 3, state: 'cancelled', ...end });
  });

  test.each([
    ['rollback', rollback],
    ['emergency', emergency],
  ] as const)('makes way at once for a %s', (kind, trigger) => {
    const deploying = admittedOf(begunBy(following(), trigger), mine());
    const { overtaken } = admit(withAsked(deploying, deployOf(4, { [kind]: true })), NOW);
    expect(overtaken).toEqual([{ release: 3, by: 4, why: 'preempted' }]);
  });

  test('that made way is made again', () => {
    const cancelled = deployed('deploy', 'cancelled', artifact('kv:2'));
    const preempted = { ...cancelled, result: { ...cancelled.result, cause: 'preempted' as const } };
    expect(followOns(ended(following(), preempted))).toEqual(['3 of 2: kvstore-y', '4 of 2: kvstore-y']);
    expect(followOns(ended(following(), cancelled))).toEqual(['3 of 2: kvstore-y']);
  });

  test('leaves what was unavailable again to the next one', () => {
    expect(followOns(ended(following(), without('kv:2', ['kvstore-z'])))).toEqual([
      ...['3 of 2: kvstore-y', '4 of 2: kvstore-z'],
    ]);
  });

  test('that came through leaves what a revert undoes, and what is to be inherited of other units, as they were', () => {
    const left = { left: ['kv:1'], before: { units: [] } };
    const state = { ...following(), inherited: { deploy: left } };
    const done = ended(state, without('kv:2', []));
    expect(done.good['deploy']?.map(({ release }) => release)).toEqual([1, 2]);
    expect(done.inherited).toEqual({ deploy: { ...left, settled: ['kvstore-y'] } });
  });

  test('that was reverted makes its version known-bad, not what was good before', () => {
    const bad = ended(following(), deployed('deploy', { revertedBy: 'health' }, artifact('kv:2')));
    expect(bad.knownBad.map(({ artifact: id }) => id)).toEqual(['executable@kv:2']);
    expect(bad.revertsInARow).toBe(1);
  });

  test('is not what other pipelines wait for', () => {
    const wait = { pipeline: 'kvstore', artifact: null, release: null };
    expect(judgeWait(following(), wait)).toMatchObject({ kind: 'reached', release: 2 });
  });
});

describe('the rest that a follow-on did not bring is shown in the status of its pipeline', () => {
  const failed = (version = 'kv:2'): DeployEndRecord => {
    const deploy = deployed('deploy', 'cancelled', artifact(version));
    return { ...deploy, result: { ...deploy.result, outcome: 'failed', classification: 'bad-failure' } };
  };
  const behind = (state: PipelineState) =>
    (pipelineStatus(state, NOW).behind ?? []).map(
      ({ action, units, version, release, bring }) => `${action}: ${units} on ${version}, ${release}: ${bring}`,
    );
  const bring = 'conveyor release kvstore --artifact executable=kv:2';
  const left = over(following(), 3, failed());
  const undone = deployed('deploy', { revertedBy: 'health' }, artifact('kv:2'));
  const cancelled = { ...resultOf(3, []), state: 'cancelled', cause: 'operator' } as const;

  test.each<[string, PipelineState, string[]]>([
    ['nothing while it waits', following(), []],
    ['nothing once it has', over(following(), 3, deployed('deploy', 'succeeded', artifact('kv:2'))), []],
    ['its units where it failed, and what to type', left, [`deploy: kvstore-y on kv:2, 3: ${bring}`]],
    [
      'its units where a person gave it up',
      recordRelease(following(), cancelled, NOW),
      [`deploy: kvstore-y on kv:2, 3: ${bring}`],
    ],
    [
      'that it takes another version where it was reverted',
      over(following(), 3, undone),
      ['deploy: kvstore-y on kv:2, 3: conveyor release kvstore --artifact executable=NEWER'],
    ],
    [
      'nothing once a newer version came through',
      over(begunBy(left, manual()), 4, deployed('deploy', 'succeeded', artifact('kv:4'))),
      [],
    ],
  ])('%s', (_, state, expected) => expect(behind(state)).toEqual(expected));

  test('and in its history', () =>
    expect(left.history.at(-1)).toMatchObject({ state: 'failed', followOn: { action: 'deploy', units: Y } }));
});
