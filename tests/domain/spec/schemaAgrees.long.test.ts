import Ajv from 'ajv';
import fc from 'fast-check';
import { pipelineJsonSchema } from '../../../domain/spec/jsonSchema';
import { parsePipelineValue, type Problem } from '../../../domain/spec/parse';
import { pipelines, TEMPLATED, WHOLE } from './schemaWorld';

/** The JSON schema that editors use, by a validator that knows nothing of ours, and fails where editors would ignore a part of it. */
const validate = new Ajv({ extendRefs: 'fail' }).compile(pipelineJsonSchema());
const takes = (value: unknown): boolean => validate(value) === true;
const errorsOf = (value: unknown): Problem[] =>
  parsePipelineValue(value).problems.filter(({ severity }) => severity === 'error');

/** Pipelines that lint refuses and no JSON schema can: it looks at one value at a time, by its form. */
const BEYOND: Readonly<Record<string, readonly string[]>> = {
  'whether a name is that of something else in the file': [
    ...[
      'soaks-nowhere',
      'not-a-deploy',
      'cannot-wish',
      'offer-after',
      'unknown-wish',
      'wish-for-own-offer',
      'soaks-another',
      'unknown-action',
      'unknown-mutex',
      'unknown-artifact',
      'ambiguous-artifact',
      'unknown-template',
    ],
    ...[
      'waits-for-itself',
      'own-output',
      'own-child',
      'canary-in-lockstep',
      'unknown-param',
      'missing-param',
      'duplicate-param',
    ],
  ],
  'ways through the graph': [
    'cycle',
    'unreachable-action',
    'undecided-condition',
    'kept-in-vain',
    'kept-by-deploy',
    'soaks-later',
  ],
  'that two values differ, or which is more': [
    ...['duplicate-offer', 'duplicate-wish', 'misplaced-keyword', 'offer-schema', 'offers-in-order', 'wish-as-program'],
    ...['duplicate-phase', 'duplicate-check', 'bake-too-short', 'empty-window', 'first-impossible'],
    ...['duplicate-action', 'same-output', 'several-actions', 'empty-matrix'],
  ],
  'sizes in bytes, and sums': ['over-limit'],
  'the calendar, and the database of timezones': [
    ...['no-such-date', 'empty-blackout', 'invalid-timezone', 'invalid-cron', 'never-fires', 'never-opens'],
  ],
  'what an address means': ['internal-address'],
  'values that JSON does not have': ['not-json'],
  'what is in a text with parameters': ['bad-placeholder'],
};
const BEYOND_CODES = new Set(Object.values(BEYOND).flat());

/** As those, under a code that has other reasons as well. */
const BEYOND_WORDS = [
  /^no action heeds the blackouts/,
  /^every value is above the one limit or below the other/,
  /^a check looks back/,
  /a duration is \d+d at most/,
  /a page waits for 24h at most/,
  /more failures than evaluations/,
];

/** A ready check and what is written beside it are one check only once they are put together. */
const withReady = ({ message, path }: Problem, root: unknown): boolean =>
  /compare|mann-whitney/.test(message) && 'uses' in Object(valueAt(root, path.replace(/\.\w+$/, '')));

const valueAt = (root: unknown, path: string): unknown =>
  path
    .split(/[.[\]]+/)
    .filter((key) => key !== '')
    .reduce<unknown>((value, key) => (Object(value) as Record<string, unknown>)[key], root);

/** For a generated action: its values are looked at once parameters have been put in. */
function ofMade({ path, code }: Problem, root: unknown): boolean {
  const [first, name = '', field = '', param] = path.split('.');
  const action = Object(valueAt(root, `actions.${name}`)) as object;
  if (first === 'templates' && field === 'params' && param !== undefined) return code !== 'invalid-name';
  if (first === 'templates') return !['params', ''].includes(field);
  return first === 'actions' && ('uses' in action || 'matrix' in action);
}

const isExpressible = (problem: Problem, root: unknown): boolean =>
  !BEYOND_CODES.has(problem.code) &&
  !BEYOND_WORDS.some((words) => words.test(problem.message) || words.test(problem.hint)) &&
  !withReady(problem, root) &&
  !ofMade(problem, root);

describe('the JSON schema and lint', () => {
  test('take the same files', () => {
    expect([takes(WHOLE), errorsOf(WHOLE)]).toEqual([true, []]);
    expect([takes(TEMPLATED), errorsOf(TEMPLATED)]).toEqual([true, []]);
  });

  test('refuse the same mistakes, but for those that no schema can see', () => {
    fc.assert(
      fc.property(pipelines, (value) => {
        const errors = errorsOf(value);
        if (!takes(value)) expect(errors).not.toEqual([]);
        else expect(errors.filter((problem) => isExpressible(problem, value))).toEqual([]);
      }),
      { numRuns: 1000 },
    );
  });

  const { deploy, pick, canary, build, script, wait } = WHOLE.actions;
  const labels = Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`a${n}`, 'x']));
  const wholeWith = (actions: object) => ({ ...WHOLE, actions: { ...WHOLE.actions, ...actions } });
  const checked = (check: object) =>
    wholeWith({
      deploy: { ...deploy, with: { ...deploy.with, healthChecks: [{ name: 'c', metric: 'm', ...check }] } },
    });
  const phased = (phase: object, fields: object = {}) =>
    wholeWith({
      deploy: { ...deploy, with: { ...deploy.with, ...fields, phases: [{ scope: '*', bake: '10m', ...phase }] } },
    });

  test.each<[string, object]>([
    ['no actions', { ...WHOLE, actions: {} }],
    ['a calendar without a zone', { ...WHOLE, schedule: { mode: 'calendar', calendar: '0 10 * * 1' } }],
    ['a mode calendar without one', { ...WHOLE, schedule: { mode: 'calendar' } }],
    ['a calendar that no mode heeds', { ...WHOLE, schedule: { calendar: '0 10 * * 1', timezone: 'UTC' } }],
    ...[0, '0', '0%', '101%', 1.5, '5 %', '100.1%'].map((amount): [string, object] => [
      `the amount ${amount}`,
      phased({ amount }),
    ]),
    ['a retry of a deploy', wholeWith({ deploy: { ...deploy, retry: { attempts: 2 } } })],
    ['a timeout of a deploy', wholeWith({ deploy: { ...deploy, timeout: '1h' } })],
    ['a timeout of a pick', wholeWith({ pick: { ...pick, timeout: '1h' } })],
    ['a deploy of nothing', wholeWith({ deploy: { ...deploy, inputs: [] } })],
    ['a canary of nothing', wholeWith({ canary: { ...canary, inputs: undefined } })],
    ['a script that makes something', wholeWith({ script: { ...script, outputs: ['x'] } })],
    ['a wait that makes something', wholeWith({ wait: { ...wait, outputs: ['x'] } })],
    ['a version of no artifact', wholeWith({ wait: { ...wait, with: { pipeline: 'other', version: '1' } } })],
    ['a phase out of step', phased({ amount: { units: 1 } })],
    ['a phase of a part in lockstep', phased({ scope: 'region:x', amount: 1 })],
    [
      'windows that close in two ways',
      wholeWith({ deploy: { ...deploy, window: [deploy.window[0], { ...deploy.window[0], onClose: 'pause' }] } }),
    ],
    ['a limit that compares', checked({ threshold: { above: 1 }, compare: 'control' })],
    ['a change from nothing', checked({ threshold: { increase: '1%' } })],
    ['ranks of a limit', checked({ threshold: { above: 1 }, method: 'mann-whitney' })],
    ['a look back over nothing', checked({ threshold: { above: 1 }, lookback: '0s' })],
    ['an average over nothing', checked({ threshold: { above: 1 }, transform: [{ average: '0m' }] })],
    [
      'a percentile over nothing',
      checked({ threshold: { above: 1 }, transform: [{ percentile: { q: 99, over: '0.0s' } }] }),
    ],
    ['a blackout without a zone', { ...WHOLE, blackouts: [{ from: '12-24', to: '12-26', reason: 'x' }] }],
    [
      'a blackout of two kinds',
      { ...WHOLE, blackouts: [{ from: '12-24', to: '2026-12-26', timezone: 'UTC', reason: 'x' }] },
    ],
    [
      'a blackout of times without days',
      { ...WHOLE, blackouts: [{ from: '09:00', to: '10:00', timezone: 'UTC', reason: 'x' }] },
    ],
    ['a finder without what it takes', { ...WHOLE, artifacts: { source: { finder: 'commits' } } }],
    ['a release that expires at once', { ...WHOLE, releases: { expireAfter: '0m' } }],
    ['too many labels', { ...WHOLE, labels }],
    ['children of an empty label', { ...WHOLE, children: { ...WHOLE.children, pipelines: { label: {} } } }],
    ['a reserved word for a name', { ...wholeWith({ constructor: build }) }],
    ['templates that are no mapping', { ...TEMPLATED, templates: [] }],
    ['a template that uses another', { ...TEMPLATED, templates: { t: { action: { type: 'build', uses: 't' } } } }],
    ['a matrix of mappings', { ...TEMPLATED, actions: { a: { type: 'build', matrix: { r: [{}] } } } }],
    ['exclude without a matrix', { ...TEMPLATED, actions: { a: { uses: 't', exclude: [{ n: 1 }] } } }],
  ])('refuse %s', (_, value) => {
    const written = JSON.parse(JSON.stringify(value)) as unknown;
    expect(errorsOf(written)).not.toEqual([]);
    expect(takes(written)).toBe(false);
  });
});
