import fc from 'fast-check';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse as parseYaml, stringify } from 'yaml';
import { SPEC_LIMITS } from '../../../domain/limits';
import { expandActions } from '../../../domain/spec/expand/expand';
import { parsePipeline, parsePipelineValue } from '../../../domain/spec/parse';
import { definePipeline } from '../../../domain/spec/written';

const BASE = { pipeline: 'web', owners: ['user:alice'], artifacts: { source: { finder: 'manual' } } };
const BUILD = { type: 'build', inputs: ['source'], outputs: ['executable'] };

/** The actions that are made of these, as if they had been written out. */
const made = (actions: object, templates?: object): Record<string, Record<string, unknown>> => {
  const { value, findings } = expandActions({ ...BASE, ...(templates && { templates }), actions });
  expect(findings.filter(({ severity }) => severity === 'error')).toEqual([]);
  return (value as { actions: Record<string, Record<string, unknown>> }).actions;
};
const errors = (actions: object, templates?: object): string[] =>
  parsePipelineValue({ ...BASE, ...(templates && { templates }), actions })
    .problems.filter(({ severity }) => severity === 'error')
    .map(({ code, path }) => `${code} ${path}`);

describe('a template', () => {
  const templates = {
    unit: {
      params: { region: null, target: 'kv', size: 2 },
      action: {
        ...{ type: 'build', needs: ['first'], timeout: '10m' },
        with: { target: '//${target}:${region}', size: '${size}', all: ['${region}', 7, true], flag: '--${size}' },
      },
    },
  };

  test('is an action with the values of its parameters: given, else its own', () => {
    expect(made({ a: { uses: 'unit', params: { region: 'eu' } } }, templates)['a']).toEqual({
      type: 'build',
      needs: ['first'],
      timeout: '10m',
      with: { target: '//kv:eu', size: 2, all: ['eu', 7, true], flag: '--2' },
    });
  });

  test('gives way to what is written beside it, field by field', () => {
    const beside = { needs: ['other'], runIf: 'always', with: { target: 'mine' } };
    expect(made({ a: { uses: 'unit', params: { region: 'eu' }, ...beside } }, templates)['a']).toEqual({
      ...{ type: 'build', timeout: '10m' },
      ...beside,
    });
  });

  test('puts a value that stands alone in as it is: a list, a mapping, a number, true', () => {
    const given = { list: [{ a: 1 }], mapping: { b: [2] }, number: 3, yes: true };
    const params = Object.fromEntries(Object.keys(given).map((key) => [key, null]));
    const all = Object.fromEntries(Object.keys(given).map((key) => [key, `\${${key}}`]));
    const template = { params, action: { type: 'build', with: all } };
    expect(made({ a: { uses: 't', params: given } }, { t: template })['a']).toEqual({ type: 'build', with: given });
  });

  test('takes what is given as a text, whatever is in it', () => {
    const template = { params: { a: null, b: 'x' }, action: { type: 'build', with: { all: '${a} ${b}' } } };
    expect(made({ one: { uses: 't', params: { a: '$${b}' } } }, { t: template })['one']).toMatchObject({
      with: { all: '${b} x' },
    });
  });

  test.each([
    ['$${HOME}', '${HOME}'],
    ['$$${HOME}', '$${HOME}'],
    ['$HOME $$ {a} $', '$HOME $$ {a} $'],
    ['a $${x} ${p}', 'a ${x} 1'],
  ])('writes %s as %s', (written, read) => {
    const template = { params: { p: 1 }, action: { type: 'build', with: { text: written, p: '${p}' } } };
    expect(made({ a: { uses: 't' } }, { t: template })['a']).toEqual({ type: 'build', with: { text: read, p: 1 } });
  });

  test('cannot be made huge', () => {
    const many = { type: 'build', with: { all: Array(1000).fill('x${p}') } };
    const template = { params: { p: 'y'.repeat(1000) }, action: many };
    expect(errors({ a: { uses: 't' } }, { t: template })).toEqual(['over-limit templates.t.action.with.all[64]']);
  });

  test.each(['__proto__', 'constructor', 'toString'])('is not confused by a parameter %s', (name) => {
    const params = JSON.parse(`{ "${name}": { "polluted": true } }`) as object;
    const template = { params, action: { type: 'build', with: { all: `\${${name}}` } } };
    const parsed = parsePipelineValue({ ...BASE, templates: { t: template }, actions: { a: { uses: 't', params } } });
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
    expect(Object.prototype.toString.call({})).toBe('[object Object]');
    expect(parsed.spec === null).toBe(name === '__proto__');
    const missing = parsePipelineValue({ ...BASE, templates: { t: { action: template.action } }, actions: {} });
    expect(missing.problems.map(({ code }) => code)).toContain('unknown-param');
  });

  test('that contains itself is no endless one', () => {
    const circle: Record<string, unknown> = { text: '${a}' };
    circle['self'] = [circle, circle];
    expect(made({ x: { type: 'build', matrix: { a: [1] }, with: circle } })['x-1']).toMatchObject({
      with: { text: 1 },
    });
  });
});

describe('a matrix', () => {
  const test2 = { type: 'integr-test', with: { where: '${region}', size: '${size}' } };

  test('makes an action for each combination, at its place, in the order of the file', () => {
    const actions = { build: BUILD, test: { ...test2, matrix: { region: ['eu', 'us'], size: [1, 2] } }, last: BUILD };
    expect(Object.keys(made(actions))).toEqual(['build', 'test-eu-1', 'test-eu-2', 'test-us-1', 'test-us-2', 'last']);
    expect(made(actions)['test-us-2']).toEqual({ type: 'integr-test', with: { where: 'us', size: 2 } });
  });

  test('leaves out what exclude says', () => {
    const exclude = [{ region: 'eu', size: 2 }, { region: 'ap' }];
    const matrix = { region: ['eu', 'us', 'ap'], size: [1, 2] };
    expect(Object.keys(made({ test: { ...test2, matrix, exclude } }))).toEqual(['test-eu-1', 'test-us-1', 'test-us-2']);
  });

  test('gives a template its parameters, and those that are written the values of its own', () => {
    const template = {
      params: { region: null, name: null },
      action: { type: 'build', with: { at: '${region}/${name}' } },
    };
    const use = { uses: 't', matrix: { region: ['eu'], n: [1] }, params: { name: 'kv-${n}' }, needs: ['a-${region}'] };
    expect(made({ a: { ...BUILD }, b: use }, { t: template })['b-eu-1']).toEqual({
      ...{ type: 'build', needs: ['a-eu'] },
      with: { at: 'eu/kv-1' },
    });
  });

  test('stands for all that it made, where others need it or look at it', () => {
    const pack = {
      type: 'pkg',
      needs: ['build', 'test', 'build'],
      when: [{ changed: 'executable' }, { action: 'test', outcome: 'failed' }],
    };
    const keep = { type: 'canary', with: { keepUntil: 'one' } };
    const one = { type: 'pkg', matrix: { of: ['a'] }, with: { of: '${of}' } };
    const test = { type: 'integr-test', matrix: { r: ['eu', 'us'] }, with: { r: '${r}' } };
    const all = made({ build: BUILD, test, pack, keep, one });
    expect(all['pack']).toMatchObject({
      needs: ['build', 'test-eu', 'test-us', 'build'],
      when: [
        { changed: 'executable' },
        { action: 'test-eu', outcome: 'failed' },
        { action: 'test-us', outcome: 'failed' },
      ],
    });
    expect(all['keep']).toMatchObject({ with: { keepUntil: 'one-a' } });
  });

  test('takes a soak as any other action, beside a template and in it, and where it made one action soaks there', () => {
    const stage = { type: 'deploy', matrix: { of: ['a'] }, with: {} };
    const soak = { action: 'stage', for: '1h' };
    const template = { params: { r: null }, action: { type: 'deploy', with: {}, soak: { ...soak, for: '2h' } } };
    const inTemplate = { uses: 't', params: { r: 'eu' } };
    const all = made({ stage, beside: { ...inTemplate, soak }, inTemplate }, { t: template });
    expect([all['beside'], all['inTemplate']]).toMatchObject([
      { soak: { action: 'stage-a', for: '1h' } },
      { soak: { action: 'stage-a', for: '2h' } },
    ]);
  });

  test('a template with more actions than a pipeline may have is refused as if they were written out', () => {
    const test = { type: 'build', matrix: { a: Array.from({ length: 40 }, (_, n) => n) }, with: { n: '${a}' } };
    expect(errors({ one: test, two: test })).toEqual(['over-limit actions']);
    const wide = { ...test, matrix: { a: Array(SPEC_LIMITS.axisValues.max + 1).fill(1) } };
    expect(errors({ wide })).toEqual(['invalid-value actions.wide.matrix.a']);
    const deep = { ...test, matrix: { a: [1], b: [1], c: [1], d: [1], e: [1] } };
    expect(errors({ deep })).toEqual(['over-limit actions.deep.matrix']);
  });

  test('a template whose artifacts have names of their own is fine', () => {
    const build = { type: 'build', matrix: { r: ['eu', 'us'] }, outputs: ['image-${r}'] };
    expect(errors({ build, pack: { type: 'pkg', inputs: ['image-eu', 'image-us'] } })).toEqual([]);
  });
});

test('a mistake is reported once and at its origin, however often it is used', () => {
  const file = stringify({
    ...BASE,
    templates: {
      t: { params: { r: null }, action: { type: 'manual-pick', timeout: '1h', with: { principals: ['user:${r}'] } } },
    },
    actions: { a: { uses: 't', matrix: { r: ['eu', 'us'] } }, b: { uses: 't', params: { r: 'x' } } },
  });
  const problems = parsePipeline(file).problems.filter(({ severity }) => severity === 'error');
  expect(problems).toMatchObject([{ code: 'no-effect', path: 'templates.t.action.timeout' }]);
  expect(file.split('\n')[problems[0]!.line - 1]).toContain('timeout: 1h');
});

test('a pipeline in TypeScript may have templates and matrices', () => {
  const pipeline = definePipeline({
    ...BASE,
    templates: { test: { params: { size: 1 }, action: { type: 'perf-test', with: { size: '${size}' } } } },
    actions: {
      build: { type: 'build', inputs: ['source'] },
      test: { uses: 'test', matrix: { size: [1, 2] }, exclude: [{ size: 2 }], needs: ['build'] },
      pack: { type: 'pkg', matrix: { of: ['a'] }, with: { name: '${of}' }, needs: ['test'] },
    },
  });
  expect(parsePipelineValue(pipeline)).toMatchObject({
    problems: [],
    spec: { actions: { 'test-1': { type: 'perf-test' } } },
  });
});

test('the example of the documentation is what it says', () => {
  const page = readFileSync(join(__dirname, '../../../docs/reference/pipelines.md'), 'utf8');
  const section = page.slice(page.indexOf('## Templates and matrices'));
  const [, example = ''] = /```yaml\n([^]*?)```/.exec(section) ?? [];
  const { spec, problems } = parsePipelineValue({ ...BASE, ...(parseYaml(example) as object) });
  expect(problems.filter(({ severity }) => severity === 'error')).toEqual([]);
  expect(Object.keys(spec?.actions ?? {})).toEqual([
    'build',
    'deploy-eu',
    'deploy-us',
    'profile-eu',
    'profile-us',
    'publish',
  ]);
  expect(spec?.actions['publish']?.needs).toEqual(['profile-eu', 'profile-us']);
});

describe('for all files', () => {
  const name = fc.constantFrom('a', 'b', 'a-b', 'c', 'deploy');
  const text = fc.constantFrom('x', '${a}', 'k-${b}', '$${a}', '${', '${a', '${zz}', '${}', '-${a}${b}', 'constructor');
  const value = fc.oneof(
    text,
    fc.integer(),
    fc.constant(null),
    fc.array(text, { maxLength: 2 }),
    fc.dictionary(text, text, { maxKeys: 2 }),
  );
  const fields = {
    type: fc.constantFrom('build', 'pkg', 'bad'),
    with: value,
    needs: fc.array(fc.oneof(name, text), { maxLength: 3 }),
    outputs: fc.array(name, { maxLength: 2 }),
  };
  const params = fc.dictionary(fc.oneof(name, fc.constant('__proto__')), value, { maxKeys: 3, noNullPrototype: false });
  const template = fc.record(
    { params, action: fc.record({ ...fields, uses: name }, { requiredKeys: ['type'] }) },
    { requiredKeys: ['action'] },
  );
  const matrix = fc.dictionary(
    name,
    fc.array(fc.oneof(fc.constantFrom<string | number>('x', 'y', 'B', 1, -1), fc.integer()), { maxLength: 3 }),
    { maxKeys: 3 },
  );
  const exclude = fc.array(fc.dictionary(name, fc.constantFrom<string | number>('x', 1), { maxKeys: 2 }), {
    maxLength: 2,
  });
  const action = fc.record({ ...fields, uses: name, params, matrix, exclude }, { requiredKeys: [] });
  const file = fc.record({
    templates: fc.dictionary(name, template, { maxKeys: 3 }),
    actions: fc.dictionary(name, action, { maxKeys: 4 }),
  });

  test('expansion never throws, is the same each time, and points into the file', () => {
    fc.assert(
      fc.property(file, (given) => {
        const value = { ...BASE, ...given };
        expect(expandActions(structuredClone(value))).toEqual({
          ...expandActions(value),
          originOf: expect.any(Function),
        });
        const written = stringify(value);
        const { spec, problems } = parsePipeline(written);
        for (const { line, message, hint } of problems) {
          expect(line).toBeLessThanOrEqual(written.split('\n').length);
          expect(message + hint).not.toMatch(/undefined|\[object/);
        }
        expect(spec === null).toBe(problems.some(({ severity }) => severity === 'error'));
      }),
      { numRuns: 400 },
    );
  });

  test('it never throws, whatever stands in place of templates and actions', () => {
    fc.assert(
      fc.property(fc.anything(), fc.anything(), fc.anything(), (templates, actions, inside) => {
        expandActions(templates);
        for (const all of [
          actions,
          { a: inside },
          { a: { uses: 't', matrix: inside, params: inside, exclude: inside } },
        ])
          parsePipelineValue({ ...BASE, templates, actions: all });
        parsePipelineValue({ ...BASE, templates: { t: inside, u: { params: inside, action: inside } }, actions });
      }),
      { numRuns: 300 },
    );
  });

  test('a template without parameters and a matrix without values are the action itself', () => {
    const plain = fc.record({
      type: fc.constantFrom('build', 'pkg'),
      with: fc.jsonValue({ maxDepth: 2 }),
      timeout: fc.constant('1m'),
    });
    fc.assert(
      fc.property(plain, (action) => {
        fc.pre(!JSON.stringify(action).includes('$'));
        const { type, ...own } = action;
        const templates = { t: { action } };
        for (const actions of [{ a: { uses: 't' } }, { a: { uses: 't', ...own } }, { a: { ...action, matrix: {} } }])
          expect(made(actions, templates)['a']).toEqual(action);
        const untouched = { ...BASE, actions: { a: action } };
        expect(expandActions(untouched).value).toBe(untouched);
        expect(type).toBe(action.type);
      }),
    );
  });

  test('a matrix makes each combination once, but for those that are excluded', () => {
    const values = fc.uniqueArray(fc.constantFrom('x', 'y', 'z', 1, 2), { minLength: 1 });
    fc.assert(
      fc.property(values, values, fc.constantFrom('x', 1), (a, b, left) => {
        fc.pre(a.some((one) => one !== left));
        const all = made({ m: { type: 'build', matrix: { a, b }, exclude: [{ a: left }], with: { it: '${a}/${b}' } } });
        const expected = a
          .filter((one) => one !== left)
          .flatMap((one) => b.map((two) => [`m-${one}-${two}`, `${one}/${two}`]));
        expect(Object.entries(all).map(([key, { with: own }]) => [key, (own as { it: string }).it])).toEqual(expected);
      }),
    );
  });
});
