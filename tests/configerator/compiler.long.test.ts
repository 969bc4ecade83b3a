import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { compile, type CompileOptions } from '../../configerator/compiler/compile';
import { folderTree } from '../../configerator/compiler/tree';
import { folderOf, LIMITS, program, write, type Files } from './sources';

interface Outcome {
  /** Texts by path. */
  readonly values: Readonly<Record<string, string>>;
  /** `code: message` */
  readonly problems: readonly string[];
}

/** Short for a program that hangs, and long enough for the others beside it on a busy machine. */
const QUICK = { limits: { timeoutMs: 5_000 } };
const OUT_OF_TIME = 'it ran for more than 5s';
const limitsFor = (source: string): typeof QUICK | undefined => (source.includes('for (;;);') ? QUICK : undefined);

async function compiled(files: Files, options: CompileOptions = {}): Promise<Outcome> {
  const { values, problems } = await compile(folderTree(folderOf(files)), options);
  return {
    values: Object.fromEntries(values.map(({ path, text }) => [path, text])),
    problems: problems.map(({ code, message }) => `${code}: ${message}`),
  };
}

describe('a program becomes a value', () => {
  test('that its schema has completed, as JSON whose keys are in order', async () => {
    expect(await compiled(LIMITS)).toEqual({
      values: { 'feed/limits': '{\n  "hard": 100,\n  "soft": 50\n}\n' },
      problems: [],
    });
  });

  test('or several, whose names follow its own', async () => {
    const several = `import { z } from 'zod';
import { defineConfig, defineConfigs } from 'conveyor/config';
export default defineConfigs({ eu: defineConfig(z.number(), 1), us: defineConfig(z.number(), 2) });`;
    expect(await compiled({ 'feed/size.config.ts': several })).toEqual({
      values: { 'feed/size.eu': '1\n', 'feed/size.us': '2\n' },
      problems: [],
    });
  });

  test('it may print whatever it likes, up to a limit', async () => {
    const prints = `const self: any = {};\nself.self = self;\nconsole.log(1n, self, undefined, Symbol('s'));\n${program('1')}`;
    expect(await compiled({ 'a.config.ts': prints })).toEqual({ values: { a: '1\n' }, problems: [] });
  });

  test('it may import JSON, types and other modules', async () => {
    const files = {
      'a.config.ts': `import type { Size } from './b';\nimport { twice } from './b';\nimport base from './base.json';
import { z } from 'zod';\nimport { defineConfig } from 'conveyor/config';
const size: Size = twice(base.size);\nexport default defineConfig(z.number(), size);`,
      'b.ts': `export type Size = number;\nexport const twice = (n: number): number => 2 * n;`,
      'base.json': `{ "size": 21 }`,
    };
    expect((await compiled(files)).values).toEqual({ a: '42\n', base: '{ "size": 21 }' });
  });

  test('a value lists every file that it could come from, and a change of a shared module concerns all that import it', async () => {
    const folder = folderOf({
      ...LIMITS,
      'other.config.ts': program('1'),
      'feed/more.config.ts': LIMITS['feed/limits.config.ts']!,
    });
    const { values } = await compile(folderTree(folder), { changed: new Set(['feed/shared.ts']) });
    expect(values.map(({ path }) => path)).toEqual(['feed/limits', 'feed/more']);
    expect(values[0]?.sources).toEqual([
      'feed/limits.config.ts',
      'feed/shared.ts',
      'feed/limits.schema.ts',
      'feed/limits.validate.ts',
    ]);
  });

  test('a program is not run again while nothing that it imports has changed', async () => {
    const kept = new Map<string, string>();
    let asked = 0;
    const memory = {
      get: (key: string) => kept.get(key),
      set: (key: string, text: string) => void (kept.set(key, text), asked++),
    };
    const folder = folderOf({ ...LIMITS, 'other.config.ts': program('1') });
    const first = await compile(folderTree(folder), { memory });
    expect(asked).toBe(3);
    expect(await compile(folderTree(folder), { memory })).toEqual(first);
    expect(asked).toBe(3);
    write(folder, { 'other.config.ts': program('2') });
    expect((await compile(folderTree(folder), { memory })).values.find(({ path }) => path === 'other')?.text).toBe(
      '2\n',
    );
    expect(asked).toBe(4);
  });
});

describe('a validator of the owner of a schema', () => {
  test('refuses a value from any program: which value of which file, which rule, and by which imports', async () => {
    const planted = `import { defineConfig } from 'conveyor/config';
import { limits } from '../feed/shared';
export default defineConfig(limits, { soft: 500 });`;
    expect(await compiled({ ...LIMITS, 'search/limits.config.ts': planted })).toEqual({
      values: { 'feed/limits': expect.any(String) },
      problems: [
        'config-value-refused: search/limits of search/limits.config.ts is refused by softBelowHard of feed/limits.validate.ts: soft 500 is above hard 100; imported as search/limits.config.ts → feed/shared.ts → feed/limits.schema.ts',
      ],
    });
  });

  test('judges a raw file beside the schema, too, which passes as it is', async () => {
    const raw = (text: string): Files => ({
      'a.schema.ts': `import { z } from 'zod';\nexport default z.object({ n: z.number() });`,
      'a.validate.ts': `import { invariant } from 'conveyor/config';\nimport a from './a.schema';\nexport const small = invariant(a, ({ n }) => n < 10 || \`\${n} is too much\`);`,
      'a.json': text,
    });
    expect((await compiled(raw('{"n":  3}'))).values).toEqual({ a: '{"n":  3}' });
    expect((await compiled(raw('{"n": 30}'))).problems).toEqual([
      'config-value-refused: a of a.json is refused by small of a.validate.ts: 30 is too much',
    ]);
  });

  test.each([
    ['throws', `() => { throw new TypeError('boo'); }`, 'TypeError: boo'],
    ['hangs', `() => { for (;;); }`, OUT_OF_TIME],
    ['says nothing', `() => undefined`, 'it answered neither true nor why not'],
  ])('that %s refuses, by its name', async (_what, holds, how) => {
    const validator = `import { invariant } from 'conveyor/config';
import { limits } from './limits.schema';
export const broken = invariant(limits, ${holds});`;
    const outcome = await compiled({ ...LIMITS, 'feed/limits.validate.ts': validator }, limitsFor(holds));
    expect(outcome).toEqual({
      values: {},
      problems: [`config-validator-failed: broken of feed/limits.validate.ts could not judge feed/limits: ${how}`],
    });
  });

  test('without its schema is refused, since it would check nothing', async () => {
    expect((await compiled({ 'a.validate.ts': '' })).problems).toEqual([
      'config-file-unusable: a.validate.ts cannot be used as configuration: it validates a.schema.ts, which does not exist',
    ]);
  });
});

const NO_CODE = expect.stringMatching(
  /^config-program-failed: .*Code generation from strings disallowed/,
) as unknown as string;

describe('bad input is refused by a code of its own, and nothing else is', () => {
  const failed = (how: string) => `config-program-failed: bad.config.ts produced no value: ${how}`;
  const refused = (why: string) => `config-value-refused: bad of bad.config.ts is refused by its schema: ${why}`;
  test.each<readonly [string, string, string]>([
    ['throws', `\nthrow new RangeError('boo');`, failed('bad.config.ts:2: RangeError: boo')],
    ['does not parse', `const a = ;`, failed('it cannot be parsed: Unexpected token (line 1)')],
    ['never ends', `for (;;);`, failed(OUT_OF_TIME)],
    ['prints without end', `for (;;) console.log('x'.repeat(1000));`, failed('it wrote more than 64 kB')],
    [
      'exports nothing',
      `export const a = 1;`,
      failed('its default export is neither defineConfig(…) nor defineConfigs(…)'),
    ],
    [
      'reads a file',
      `import { readFileSync } from 'node:fs';\nreadFileSync('/etc/passwd');`,
      'config-import-refused: bad.config.ts cannot import node:fs: programs import files of their tree, zod and conveyor/config, and nothing else',
    ],
    [
      'makes code by a function of ours',
      `exports.constructor.constructor('return process')().mainModule.require('node:fs').readFileSync('/etc/passwd');`,
      NO_CODE,
    ],
    [
      'makes code by a function of a package',
      `import { z } from 'zod';\nz.string.constructor('return process')().env;`,
      NO_CODE,
    ],
    [
      'imports what does not exist',
      `import './nowhere';`,
      'config-import-refused: bad.config.ts cannot import ./nowhere: there is no such file in the tree (.ts or .json)',
    ],
    [
      'imports from outside',
      `import '../../etc/hosts';`,
      'config-import-refused: bad.config.ts cannot import ../../etc/hosts: it lies outside of the tree',
    ],
    [
      'imports itself by others',
      `import './circle';`,
      'config-import-refused: circle2.ts cannot import circle.ts: the imports go in a circle: circle.ts → circle2.ts → circle.ts',
    ],
    [
      'depends on the time',
      program('Date.now()'),
      expect.stringMatching(
        /^config-not-deterministic: bad.config.ts produced different values for bad in two runs: first \d+, then \d+$/,
      ) as unknown as string,
    ],
    [
      'depends on chance',
      program('{ dice: Math.random() }'),
      expect.stringMatching(
        /^config-not-deterministic: .*: first "dice": 0\.\d+, then "dice": 0\.\d+$/,
      ) as unknown as string,
    ],
    [
      'depends on the time zone',
      program('new Date(1e12).getHours()'),
      'config-not-deterministic: bad.config.ts produced different values for bad in two runs: first 1, then 13',
    ],
    ['throws what has no words', `throw Object.create(null);`, failed('it threw what has no words')],
    [
      'throws what throws when it is looked at',
      `throw new Proxy({}, { get() { throw new Error('boo'); } });`,
      failed('it threw what has no words'),
    ],
    ['has a number that JSON has not', program('{ a: [NaN] }'), refused('a.0 is NaN, which is not a number in JSON')],
    ['has a function', program('{ a: () => 1 }'), refused('a is a function, which JSON does not have')],
    ['has a date', program('new Date(0)'), refused('the value is a Date, which JSON does not have')],
    ['contains itself', program('(() => { const a: any = {}; a.b = a; return a; })()'), refused('b contains itself')],
    [
      'is too large',
      program(`'x'.repeat(1024 * 1024)`),
      'config-value-refused: bad of bad.config.ts is refused by the limits: its value has 1,048,579 bytes, and may have 1,048,576 bytes',
    ],
  ])('a program that %s', async (_what, source, problem) => {
    const circle = { 'circle.ts': `import './circle2';`, 'circle2.ts': `import './circle';` };
    const outcome = await compiled(
      { ...circle, 'bad.config.ts': source, 'good.config.ts': program('1') },
      limitsFor(source),
    );
    expect(outcome.problems).toEqual([problem]);
    expect(outcome.values).toEqual({ good: '1\n' });
  });

  test.each([
    ['text', `() => 'forged'`],
    ['results', `() => ({ result: { kind: 'program', outcome: [{ name: '/../other', schema: null, json: '1' }] } })`],
  ])('a program that makes other %s of all that its world writes as JSON changes no value', async (_what, forged) => {
    const source = `const made = defineConfig(z.any(), { a: 1 });
import { z } from 'zod';
import { defineConfig } from 'conveyor/config';
(Object.prototype as any).toJSON = ${forged};
(JSON as any).stringify = ${forged};
export default made;`;
    expect(await compiled({ 'a.config.ts': source })).toEqual({ values: { a: '{\n  "a": 1\n}\n' }, problems: [] });
  });

  test('a source over which a parser takes years', async () => {
    const years = `const a = ${'<T>('.repeat(40)}1${')'.repeat(40)};`;
    const outcome = await compiled({ 'bad.ts': years, 'good.config.ts': program('1') }, QUICK);
    expect(outcome.problems).toEqual([
      `config-program-failed: bad.ts produced no value: it cannot be parsed: ${OUT_OF_TIME}`,
    ]);
  });

  test('a module that cannot be parsed is one problem, however many import it', async () => {
    const files = { 'bad.ts': 'const a = ;', 'a.config.ts': `import './bad';`, 'b.config.ts': `import './bad';` };
    expect((await compiled(files)).problems).toEqual([
      'config-program-failed: bad.ts produced no value: it cannot be parsed: Unexpected token (line 1)',
    ]);
  });

  test('200 imports may follow one another, and no more', async () => {
    const chain = (length: number): Files => ({
      ...Object.fromEntries(
        Array.from({ length }, (_, n) => [`m${n}.ts`, n + 1 < length ? `import './m${n + 1}';` : '']),
      ),
      'a.config.ts': `import './m0';\n${program('1')}`,
    });
    expect(await compiled(chain(200))).toEqual({ values: { a: '1\n' }, problems: [] });
    expect((await compiled(chain(201))).problems).toEqual([
      'config-import-refused: m199.ts cannot import m200.ts: more than 200 imports lead there, one after the other',
    ]);
  });

  test('a program that takes all memory', async () => {
    const outcome = await compiled(
      { 'bad.config.ts': `const a: string[] = [];\nfor (let i = 0; ; i++) a.push('x'.repeat(1000) + i);` },
      { limits: { timeoutMs: 60_000, memoryMb: 32 } },
    );
    expect(outcome.problems).toEqual([failed('it used more than 32 MB of memory')]);
  });

  test('a value that does not fit its schema, with the chain of imports', async () => {
    const text = LIMITS['feed/limits.config.ts']!.toString().replace('soft: SOFT }', `soft: 'many' as any, sort: 1 }`);
    expect((await compiled({ ...LIMITS, 'feed/limits.config.ts': text })).problems).toEqual([
      expect.stringMatching(
        /^config-value-refused: feed\/limits of feed\/limits.config.ts is refused by limits of feed\/limits.schema.ts: soft: Invalid input: expected number, received string; the value: Unrecognized key: "sort"; imported as feed\/limits.config.ts → feed\/shared.ts → feed\/limits.schema.ts$/,
      ),
    ]);
  });

  test.each<readonly [string, Files, string]>([
    ['raw JSON that is none', { 'a.json': '{' }, 'config-value-refused: a of a.json is refused by JSON: '],
    ['raw YAML that is none', { 'a.yaml': 'a: [' }, 'config-value-refused: a.yaml of a.yaml is refused by YAML: '],
    [
      'raw JSON that does not fit the JSON Schema beside it',
      { 'a.json': '{"n":"x"}', 'a.schema.json': '{"properties":{"n":{"type":"number"}}}' },
      'config-value-refused: a of a.json is refused by a.schema.json: n should be number',
    ],
    [
      'raw YAML that does not fit the JSON Schema beside it',
      { 'a.yaml': 'n: x', 'a.schema.json': '{"properties":{"n":{"type":"number"}}}' },
      'config-value-refused: a.yaml of a.yaml is refused by a.schema.json: n should be number',
    ],
    [
      'a JSON Schema that is none',
      { 'a.json': '{}', 'a.schema.json': '{"type":"nothing"}' },
      'config-file-unusable: a.schema.json cannot be used as configuration: it is not a JSON Schema: ',
    ],
    [
      'two files that write one path',
      { 'a.json': '1', 'a.config.ts': program('2') },
      'config-path-taken: a.config.ts and a.json both write a',
    ],
  ])('%s', async (_what, files, problem) => {
    expect((await compiled(files)).problems).toEqual([
      expect.stringMatching(new RegExp(`^${problem.replace(/[.[\]{}]/g, '\\$&')}`)),
    ]);
  });

  test.each<readonly [string, Files, string]>([
    [
      'is binary',
      { 'a.json': Buffer.from([0x7b, 0xff, 0x7d]) },
      'a.json cannot be used as configuration: it is binary',
    ],
    ['holds a zero', { 'a.json': '"\0"' }, 'a.json cannot be used as configuration: it is binary'],
    [
      'is too large',
      { 'a.json': `"${'x'.repeat(1024 * 1024)}"` },
      'a.json cannot be used as configuration: it has 1,048,578 bytes',
    ],
    ['has no suitable name', { 'a b.json': '1' }, 'a b.json cannot be used as configuration: its name is not suitable'],
  ])('a file that %s', async (_what, files, why) => {
    await expect(compiled(files)).rejects.toMatchObject({
      code: 'config-file-unusable',
      message: expect.stringContaining(why),
    });
  });

  test('a symbolic link, wherever it leads', () => {
    const folder = folderOf({ 'a.json': '1' });
    symlinkSync('/etc/hostname', join(folder, 'b.json'));
    expect(() => folderTree(folder)).toThrow('b.json cannot be used as configuration: it is a symbolic link');
  });

  test('a folder that is none', () => {
    expect(() => folderTree('/nowhere')).toThrow('/nowhere cannot be used as configuration: there is no such folder');
  });
});
