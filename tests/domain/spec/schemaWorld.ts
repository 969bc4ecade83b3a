import fc from 'fast-check';
import { pipelineJsonSchema } from '../../../domain/spec/jsonSchema';
import { examplePipelines, exampleSource } from '../../setup/examples';

/** Pipelines that are right but for a mistake or two, of the kind that people make. */

const CHECK = { name: 'errors', metric: 'm', threshold: { above: 1 }, minSamples: 3 };

/** A pipeline with most of what there is. */
export const WHOLE = {
  pipeline: 'web',
  owners: ['user:alice'],
  labels: { tier: 'web' },
  schedule: { mode: 'calendar', calendar: '0 10 * * 1-4', timezone: 'Europe/Berlin' },
  blackouts: [{ from: '12-24', to: '01-02', timezone: 'Europe/Berlin', reason: 'holidays' }],
  releases: { expireAfter: '2d' },
  artifacts: { source: { finder: 'commits', with: { repository: 'r', branch: 'main' } } },
  mutex: { prod: {} },
  actions: {
    build: { type: 'build', inputs: ['source'], outputs: ['executable'], retry: { attempts: 2 }, timeout: '1h' },
    wait: { type: 'wait-for', with: { pipeline: 'other', artifact: 'source', version: '1' } },
    pick: { type: 'manual-pick', needs: ['build'], with: { timeout: '7d' } },
    script: { type: 'custom-script', with: { command: ['./x'] }, mutex: ['prod'] },
    canary: {
      ...{ type: 'canary', inputs: ['executable'] },
      soak: { pipeline: 'other', artifact: 'executable', for: '1h' },
      with: { pushType: 'other', amount: 2, bake: '10m', healthChecks: [{ uses: 'standard/cpu' }] },
    },
    deploy: {
      ...{ type: 'deploy', inputs: ['executable'], needs: ['pick'] },
      window: [{ days: ['mon'], from: '09:00', to: '12:00', timezone: 'UTC', onClose: 'finish-phase', maxDeploys: 2 }],
      with: {
        ...{ pushType: 'twine', lockstep: true },
        phases: [{ scope: '*', amount: '5%', bake: '10m', pre: [{ command: ['./x'] }] }],
        healthChecks: [CHECK, { ...CHECK, name: 'cpu', threshold: { increase: '5%' }, compare: 'control' }],
      },
    },
  },
  children: {
    pipelines: { label: { parent: 'web' } },
    artifacts: ['executable'],
    first: { label: { a: 'b' }, atLeast: 1 },
  },
  onCall: { page: 'group:storage', after: '15m' },
  notify: [
    { on: ['failed'], url: '${HOOK}', format: 'slack' },
    { on: ['failed'], to: 'pager' },
  ],
};

export const TEMPLATED = {
  pipeline: 'web',
  owners: ['user:alice'],
  artifacts: { source: { finder: 'manual' } },
  templates: { t: { params: { region: null, n: 1 }, action: { type: 'build', with: { at: '${region}', n: '${n}' } } } },
  actions: {
    a: { uses: 't', params: { region: 'eu' } },
    b: { uses: 't', matrix: { region: ['eu', 'us'], n: [1, 2] }, exclude: [{ n: 2 }], needs: ['a'] },
    c: { type: 'pkg', inputs: ['source'], matrix: { r: [1] }, with: { r: '${r}' } },
  },
};

/** Values that people write, right and wrong, wherever they stand. */
const VALUES: readonly unknown[] = [
  ...[
    null,
    true,
    0,
    1,
    -1,
    1.5,
    101,
    '',
    'x',
    'A',
    'a-b',
    'constructor',
    'web',
    [],
    {},
    ['x'],
    { x: 1 },
    [[]],
    ['source'],
  ],
  ...[
    '0',
    '3',
    '0%',
    '5%',
    '0.5%',
    '100%',
    '101%',
    '5',
    ' 5% ',
    '0s',
    '10m',
    '1.5h',
    '.0 Days',
    '1 Hour',
    '10',
    'UTC',
    'BST',
    'Europe/Berlin',
    '*',
    'region:x',
  ],
  ...['09:00', '24:00', '12-24', '2026-12-24', '2026-12-24T10:00', '2026-12-24T10:00Z', 'user:alice', 'standard/cpu'],
  ...[{ above: 1 }, { below: 1 }, { increase: '5%' }, { decrease: 5 }, { units: '5%' }, { units: 0 }, { version: 'x' }],
  ...[
    { attempts: 1 },
    { attempts: 3 },
    { failures: 2, within: 3 },
    { 'mann-whitney': {} },
    { evaluations: 2 },
    { label: {} },
  ],
];

interface Schema {
  readonly [key: string]: unknown;
}

/** All keys of a pipeline file, and the words that it knows. */
function wordsOf(schema: unknown, found = { keys: new Set<string>(), words: new Set<unknown>() }): typeof found {
  if (typeof schema !== 'object' || schema === null) return found;
  const { properties, enum: words, const: word } = schema as Schema;
  if (typeof properties === 'object') Object.keys(properties ?? {}).forEach((key) => found.keys.add(key));
  if (Array.isArray(words)) words.forEach((each) => found.words.add(each));
  if (word !== undefined) found.words.add(word);
  Object.values(schema).forEach((part) => wordsOf(part, found));
  return found;
}

const { keys, words } = wordsOf(pipelineJsonSchema());
const KEYS = [...keys, '__x', 'finder', 'a', 'region'];
const WORDS = [...VALUES, ...words];

type Place = readonly [parent: Record<string, unknown>, key: string];

const places = (value: unknown): Place[] =>
  typeof value !== 'object' || value === null
    ? []
    : Object.keys(value).flatMap((key) => [
        [value as Record<string, unknown>, key] as const,
        ...places((value as Record<string, unknown>)[key]),
      ]);

const SOURCES: readonly object[] = [WHOLE, WHOLE, WHOLE, TEMPLATED, ...examplePipelines().map(exampleSource)];

/** The values under each key anywhere. */
const SEEN = new Map<string, unknown[]>();
for (const [parent, key] of SOURCES.flatMap(places)) SEEN.set(key, [...(SEEN.get(key) ?? []), parent[key]]);

const edit = fc.record({
  at: fc.nat(),
  how: fc.constantFrom('remove', 'put', 'put', 'known', 'add', 'add'),
  key: fc.constantFrom(...KEYS),
  value: fc.constantFrom(...WORDS),
  seen: fc.nat(),
});

function apply(
  root: object,
  { at, how, key, value, seen }: { at: number; how: string; key: string; value: unknown; seen: number },
): void {
  const all = places(root);
  const [parent, here] = all[at % Math.max(1, all.length)] ?? [{}, ''];
  const known = (of: string): unknown => {
    const values = SEEN.get(of) ?? WORDS;
    return structuredClone(values[seen % values.length]);
  };
  if (how === 'remove') delete parent[here];
  if (how === 'put') parent[here] = structuredClone(value);
  if (how === 'known') parent[here] = known(here);
  const inside = parent[here];
  if (how !== 'add' || typeof inside !== 'object' || inside === null || Array.isArray(inside)) return;
  (inside as Record<string, unknown>)[key] = seen % 2 === 0 ? known(key) : structuredClone(value);
}

export const pipelines: fc.Arbitrary<unknown> = fc
  .tuple(fc.constantFrom(...SOURCES), fc.array(edit, { maxLength: 3 }))
  .map(([source, edits]) => {
    const value = structuredClone(source);
    edits.forEach((each) => apply(value, each));
    return JSON.parse(JSON.stringify(value)) as unknown;
  });
