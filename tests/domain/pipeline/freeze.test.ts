import { takePipeline, whyNotPipeline } from '../../../domain/pipeline/control';
import { describeFreeze, isThawing, thawsAtMs } from '../../../domain/pipeline/freeze';
import { nextWake } from '../../../domain/pipeline/openings';
import { pipelineSummary } from '../../../domain/pipeline/view';
import { NOW, pipelineOf } from '../../builders/pipelineWorld';

const UNTIL = '2026-11-23T20:00:00.000Z';
const HOURS_3 = 3 * 3_600_000;
const frozen = (until?: string) =>
  takePipeline(pipelineOf(), 'freeze', { actor: 'user:bob', reason: 'r', ...(until ? { until } : {}) }, NOW);

describe('a freeze with an end', () => {
  test('lifts itself at that time, in whatever zone it was written, and not before', () => {
    const state = frozen('2026-11-23T21:00:00+01:00');
    expect(state.frozen?.until).toBe(UNTIL);
    expect([thawsAtMs(state), nextWake(state, NOW)]).toEqual([NOW + HOURS_3, NOW + HOURS_3]);
    expect([isThawing(state, NOW + HOURS_3 - 1), isThawing(state, NOW + HOURS_3)]).toEqual([false, true]);
  });

  test('shows until when', () => {
    expect(pipelineSummary(frozen(UNTIL))).toMatchObject({ state: 'frozen', frozenUntil: UNTIL });
    expect(describeFreeze(frozen(UNTIL).frozen!)).toBe(`frozen by user:bob until ${UNTIL}`);
  });
});

test('an imported freeze whose end is not a time waits for a person, too', () => {
  const imported = { frozen: { actor: 'user:bob', at: '', reason: 'r', until: 'christmas' } };
  expect(thawsAtMs(imported)).toBeUndefined();
});

test('a freeze without an end waits for a person', () => {
  const state = frozen();
  expect([thawsAtMs(state), nextWake(state, NOW), isThawing(state, NOW + 1e12)]).toEqual([undefined, undefined, false]);
  expect(pipelineSummary(state)).not.toHaveProperty('frozenUntil');
});

test.each<[string, ReturnType<typeof frozen>, string | undefined, string | undefined]>([
  ['an end that is to come', pipelineOf(), UNTIL, undefined],
  ['an end that is over', pipelineOf(), '2026-11-23T17:00:00Z', '2026-11-23T17:00:00Z is already over'],
  ['what is not a time', pipelineOf(), 'christmas', 'christmas is not a time; write it like 2026-12-27T06:00:00Z'],
  ['a freeze of what is frozen', frozen(), undefined, 'user:bob has already frozen it: r'],
  ['the same end again', frozen(UNTIL), UNTIL, 'user:bob has already frozen it: r'],
  ['another end of what is frozen, which moves', frozen(UNTIL), '2026-11-24T20:00:00Z', undefined],
])('freezing takes or refuses %s', (_title, state, until, why) => {
  expect(whyNotPipeline(state, 'freeze', until === undefined ? {} : { until }, NOW)).toBe(why);
});
