import { readdirSync, readFileSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import * as path from 'node:path';
import { SEARCH_ATTRIBUTES } from '../domain/searchAttributes';
import { circles } from './setup/circles';
import { deadExports } from './setup/exports';
import { droppedPhrases, droppedWords, namesWithoutVerb, placesOfDefinitions } from './setup/names';
import { repositoryFiles } from './setup/repositoryFiles';
import { ROOT, functionsOf, nonBlankLines, parse, runningSources, testSources } from './setup/sources';

const running = runningSources();
const tested = testSources();
const functions = running.flatMap(functionsOf);
const product = running.filter(({ name }) => !/^(examples|scripts|tools|bin)\//.test(name));

const p95 = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.max(0, Math.ceil(values.length * 0.95) - 1)] ?? 0;
const longest = <T extends { lines: number }>(rows: readonly T[]): T[] =>
  [...rows].sort((a, b) => b.lines - a.lines).slice(0, 10);

describe('the code stays small enough to read', () => {
  test('19 files in 20 have at most 200 lines that are not blank', () => {
    const files = running.map(({ name, text }) => ({ name, lines: nonBlankLines(text) }));
    expect(files.length).toBeGreaterThan(20);
    expect({ p95: p95(files.map((it) => it.lines)), longest: longest(files) }).toMatchObject({ p95: atMost(200) });
  });

  test('19 functions in 20 have at most 40 lines', () => {
    const named = functions.filter((it) => it.named);
    expect(named.length).toBeGreaterThan(100);
    expect({ p95: p95(named.map((it) => it.lines)), longest: longest(named) }).toMatchObject({ p95: atMost(40) });
  });

  test('no function has more than 70 lines', () => {
    expect(functions.filter((it) => it.lines > 70).map((it) => `${it.where}: ${it.lines} lines`)).toEqual([]);
  });

  test('a function that is too long would be seen', () => {
    const body = 'f();\n'.repeat(71);
    const planted = parse('planted.ts', `const g = () => {\n${body}};\nclass C { m() {\n${body}} }`);
    expect(functionsOf(planted).map((it) => [it.where, it.lines])).toEqual([
      ['planted.ts:1 g', 73],
      ['planted.ts:74 m', 73],
    ]);
  });
});

/** Names that users know, of the sdk and of a workflow; and nouns that name a schema and a problem. */
const NAMES_THAT_STAY = [
  ...['domain/fleet/amount.ts: tasksOf', 'configerator/domain/gatekeeper/mix.ts: mixOf'],
  ...['sdk/sitevars.ts: checkedBy', 'sdk/controllers/loadAdaptive.ts: loadOf'],
  ...'slotsOf reservedSlots unfinished deployOf pendingSlots progressOf unitOf'
    .split(' ')
    .map((name) => `sdk/updates/choose.ts: ${name}`),
  'workflows/landing.ts: landing',
  ...['domain/spec/scalars.ts: listOf', 'domain/spec/problem.ts: warningAt'],
];

describe('a name leads to one thing', () => {
  test('fewer than 6.5% of the definitions share their name with another', () => {
    const places = placesOfDefinitions(product);
    const total = [...places.values()].flat().length;
    const shared = [...places].filter(([, files]) => files.length > 1);
    expect(total).toBeGreaterThan(1000);
    expect(shared.flatMap(([, files]) => files).length / total).toBeLessThan(0.065);
  });

  test('no definition and no file has a word that was dropped', () => {
    expect(droppedWords(product)).toEqual([]);
  });

  test('a function is named by a verb', () => {
    expect([...namesWithoutVerb(product)].sort()).toEqual([...NAMES_THAT_STAY].sort());
  });

  test('no message, comment, title or page has a phrase that was dropped', () => {
    const pages = ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'sdk/README.md', ...pagesUnder('docs')];
    const texts = pages.map((name) => ({ name, text: readFileSync(path.join(ROOT, name), 'utf8') }));
    const all = [...running, ...tested, ...texts];
    expect(all.length).toBeGreaterThan(1_000);
    expect(droppedPhrases(all.filter(({ name }) => !name.endsWith('setup/names.ts')))).toEqual([]);
  });

  test('a shared name and a dropped word would be seen', () => {
    const planted = [
      parse('domain/a.ts', 'const insistOn = 1;\nexport function twice() {}'),
      parse('domain/leftovers.ts', 'class twice {}'),
    ];
    expect(placesOfDefinitions(planted).get('twice')).toEqual(['domain/a.ts', 'domain/leftovers.ts']);
    expect(droppedWords(planted)).toEqual(['domain/a.ts: insistOn', 'domain/leftovers.ts']);
    const functions = 'const kindOf = () => 1; function soaked() {} const sent = () => 1; const embedSbom = () => 1;';
    expect(namesWithoutVerb([parse('a.ts', functions)])).toEqual(['a.ts: kindOf', 'a.ts: soaked', 'a.ts: sent']);
    const lines = [
      ...[
        'it goes' + ' on',
        'it continues',
        'nobody is' + ' told',
        'what tells one from another',
        'a host hear' + 's it',
      ],
      ...['What is' + ' refused changes nothing', 'the rest of what is there', "test('what" + " fails is tried again'"],
    ];
    const found = [0, 2, 4, 5, 7].map((index) => `a.ts:${index + 1}: ${lines[index]}`);
    expect(droppedPhrases([{ name: 'a.ts', text: lines.join('\n') }])).toEqual(found);
  });
});

describe('nothing is left lying about', () => {
  test('no file puts work off with a note to do it later', () => {
    const note = new RegExp(`\\b(${['TO', 'FIX', 'XX'].map((start, i) => start + ['DO', 'ME', 'X'][i]).join('|')})\\b`);
    const notes = [...running, ...tested].flatMap(({ name, text }) =>
      text.split('\n').flatMap((line, index) => (note.test(line) ? [`${name}:${index + 1}: ${line.trim()}`] : [])),
    );
    expect(notes).toEqual([]);
  });

  test('every file is text, but for the pictures of the documents', () => {
    const binary = repositoryFiles().filter((name) => readFileSync(path.join(ROOT, name)).includes(0));
    expect(binary).not.toEqual([]);
    expect(binary.filter((name) => !/^docs\/images\/[\w-]+\.png$/.test(name))).toEqual([]);
  });

  test('everything that is exported is imported somewhere', () => {
    // The sdk is for extension authors, examples are for readers, workflows are started by name.
    const isPublic = (file: string): boolean =>
      /^(sdk\/((conform|updates)\/)?index\.ts|workflows\/(index|provenance|serverTime)\.ts|examples\/)/.test(file);
    expect(deadExports(running, [...running, ...tested], isPublic)).toEqual([]);
  });

  test('an export without an importer would be seen', () => {
    const planted = parse(
      'a.ts',
      'export const dead = 1;\nexport function live() {}\nexport type T = 1;\nexport interface Own {}\nexport const typed: Own = {};',
    );
    const reader = parse('b.ts', `import { live, type T as U } from './a';\nexport { typed } from './a';`);
    expect(deadExports([planted, reader], [planted, reader], () => false)).toEqual(['a.ts: dead']);
  });
});

describe('a file can be read without those that read it', () => {
  test('no files import each other in a circle, not even for their types', () => {
    expect(circles(runningSources())).toEqual([]);
  });

  test('a circle of types is found, and who only leads to it is not in it', () => {
    const planted = [
      parse('a.ts', `import type { B } from './b'; export type A = B;`),
      parse('b.ts', `import { c } from './c'; export type B = typeof c;`),
      parse('c.ts', `export { A } from './a'; export const c = 1;`),
      parse('reader.ts', `import { c } from './c'; c;`),
    ];
    expect(circles(planted)).toEqual([['a.ts', 'b.ts', 'c.ts']]);
  });
});

describe('duplicates agree', () => {
  test('Temporal finds one protobufjs 8, or replaying a JSON history breaks', () => {
    const found = ['common', 'proto', 'worker'].map((name) => {
      const from = createRequire(realpathSync(path.join(ROOT, 'node_modules/@temporalio', name, 'package.json')));
      return realpathSync(from.resolve('protobufjs/package.json'));
    });
    expect(new Set(found).size).toBe(1);
    expect((JSON.parse(readFileSync(found[0]!, 'utf8')) as { version: string }).version).toMatch(/^8\./);
  });

  test('the lockfile holds every optional package, or npm ci refuses it', () => {
    interface Locked {
      readonly optionalDependencies?: Readonly<Record<string, string>>;
    }
    const lock = JSON.parse(readFileSync(path.join(ROOT, 'package-lock.json'), 'utf8')) as {
      packages: Record<string, Locked>;
    };
    const places = Object.keys(lock.packages);
    const wanted = Object.values(lock.packages).flatMap((it) => Object.keys(it.optionalDependencies ?? {}));
    expect(wanted.length).toBeGreaterThan(0);
    expect(wanted.filter((name) => !places.some((place) => place.endsWith(`node_modules/${name}`)))).toEqual([]);
  });

  test('the development server registers exactly the search attributes that workflows set', () => {
    const script = readFileSync(path.join(ROOT, 'scripts', 'temporal-settings.sh'), 'utf8');
    const block = /^SEARCH_ATTRIBUTES='([^']*)'/m.exec(script)?.[1] ?? '';
    const registered = Object.fromEntries(
      block
        .trim()
        .split(/\s+/)
        .map((pair) => pair.split('=')),
    );
    const kinds = { KEYWORD: 'Keyword', KEYWORD_LIST: 'KeywordList' };
    expect(registered).toEqual(
      Object.fromEntries(Object.entries(SEARCH_ATTRIBUTES).map(([name, kind]) => [name, kinds[kind]])),
    );
  });

  test('the server that is built is the version that the script names', () => {
    const named = /^TEMPORAL_VERSION=(.+)$/m.exec(
      readFileSync(path.join(ROOT, 'scripts/temporal-cli.sh'), 'utf8'),
    )?.[1];
    const module = readFileSync(path.join(ROOT, 'tools/temporal/go.mod'), 'utf8');
    expect(/github\.com\/temporalio\/cli v(\S+)/.exec(module)?.[1]).toBe(named);
    const cluster = readFileSync(path.join(ROOT, 'scripts/temporal-server.sh'), 'utf8');
    expect(/^SERVER_VERSION=(.+)$/m.exec(cluster)?.[1]).toBe(/go\.temporal\.io\/server v(\S+)/.exec(module)?.[1]);
  });

  test.each(['tools/temporal', 'tools/controlPlane'])(
    'the program of %s builds on a machine that never built it: every module has its checksums',
    (folder) => {
      const [module, sums] = ['go.mod', 'go.sum'].map((file) =>
        readFileSync(path.join(ROOT, folder, file), 'utf8'),
      ) as [string, string];
      const replaced = new Map(
        [...module.matchAll(/^(?:replace|\t)\s*(\S+) => (\S+ \S+)$/gm)].map(([, name, by]) => [name, by] as const),
      );
      const needed = [...module.matchAll(/^\s+(\S+) (v\S+)/gm)].map(
        ([, name, version]) => replaced.get(name) ?? `${name} ${version}`,
      );
      expect(needed.length).toBeGreaterThan(100);
      const missing = needed
        .flatMap((each) => [each, `${each}/go.mod`])
        .filter((each) => !sums.includes(`${each} h1:`));
      expect(missing).toEqual([]);
    },
  );

  test('the control plane that is built is the version that the script names', () => {
    const script = readFileSync(path.join(ROOT, 'scripts/control-plane.sh'), 'utf8');
    const module = readFileSync(path.join(ROOT, 'tools/controlPlane/go.mod'), 'utf8');
    const version = /^KUBERNETES_VERSION=(.+)$/m.exec(script)?.[1];
    expect(/k8s\.io\/kubernetes v(\S+)/.exec(module)?.[1]).toBe(version);
    expect(script).toContain(`.gitMinor=${version?.split('.')[1]} `);
  });
});

const pagesUnder = (folder: string): readonly string[] =>
  readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md'))
    .map((file) => `${folder}/${file}`);

/** Matches a number up to a limit, and shows the limit when it does not. */
const atMost = (limit: number): unknown => ({
  asymmetricMatch: (actual: unknown) => typeof actual === 'number' && actual <= limit,
  toString: () => `at most ${limit}`,
});
