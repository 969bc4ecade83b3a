import { refuseApply } from '../../../domain/pipeline/refuseApply';
import { isOver, isResult } from '../../../domain/pipeline/shapes';
import { deployed, resultOf, specOf } from '../../builders/pipelineWorld';

const over = (leaves: unknown) => isOver({ release: 1, action: 'deploy', leaves });
const UNIT = { id: 'kvstore-y', version: 'kv:1' };

test.each<[string, unknown, boolean]>([
  ['nothing said', undefined, true],
  ['nothing left', null, true],
  ['units', { left: ['kv:2'], before: { units: [UNIT] } }, true],
  ['units in pages, of which some have settled', { left: [], before: { at: 's/1', pages: 2 }, settled: ['a'] }, true],
  ['a version for each unit', { 'kvstore-y': 'kv:1' }, false],
  ['units without an id', { left: [], before: { units: [{ version: 'kv:1' }] } }, false],
  ['pages that nobody counts', { left: [], before: { at: 's/1' } }, false],
  ['units that settled as a text', { left: [], before: { units: [] }, settled: 'a' }, false],
])('the end of a deploy that hands on %s is understood or ignored', (_, leaves, expected) => {
  expect(over(leaves)).toBe(expected);
  const deploy = deployed('deploy', 'cancelled');
  expect(isResult({ ...resultOf(1, []), deploys: [{ ...deploy, result: { ...deploy.result, leaves } }] })).toBe(
    expected,
  );
});

test.each(['the pipeline', 'an action'])(
  'a calendar that a program names in the blackouts of %s is not read',
  (whose) => {
    const blackouts = [{ ics: '/etc/holidays.ics' }] as never[];
    const spec = specOf();
    const named = Object.fromEntries(
      Object.entries(spec.actions).map(([name, action]) => [name, { ...action, blackouts }]),
    );
    const sent = whose === 'an action' ? { ...spec, actions: named } : { ...spec, blackouts };
    expect(refuseApply(null, sent, {}, 'user:alice')?.message).toMatch(/^its blackouts name a calendar/);
    expect(refuseApply(null, spec, {}, 'user:alice')).toBeUndefined();
  },
);
