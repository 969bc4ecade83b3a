import { pickInheritance } from '../../../domain/deploy/outcome';
import { admit, recordPick, withdraw } from '../../../domain/pipeline/admission';
import { recordRelease } from '../../../domain/pipeline/recordOutcome';
import { takePipeline } from '../../../domain/pipeline/control';
import type { PipelineState } from '../../../domain/pipeline/state';
import {
  admittedOf,
  begunBy,
  deployOf,
  emergency,
  exclusive,
  pick,
  pipelineWith,
  rollback,
  toldOf,
  waitingOf,
  withAsked,
} from '../../builders/admissionWorld';
import { deployed, NOW, resultOf } from '../../builders/pipelineWorld';

const never = { releases: { supersede: 'never' as const } };
const running = { releases: { supersede: 'running' as const } };
const frozen = (state: PipelineState) => takePipeline(state, 'freeze', { actor: 'user:bob', reason: 'holidays' }, NOW);
const held = (state: PipelineState) => takePipeline(state, 'hold', { actor: 'user:bob', reason: 'look' }, NOW);
const over = (state: PipelineState, release: number, action: string) => withdraw(state, { release, action });
const two = ['east', 'west'];

/** The state that a stopped deploy of kv:1 leaves to the next. */
const LEFT = { left: ['kv:1'], before: { units: [] } };

describe('who deploys when (docs/design/pipeline.md#concurrency)', () => {
  test.each<[string, PipelineState, string[]]>([
    [
      'Actions in one group never run at the same time in two releases',
      withAsked(admittedOf(pipelineWith(2), exclusive(1, ['prod'])), exclusive(2, ['prod'])),
      [],
    ],
    [
      'the release is the holder, re-entrant',
      withAsked(admittedOf(pipelineWith(2), exclusive(1, ['prod'])), deployOf(1, { mutex: ['prod'] })),
      ['1 deploy granted'],
    ],
    [
      'a group is free when the last of its holder has ended',
      over(
        over(
          withAsked(
            admittedOf(pipelineWith(2), exclusive(1, ['prod']), exclusive(1, ['prod'], 'perf-test')),
            exclusive(2, ['prod']),
          ),
          1,
          'load-test',
        ),
        1,
        'perf-test',
      ),
      ['2 load-test granted'],
    ],
    [
      'nor does who holds one wait for who waits for it, when it asks again',
      withAsked(
        admittedOf(admittedOf(pipelineWith(2), deployOf(2, { mutex: ['prod'] })), exclusive(1, ['prod'])),
        deployOf(2, { mutex: ['prod'] }),
      ),
      ['2 deploy granted'],
    ],
    [
      '… and not before',
      over(
        withAsked(
          admittedOf(pipelineWith(2), exclusive(1, ['prod']), exclusive(1, ['prod'], 'perf-test')),
          exclusive(2, ['prod']),
        ),
        1,
        'load-test',
      ),
      [],
    ],
    [
      'so parallel deploys inside one release are fine',
      withAsked(
        pipelineWith(2, {}, two),
        deployOf(1, { action: 'east', mutex: ['prod'] }),
        deployOf(1, { action: 'west', mutex: ['prod'] }),
      ),
      ['1 east granted', '1 west granted'],
    ],
    [
      '`deploy` actions exclude each other between releases even with no group',
      withAsked(admittedOf(pipelineWith(2, {}, two), deployOf(1, { action: 'east' })), deployOf(2, { action: 'west' })),
      [],
    ],
    [
      'other actions with no group in common run at the same time',
      withAsked(admittedOf(pipelineWith(2), exclusive(1, ['prod'])), exclusive(2, ['load'])),
      ['2 load-test granted'],
    ],
    [
      'A newer release that is ready cancels the deploys of older ones that wait for the same action',
      withAsked(pipelineWith(3), deployOf(1), deployOf(2), deployOf(3)),
      ['1 deploy superseded by 2', '2 deploy superseded by 3', '3 deploy granted'],
    ],
    [
      '… and not their other actions: an older release`s builds and tests finish first',
      withAsked(pipelineWith(2), exclusive(1, ['load']), deployOf(2)),
      ['1 load-test granted', '2 deploy granted'],
    ],
    [
      'None starts a deploy that a newer release has begun',
      withAsked(over(admittedOf(pipelineWith(2), deployOf(2)), 2, 'deploy'), deployOf(1)),
      ['1 deploy superseded by 2'],
    ],
    [
      'A newer one that waits for a group still supersedes',
      withAsked(
        admittedOf(pipelineWith(3), exclusive(3, ['prod'])),
        deployOf(1, { mutex: ['prod'] }),
        deployOf(2, { mutex: ['prod'] }),
      ),
      ['1 deploy superseded by 2'],
    ],
    [
      '`never` queues in order',
      withAsked(pipelineWith(3, never), deployOf(3), deployOf(2), deployOf(1)),
      ['1 deploy granted'],
    ],
    [
      '`never`: the next in order follows',
      over(admittedOf(pipelineWith(3, never), deployOf(3), deployOf(2), deployOf(1)), 1, 'deploy'),
      ['2 deploy granted'],
    ],
    [
      '`running`: a newer one also cancels older ones that wait',
      withAsked(pipelineWith(2, running), deployOf(1), deployOf(2)),
      ['1 deploy superseded by 2', '2 deploy granted'],
    ],
    [
      'Releases waiting at a pick never supersede each other',
      withAsked(pipelineWith(3), pick(1), pick(2), pick(3)),
      [],
    ],
    [
      'approving one cancels older unpicked ones',
      recordPick(withAsked(pipelineWith(3), pick(1), pick(2), pick(3)), pick(2)),
      ['1 approve superseded by 2'],
    ],
    [
      'approving one also cancels an older one that comes to the pick later',
      withAsked(recordPick(withAsked(pipelineWith(2), pick(2)), pick(2)), pick(1)),
      ['1 approve superseded by 2'],
    ],
    [
      'approving one cancels nobody at another pick',
      recordPick(withAsked(pipelineWith(2), pick(1, 'sign-off'), pick(2)), pick(2)),
      [],
    ],
    [
      'under `never` approving one cancels nobody',
      recordPick(withAsked(pipelineWith(2, never), pick(1), pick(2)), pick(2)),
      [],
    ],
    [
      'under `never` a release whose deploy was picked out of order still waits for the older one',
      withAsked(
        recordPick(withAsked(pipelineWith(2, never), pick(1, 'deploy'), pick(2, 'deploy')), pick(2, 'deploy')),
        deployOf(2),
      ),
      [],
    ],
    [
      'under `never` an older release whose deploy is picked later deploys, and goes first',
      withAsked(
        recordPick(
          recordPick(withAsked(pipelineWith(2, never), pick(1, 'deploy'), pick(2, 'deploy')), pick(2, 'deploy')),
          pick(1, 'deploy'),
        ),
        deployOf(2),
        deployOf(1),
      ),
      ['1 deploy granted'],
    ],
  ])('%s', (_, state, expected) => expect(toldOf(state)).toEqual(expected));
});

describe('no older release starves at a group', () => {
  const waits = withAsked(admittedOf(pipelineWith(3), exclusive(2, ['prod'])), exclusive(1, ['prod', 'load']));
  test('one who waits for several is not overtaken at the free one', () => {
    const state = withAsked(waits, exclusive(3, ['load']));
    expect(toldOf(state)).toEqual([]);
    expect(waitingOf(state)).toEqual([
      '1 load-test: release 2 holds prod',
      '3 load-test: release 1 comes first for load',
    ]);
    expect(toldOf(over(state, 2, 'load-test'))).toEqual(['1 load-test granted']);
  });
  test('an emergency that waits for one is not overtaken by the deploy of its holder', () => {
    const pushed = withAsked(
      begunBy(admittedOf(pipelineWith(1), exclusive(1, ['prod'])), emergency),
      deployOf(2, { emergency: true, mutex: ['prod'] }),
    );
    const state = withAsked(pushed, exclusive(1, ['prod'], 'perf-test'), deployOf(1, { mutex: ['prod'] }));
    expect(toldOf(state)).toEqual([]);
    expect(toldOf(over(state, 1, 'load-test'))).toEqual(['2 deploy granted', '1 deploy superseded by 2']);
  });
  test('one who is frozen out reserves nothing', () => {
    const state = frozen(withAsked(waits, exclusive(3, ['load'])));
    expect(toldOf(withAsked(begunBy(state, rollback), deployOf(4, { rollback: true, mutex: ['load'] })))).toEqual([
      '4 deploy granted',
    ]);
  });
  test('a deploy that waits for another deploy reserves nothing meanwhile', () => {
    const state = withAsked(admittedOf(pipelineWith(3), deployOf(1)), deployOf(2, { mutex: ['prod'] }));
    expect(toldOf(withAsked(state, exclusive(3, ['prod'])))).toEqual(['3 load-test granted']);
  });
});

describe('hold and freeze', () => {
  const urgent = (more: PipelineState) => begunBy(begunBy(more, rollback), emergency);
  const all = (state: PipelineState) =>
    withAsked(
      urgent(state),
      deployOf(1),
      exclusive(1, ['load']),
      deployOf(2, { rollback: true }),
      deployOf(3, { emergency: true }),
    );
  test('a hold stops deploys, and neither tests nor rollbacks', () =>
    expect(toldOf(all(held(pipelineWith(1))))).toEqual([
      '2 deploy granted',
      '1 deploy superseded by 2',
      '1 load-test granted',
    ]));
  test('a freeze stops everything but rollbacks', () => {
    expect(toldOf(withAsked(frozen(pipelineWith(1)), deployOf(1), exclusive(1, ['load'])))).toEqual([]);
    expect(toldOf(withAsked(urgent(frozen(pipelineWith(1))), deployOf(3, { emergency: true })))).toEqual([]);
    expect(toldOf(withAsked(urgent(frozen(pipelineWith(1))), deployOf(2, { rollback: true })))).toEqual([
      '2 deploy granted',
    ]);
  });
  test('an action that waits shows who froze the pipeline, and why', () =>
    expect(waitingOf(withAsked(frozen(pipelineWith(1)), deployOf(1)))).toEqual([
      '1 deploy: the pipeline is frozen by user:bob: holidays',
    ]));
  test('unfreezing lets everything continue', () => {
    const state = takePipeline(withAsked(frozen(pipelineWith(1)), deployOf(1)), 'unfreeze', {}, NOW);
    expect(toldOf(state)).toEqual(['1 deploy granted']);
  });
});

describe('who has to make way', () => {
  const overtaken = (state: PipelineState) =>
    admit(state, NOW).overtaken.map(({ release, by, why }) => `${release} ${why} by ${by}`);
  const deploying = (more = {}) => admittedOf(pipelineWith(2, more), deployOf(1));
  const pushed = (state: PipelineState) =>
    withAsked(begunBy(state, emergency), deployOf(state.nextNumber, { emergency: true }));
  const rolledBack = (state: PipelineState) =>
    withAsked(begunBy(state, rollback), deployOf(state.nextNumber, { rollback: true }));

  test.each<[string, PipelineState, string[]]>([
    ['with supersede: waiting nobody who deploys', withAsked(deploying(), deployOf(2)), []],
    ['with supersede: never nobody who deploys', withAsked(deploying(never), deployOf(2)), []],
    [
      'with supersede: running the older that deploys',
      withAsked(deploying(running), deployOf(2)),
      ['1 superseded by 2'],
    ],
    [
      'with supersede: running no newer that deploys',
      withAsked(
        admittedOf(pipelineWith(2, running, two), deployOf(2, { action: 'east' })),
        deployOf(1, { action: 'west' }),
      ),
      [],
    ],
    ['for an emergency whoever deploys', pushed(deploying()), ['1 preempted by 3']],
    ['for an emergency whoever deploys, even under never', pushed(deploying(never)), ['1 preempted by 3']],
    ['for an emergency whoever deploys, although held', held(pushed(deploying())), ['1 preempted by 3']],
    ['for nobody while frozen', frozen(pushed(deploying())), []],
    [
      'for an emergency no rollback',
      pushed(admittedOf(begunBy(pipelineWith(1), rollback), deployOf(2, { rollback: true }))),
      [],
    ],
    [
      'for an emergency no other emergency: the second waits for the first',
      pushed(admittedOf(begunBy(pipelineWith(1), emergency), deployOf(2, { emergency: true }))),
      [],
    ],
    ['for a rollback whoever deploys', rolledBack(deploying()), ['1 preempted by 3']],
    [
      'for a rollback no emergency',
      rolledBack(admittedOf(begunBy(pipelineWith(1), emergency), deployOf(2, { emergency: true }))),
      [],
    ],
    ['nobody twice', admit(pushed(deploying()), NOW).state, []],
    [
      'for an emergency also one that a newer one asked to stop after its phase',
      pushed(admittedOf(deploying(running), deployOf(2))),
      ['1 preempted by 3'],
    ],
  ])('%s', (_, state, expected) => expect(overtaken(state)).toEqual(expected));

  test('a rollback preempts every running deploy, even if the pipeline is frozen', () =>
    expect(overtaken(frozen(rolledBack(deploying())))).toEqual(['1 preempted by 3']));

  test('a release that waits for one that makes way shows that at once', () =>
    expect(waitingOf(withAsked(deploying(running), deployOf(2)))).toEqual([
      '2 deploy: release 1 deploys and was asked to make way',
    ]));

  test('an emergency goes before all that wait, and those older than it are superseded once it has begun', () => {
    const state = over(admit(pushed(withAsked(deploying(), deployOf(2))), NOW).state, 1, 'deploy');
    expect(toldOf(state)).toEqual(['3 deploy granted', '2 deploy superseded by 3']);
  });

  test('an emergency inherits what the deploy that made way went from, until one has come through', () => {
    const waiting = admit(pushed(deploying()), NOW).state;
    const left = withdraw(waiting, { release: 1, action: 'deploy', leaves: LEFT });
    const [answer] = admit(left, NOW).decisions;
    expect(answer?.admission).toMatchObject({ kind: 'granted', inherited: LEFT });
    const begun = admit(left, NOW).state;
    expect(recordRelease(begun, resultOf(3, [deployed('deploy', 'cancelled')]), NOW).inherited).not.toEqual({});
    expect(recordRelease(begun, resultOf(3, [deployed('deploy', 'succeeded')]), NOW).inherited).toEqual({});
    expect(recordRelease(begun, resultOf(3, [deployed('deploy', { revertedBy: 'health' })]), NOW).inherited).toEqual(
      {},
    );
  });

  test('a release that waits for a deploy which has succeeded, or reverted completely, inherits nothing', () => {
    const mixed = withdraw(pipelineWith(3), { release: 1, action: 'deploy', leaves: LEFT });
    const waiting = withAsked(admittedOf(mixed, deployOf(2)), deployOf(3));
    const inheritedAfter = (...outcome: Parameters<typeof deployed>) => {
      const left = withdraw(waiting, { release: 2, action: 'deploy', ...pickInheritance(deployed(...outcome).result) });
      return admit(left, NOW).decisions.map(({ admission }) => admission);
    };
    const fresh = [{ kind: 'granted', lastGood: null }];
    expect(inheritedAfter('deploy', 'succeeded')).toEqual(fresh);
    expect(inheritedAfter('deploy', { revertedBy: 'health' })).toEqual(fresh);
    expect(inheritedAfter('deploy', 'cancelled')).toEqual([{ ...fresh[0], inherited: LEFT }]);
    expect(pickInheritance(undefined)).toEqual({});
  });

  test('units that a deploy left to inherit do not concern another action', () => {
    const state = withdraw(pipelineWith(1, {}, two), { release: 1, action: 'east', leaves: LEFT });
    const [answer] = admit(withAsked(state, deployOf(1, { action: 'west' })), NOW).decisions;
    expect(answer?.admission).toEqual({ kind: 'granted', lastGood: null });
  });
});
