import { forgive, take, type Control } from '../../../domain/deploy/control';
import { withOverrides } from '../../../domain/deploy/overrides';
import { newDeploy, withHealth, type DeployRecord } from '../../../domain/deploy/state';
import { pauseDeploy } from '../../../domain/deploy/pauseRecord';
import type { CommandInput, DeployVerb } from '../../../domain/verbs';
import { healthRow } from './healthRow';

const NOW = Date.parse('2026-11-23T17:00:00Z');
const SPEC = { healthChecks: [{ name: 'errors' }, { name: 'cpu' }, { name: 'noise', onUnhealthy: 'ignore' as const }] };

/** One thing that happens to a deploy; after each the record is looked at, as a deploy does. */
type Step = (record: DeployRecord) => DeployRecord;

const seen =
  (...unhealthy: readonly string[]): Step =>
  (record) =>
    withHealth(
      record,
      unhealthy.length > 0 ? 'unhealthy' : 'healthy',
      SPEC.healthChecks.map(({ name }) => healthRow(name, unhealthy.includes(name) ? 'unhealthy' : 'healthy')),
    );
const controlled = (change: (control: Control) => Control): Step => {
  return (record) => ({ ...record, control: change(record.control) });
};
const says = (verb: DeployVerb, input: CommandInput = {}): Step =>
  controlled((control) => take(control, verb, { actor: 'user:ana', reason: 'noise', ...input }, NOW));
const skip = (check?: string, actor = 'user:ana'): Step =>
  says('skip-health-check', check === undefined ? { actor } : { actor, check });
const pauses =
  (by: 'health' | 'dependency'): Step =>
  (record) =>
    pauseDeploy(record, NOW, by, 'r');
const systemSkips = (check: string): Step => controlled((control) => forgive(control, [check], 'was so before', NOW));

const rows: readonly (readonly [title: string, steps: readonly Step[], overridden: readonly string[]])[] = [
  ['a check that is unhealthy when a person skips it', [seen('errors'), skip('errors')], ['errors']],
  ['a check that turns unhealthy after a person skipped it', [skip('errors'), seen(), seen('errors')], ['errors']],
  ['nothing, where the skipped check was healthy all along', [skip('errors'), seen(), seen('cpu')], []],
  [
    'nothing, where the skipped check was only in doubt',
    [skip('errors'), (r) => withHealth(r, 'healthy', [healthRow('errors', 'inconclusive')])],
    [],
  ],
  [
    'each unhealthy check that counts, when a person skips them all',
    [seen('errors', 'cpu', 'noise'), skip()],
    ['errors', 'cpu'],
  ],
  ['nothing, where the check is only reported', [seen('noise'), skip('noise')], []],
  ['nothing, where nobody skipped it', [seen('errors'), pauses('health')], []],
  ['nothing, where the system itself skipped it', [seen('errors'), systemSkips('errors')], []],
  [
    'what paused it by its health, when a person resumes',
    [seen('errors'), pauses('health'), says('resume'), seen()],
    ['errors'],
  ],
  [
    'nothing, where a person resumes what a dependency paused',
    [seen('errors'), pauses('dependency'), says('resume')],
    [],
  ],
  ['nothing, where a person resumes what missing data paused', [seen(), pauses('health'), says('resume')], []],
  [
    'of a resume, nothing that the system itself skipped',
    [seen('errors', 'cpu'), systemSkips('cpu'), pauses('health'), says('resume')],
    ['errors'],
  ],
];

test.each(rows)('a deploy remembers as let pass %s', (_, steps, overridden) => {
  expect(after(steps).overridden.map(({ check }) => check)).toEqual(overridden);
});

const after = (steps: readonly Step[]): DeployRecord =>
  steps.reduce((record, step) => withOverrides(step(record), SPEC), newDeploy(NOW));

test('a deploy remembers of each check who let it pass first, when and why', () => {
  const { overridden } = after([seen('errors'), skip('errors'), skip(undefined, 'user:bo'), seen('errors')]);
  const at = '2026-11-23T17:00:00.000Z';
  expect(overridden).toEqual([{ check: 'errors', actor: 'user:ana', reason: 'noise', at }]);
});
