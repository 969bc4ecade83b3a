import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { parse as parseYaml, stringify } from 'yaml';
import { parsePipeline, parsePipelineValue } from '../../../domain/spec/parse';
import { definePipeline } from '../../../domain/spec/written';
import { firstPipeline } from '../../../domain/spec/firstPipeline';

const EXAMPLES = join(__dirname, '../../../examples');
const examples = readdirSync(EXAMPLES, { recursive: true, encoding: 'utf8' }).filter((file) =>
  file.endsWith('pipeline.yaml'),
);
const read = (file: string): string => readFileSync(join(EXAMPLES, file), 'utf8');
const errorsOf = (text: string) => parsePipeline(text).problems.filter(({ severity }) => severity === 'error');

describe('examples that people copy work', () => {
  test('there are examples', () => expect(examples).toContain('kvstore/pipeline.yaml'));

  test.each(examples)('examples/%s lints without errors', (file) => {
    expect(errorsOf(read(file))).toEqual([]);
  });

  test('a file of conveyor init lints without a word, and belongs to its author', () => {
    const { spec, problems } = parsePipeline(firstPipeline('web', 'user:alice'));
    expect(problems).toEqual([]);
    expect(spec).toMatchObject({ pipeline: 'web', owners: ['user:alice'] });
  });

  test('the example of the paper deploys three tasks of region x first', () => {
    const deploy = parsePipeline(read('kvstore/pipeline.yaml')).spec?.actions['deploy'];
    expect(deploy).toMatchObject({
      type: 'deploy',
      with: {
        config: { jobs: ['kvstore-x', 'kvstore-y'] },
        phases: [{ name: 'first', scope: 'region:x', amount: { count: 3 }, bake: 8000 }],
        healthInterval: 1000,
      },
    });
  });
});

const WITH_ANCHORS = `
pipeline: web
owners: [user:alice]
artifacts: { executable: { finder: manual } }
actions:
  east: &deploy
    type: deploy
    inputs: [executable]
    with: &with
      pushType: twine
      config: { jobs: [east] }
      healthChecks: &checks
        - { name: errors, metric: m, threshold: { above: 1 }, minSamples: 3 }
  west:
    <<: *deploy
    with: { <<: *with, config: { jobs: [west] }, healthChecks: *checks }
`;

describe('YAML', () => {
  test('anchors and merge keys are understood', () => {
    const { spec, problems } = parsePipeline(WITH_ANCHORS);
    expect(problems).toEqual([]);
    expect(spec?.actions['west']).toMatchObject({
      with: { pushType: 'twine', config: { jobs: ['west'] }, healthChecks: [{ name: 'errors' }] },
    });
  });

  test('a mistake in an anchor is reported where it is written, once', () => {
    const { problems } = parsePipeline(WITH_ANCHORS.replace('above: 1', 'above: high'));
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatchObject({ line: 13, message: 'above cannot be "high"' });
  });

  test('an anchor that contains itself is reported, not followed for ever', () => {
    const text = `pipeline: web\nowners: [user:a]\nartifacts: { x: { finder: manual } }\nactions:\n  build: &self { type: build, with: { again: *self } }\n`;
    expect(errorsOf(text)).toMatchObject([
      { code: 'unknown-anchor', line: 5, message: '*self refers to no anchor that ends above it' },
    ]);
  });

  test('a file of which anchors or merge keys make more than a person reads is refused before that is made', () => {
    const merged = Array.from(
      { length: 3_000 },
      (_, n) => `  a${n}: &a${n} {${n > 0 ? `<<: *a${n - 1}, ` : ''}k${n}: 1}`,
    );
    const before = performance.now();
    const { spec, problems } = parsePipeline(`actions:\n${merged.join('\n')}\n`);
    expect(spec).toBeNull();
    expect(problems).toMatchObject([
      {
        code: 'too-large',
        message: expect.stringMatching(/with its anchors expanded is 18\d{6}, more than 50000/),
      },
    ]);
    expect(performance.now() - before).toBeLessThan(20_000);
  });

  test('a readable number of many mistakes is shown, and the count of the rest', () => {
    const keys = Array.from({ length: 20_000 }, (_, n) => `key${n}: 1`);
    const { spec, problems } = parsePipeline(`${keys.join('\n')}\n`);
    expect(spec).toBeNull();
    expect(problems).toHaveLength(101);
    expect(problems.at(-1)).toMatchObject({ severity: 'error', code: 'more-problems' });
    expect(problems.at(-1)?.message).toMatch(/^19\d{3} more problems of this file not shown$/);
  });

  test('a file that nests thousands of levels deep is refused with that reason', () => {
    const { problems } = parsePipeline(`actions: ${'['.repeat(20_000)}${']'.repeat(20_000)}`);
    expect(problems).toMatchObject([{ code: 'syntax', message: 'nested too deep' }]);
  });

  test('a small file cannot be made huge by aliases', () => {
    const layers = Array.from(
      { length: 9 },
      (_, n) => `  l${n + 1}: &l${n + 1} [${Array(9).fill(`*l${n}`).join(', ')}]`,
    );
    const bomb = `labels:\n  l0: &l0 [a, a, a, a, a, a, a, a, a]\n${layers.join('\n')}\n`;
    expect(errorsOf(bomb)).toMatchObject([{ code: 'too-large' }]);
  });

  test.each(['36501d', '999999999999w', `${'9'.repeat(101)}s`])(
    'a duration of %s, which ends on no day, is refused',
    (bake) => {
      const minimal = read('minimal/pipeline.yaml');
      const field = 'releases.expireAfter';
      expect(errorsOf(`${minimal}\nreleases: { expireAfter: ${bake} }\n`)).toMatchObject([
        { path: field, hint: 'a duration is 36500d at most' },
      ]);
      expect(errorsOf(`${minimal}\nreleases: { expireAfter: 36500d }\n`)).toEqual([]);
    },
  );

  test('durations are ms, amounts are counts or percentages, and defaults are filled in', () => {
    const { spec } = parsePipeline(read('minimal/pipeline.yaml'));
    expect(spec).toMatchObject({
      priority: 'normal',
      releases: { maxActive: 5, supersede: 'waiting', onRevert: 'until-newer' },
      actions: {
        deploy: {
          retry: { attempts: 1, backoff: 0 },
          with: { healthInterval: 60_000, onUnhealthy: 'revert', mode: 'sequential' },
        },
      },
    });
  });
});

describe('a pipeline written in TypeScript', () => {
  const source = definePipeline({
    pipeline: 'web',
    owners: ['user:alice'],
    artifacts: { executable: { finder: 'manual' } },
    actions: { pack: { type: 'pkg', inputs: ['executable'] } },
  });

  test('goes through the same checks', () => {
    expect(parsePipelineValue(source)).toMatchObject({ spec: { pipeline: 'web' }, problems: [] });
    expect(parsePipelineValue({ ...source, owner: 'me' })).toMatchObject({
      spec: null,
      problems: [{ line: 1, column: 1, code: 'unknown-key', path: 'owner', hint: 'did you mean owners?' }],
    });
  });

  test.each([undefined, null, 7, 'text', [], () => undefined, { actions: { a: () => 1 } }])(
    '%p is refused, not thrown at',
    (value) => {
      expect(parsePipelineValue(value).spec).toBeNull();
    },
  );
});

describe('for all files', () => {
  /** A place in a value, and something else to put there. */
  const edits = fc.array(
    fc.record({ at: fc.nat(), put: fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.constant(undefined)) }),
    { minLength: 1, maxLength: 4 },
  );

  const places = (value: unknown): [Record<string, unknown>, string][] =>
    typeof value !== 'object' || value === null
      ? []
      : Object.keys(value).flatMap((key) => [
          [value as Record<string, unknown>, key] as [Record<string, unknown>, string],
          ...places((value as Record<string, unknown>)[key]),
        ]);

  test('for any damage to a good file, the answer points into it', () => {
    fc.assert(
      fc.property(edits, (changes) => {
        const value: unknown = parseYaml(read('frontend/pipeline.yaml'));
        for (const { at, put } of changes) {
          const all = places(value);
          const [parent, key] = all[at % Math.max(1, all.length)] ?? [{}, ''];
          if (put === undefined) delete parent[key];
          else parent[key] = put;
        }
        const text = stringify(value);
        const { spec, problems } = parsePipeline(text);
        const lines = text.split('\n').length;
        for (const problem of problems) {
          expect(problem.line).toBeLessThanOrEqual(lines);
          expect(problem.hint).not.toBe('');
          expect(problem.message + problem.hint).not.toMatch(/Invalid|undefined|\[object/);
        }
        expect(spec === null).toBe(problems.some(({ severity }) => severity === 'error'));
      }),
      { numRuns: 120 },
    );
  });

  test('no text makes it throw', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) =>
        expect(parsePipeline(text).problems.length).toBeGreaterThan(0),
      ),
      { numRuns: 300 },
    );
  });
});
