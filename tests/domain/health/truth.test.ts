import { pipelineOf, artifact, deployed, resultOf, running } from '../../builders/pipelineWorld';
import { letPass, pastRelease, revertedBy, through } from '../../builders/historyRows';
import { findTruths } from '../../../domain/health/truth';
import { recordRelease } from '../../../domain/pipeline/recordOutcome';
import { queueRollback } from '../../../domain/pipeline/rollback';
import type { HistoryRow } from '../../../domain/views';

/** The timeline of `kvstore/1/deploy`: the kind, who found it, and why. */
type Said = readonly [kind: string, foundBy: string | null, why: string];

const first = (...deploys: HistoryRow['deploys'][number][]): HistoryRow => pastRelease(1, deploys);
const good = first(through('13'));
const ROLLBACK = { kind: 'rollback', actor: 'user:ana', of: 1 } as const;
const EMERGENCY = { kind: 'emergency', actor: 'user:ana', reason: 'on fire' } as const;

const rows: readonly (readonly [title: string, history: readonly HistoryRow[], said: Said])[] = [
  ['the newest that came through is good', [good], ['good', null, 'succeeded']],
  [
    'what a rollback of a person undid is bad, and health did not see it',
    [good, pastRelease(2, [through('12')], ROLLBACK)],
    ['bad', 'person', 'rolled back by user:ana in kvstore/2'],
  ],
  [
    'a rollback undoes also when it did not come through itself',
    [good, pastRelease(2, [through('12', { outcome: 'failed' })], ROLLBACK)],
    ['bad', 'person', 'rolled back by user:ana in kvstore/2'],
  ],
  [
    'a person who rolls back and says that it is not bad leaves it open',
    [good, pastRelease(2, [through('12')], { ...ROLLBACK, notBad: true })],
    ['unknown', null, 'rolled back by user:ana in kvstore/2, as not bad'],
  ],
  [
    'a rollback of another release says nothing',
    [good, pastRelease(3, [through('12')], { ...ROLLBACK, of: 2 })],
    ['good', null, 'succeeded'],
  ],
  [
    'what the next release replaces as an emergency was bad',
    [good, pastRelease(2, [through('14')], EMERGENCY)],
    ['bad', 'person', 'replaced by the emergency kvstore/2 of user:ana'],
  ],
  [
    'what makes way for the emergency does not stand between, nor does a follow-on',
    [
      good,
      pastRelease(2, [through('13')], { kind: 'follow-on', of: 1 }),
      pastRelease(3, [through('14', { outcome: 'cancelled' })]),
      pastRelease(4, [through('15')], EMERGENCY),
    ],
    ['bad', 'person', 'replaced by the emergency kvstore/4 of user:ana'],
  ],
  [
    'an emergency after another release patches that one, also where that one was reverted',
    [good, pastRelease(2, [revertedBy('health', '14')]), pastRelease(3, [through('15')], EMERGENCY)],
    ['good', null, 'succeeded'],
  ],
  [
    'an emergency that brings the same version again patches nothing',
    [good, pastRelease(2, [through('13')], EMERGENCY)],
    ['good', null, 'succeeded'],
  ],
  [
    'an emergency that deploys another action patches nothing',
    [good, pastRelease(2, [through('14', { action: 'staging' })], EMERGENCY)],
    ['good', null, 'succeeded'],
  ],
  [
    'one that came through where another action of its release was reverted is left open: it brought the same version',
    [first(through('13'), revertedBy('health', '13', { action: 'other' }))],
    ['unknown', null, 'succeeded, but other of the same release was reverted'],
  ],
  [
    'one whose anomalies a person let pass, and that came through, is good',
    [first(through('13', letPass('errors')))],
    ['good', null, 'succeeded after user:ana let errors pass'],
  ],
  [
    'one whose anomalies a person let pass, and that was undone, health had found',
    [first(through('13', letPass('errors', 'cpu'))), pastRelease(2, [through('12')], ROLLBACK)],
    ['bad', 'health', 'rolled back by user:ana in kvstore/2'],
  ],
  ['what health reverted is bad', [first(revertedBy('health', '13'))], ['bad', 'health', 'reverted by health']],
  ['what a person reverted is bad', [first(revertedBy('user:bo', '13'))], ['bad', 'person', 'reverted by user:bo']],
  [
    'what a person reverted as not bad stays open',
    [first(revertedBy('user:bo', '13', { reverted: { by: 'user:bo', bad: false } }))],
    ['unknown', null, 'reverted by user:bo, as not bad'],
  ],
  [
    'what a person reverted while the fleet was broken stays open',
    [first(revertedBy('user:bo', '13', { classification: 'bad-failure' }))],
    ['unknown', null, 'reverted by user:bo while it waited for something else than its health'],
  ],
  [
    'what health reverted, and what came through later all the same, stays open',
    [first(revertedBy('health', '13')), pastRelease(2, [through('13')])],
    ['unknown', null, 'reverted by health, but the same version came through in kvstore/2'],
  ],
  [
    'the last attempt counts',
    [first(revertedBy('health', '13', letPass('errors')), through('13'))],
    ['good', null, 'succeeded after user:ana let errors pass'],
  ],
  [
    'a revert that was not finished says that it was bad, and not who found it',
    [first(revertedBy('user:bo', '13', { outcome: 'revert-failed', classification: 'bad-failure' }))],
    ['bad', null, 'user:bo ended its revert'],
  ],
  [
    'a revert from before it was kept who asked for it stays open',
    [first(revertedBy('health', '13', { reverted: undefined }))],
    ['unknown', null, 'reverted, and who did is not on record'],
  ],
  [
    'one that was cancelled stays open',
    [first(through('13', { outcome: 'cancelled' }))],
    ['unknown', null, 'cancelled'],
  ],
  ['one that failed stays open', [first(through('13', { outcome: 'failed' }))], ['unknown', null, 'failed']],
  [
    'a rollback itself stays open',
    [pastRelease(1, [through('12')], { ...ROLLBACK, of: 7 })],
    ['unknown', null, 'a rollback, which brings back what ran before'],
  ],
  [
    'a follow-on stays open',
    [pastRelease(1, [through('12')], { kind: 'follow-on', of: 7 })],
    ['unknown', null, 'a follow-on, which brings units to the version of the others'],
  ],
];

test.each(rows)('%s', (_, history, [kind, foundBy, why]) => {
  // A history is in the order in which releases ended, which is not that of their numbers.
  for (const order of [history, history.toReversed()])
    expect(findTruths(order).get('kvstore/1/deploy')).toMatchObject({ kind, foundBy, why });
});

test('each deploy action of a release has its own fate', () => {
  const truths = findTruths([
    first(through('13', { action: 'staging' }), through('13', { action: 'prod', ...letPass('cpu') })),
    pastRelease(2, [through('14', { action: 'prod' })], EMERGENCY),
  ]);
  expect([...truths].map(([id, { kind, overridden }]) => [id, kind, overridden.map(({ check }) => check)])).toEqual([
    ['kvstore/1/staging', 'good', []],
    ['kvstore/1/prod', 'bad', ['cpu']],
    ['kvstore/2/prod', 'good', []],
  ]);
});

test('the records of a pipeline keep what separates a bad version from a good one', () => {
  const [old, fresh] = [artifact('12'), artifact('13')];
  const through12 = deployed('deploy', 'succeeded', old);
  let state = recordRelease(running(pipelineOf(), old), resultOf(1, [through12]), 0);
  state = recordRelease(running(state, fresh), resultOf(2, [deployed('deploy', { revertedBy: 'health' }, fresh)]), 0);
  state = recordRelease(running(state, fresh), resultOf(3, [deployed('deploy', 'succeeded', fresh)]), 0);
  state = queueRollback(state, [old], { of: 3, actor: 'user:ana', reason: '', notBad: true }, 0);
  expect(state.history[1]?.deploys[0]?.reverted).toEqual({ by: 'health', bad: true });
  expect(state.history[0]?.deploys[0]).not.toHaveProperty('reverted');
  expect(state.active[0]?.trigger).toEqual({ kind: 'rollback', actor: 'user:ana', key: null, of: 3, notBad: true });
});
