import { execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { isBuiltin } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { preProcessFile } from 'typescript';
import type { ConformReport } from '../../sdk/conform/run';
import { ROOT } from '../setup/sources';

/* The package that `npm run sdk` makes, installed where nothing of this checkout can be reached but what it says that it needs. */

// eslint-disable-next-line @typescript-eslint/no-require-imports -- scripts run before anything is installed: plain JavaScript
const { packSdk } = require('../../scripts/sdk') as { packSdk: (into: string) => Promise<string> };

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  readonly engines: object;
  readonly exports: Readonly<Record<string, string | { readonly types: string; readonly default: string }>>;
  readonly dependencies: Readonly<Record<string, string>>;
}
const manifestOf = (file: string): Manifest => JSON.parse(readFileSync(file, 'utf8')) as Manifest;
const product = manifestOf(join(ROOT, 'package.json'));

const home = mkdtempSync(join(tmpdir(), 'conveyor-sdk-'));
const app = join(home, 'app');
const installed = join(app, 'node_modules/@conveyor/sdk');
const files = (): string[] =>
  readdirSync(installed, { recursive: true, encoding: 'utf8' }).filter((file) => /\.\w+$/.test(file));
const node = (...args: string[]): string =>
  execFileSync(process.execPath, args, { cwd: app, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });

/** The project of a person who follows the README: the package, what it depends on, and a server. */
function install(tarball: string): void {
  mkdirSync(installed, { recursive: true });
  execFileSync('tar', ['-xzf', tarball, '-C', installed, '--strip-components=1']);
  for (const name of [
    ...Object.keys(manifestOf(join(installed, 'package.json')).dependencies),
    '@hono/node-server',
    'yaml',
    '@types/node',
    'undici-types',
  ]) {
    mkdirSync(dirname(join(app, 'node_modules', name)), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules', name), join(app, 'node_modules', name));
  }
  writeFileSync(join(app, 'package.json'), '{ "type": "module" }');
  cpSync(join(ROOT, 'tests/fixtures/sdk/pushType.mjs'), join(app, 'pushType.mjs'));
}

/** A file of examples/ copied with its folder into a user's project. */
const asOutside = (text: string): string =>
  text.replace(/(?<= from ')((?:\.\.\/)+sdk(?=[/'])|\.\/[\w/.]+)/g, (path) =>
    path.startsWith('./') ? `${path}.js` : '@conveyor/sdk',
  );

/** The examples of the README, each with what it prints: files by the name in their first line. */
function examples(): { name: string; text: string; prints: string }[] {
  const readme = readFileSync(join(installed, 'README.md'), 'utf8');
  const blocks = /^```(?:ts|js)\n(\/\/ (\S+)\n[^]*?)^```\n(?:\n```text\n([^]*?)^```)?/gm;
  return [...readme.matchAll(blocks)].map(([, text = '', name = '', prints = '']) => ({ name, text, prints }));
}

beforeAll(async () => {
  install(await packSdk(join(home, 'package')));
  for (const { name, text } of examples()) writeFileSync(join(app, name), text);
  for (const file of readdirSync(join(ROOT, 'examples'), { recursive: true, encoding: 'utf8' })) {
    // Programs of configuration are compiled by Conveyor, and tried with it.
    if (!file.endsWith('.ts') || /\.(config|validate)\.ts$/.test(file)) continue;
    mkdirSync(dirname(join(app, 'examples', file)), { recursive: true });
    writeFileSync(join(app, 'examples', file), asOutside(readFileSync(join(ROOT, 'examples', file), 'utf8')));
  }
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

describe('the package of the sdk', () => {
  test('is made by `npm run sdk`, which says where it lies', () => {
    const { status, stderr } = spawnSync('npm', ['run', '--silent', 'sdk'], { cwd: ROOT, encoding: 'utf8' });
    expect({ status, made: existsSync(stderr.trim().split('\n').at(-1) ?? '') }).toEqual({ status: 0, made: true });
  });

  test('has the version, license and engines of the product, and of its dependencies what the product is tested with', () => {
    const { version, license, engines, dependencies } = manifestOf(join(installed, 'package.json'));
    expect({ version, license, engines }).toEqual({
      ...{ version: product.version, license: product.license, engines: product.engines },
    });
    const tested = Object.keys(dependencies).map((name) => [name, `^${product.dependencies[name]}`]);
    expect(dependencies).toEqual(Object.fromEntries(tested));
    expect(readFileSync(join(installed, 'LICENSE'), 'utf8')).toBe(readFileSync(join(ROOT, 'LICENSE'), 'utf8'));
  });

  test('imports nothing but itself, Node, and exactly the packages that it names', () => {
    const { dependencies } = manifestOf(join(installed, 'package.json'));
    const used = new Set<string>();
    for (const file of files().filter((name) => /\.(js|d\.ts)$/.test(name)))
      for (const { fileName } of preProcessFile(readFileSync(join(installed, file), 'utf8'), true, true)
        .importedFiles) {
        if (fileName.startsWith('.'))
          expect([file, fileName, isInside(file, fileName)]).toEqual([file, fileName, true]);
        else if (!isBuiltin(fileName)) used.add(fileName.split('/')[0] ?? '');
      }
    expect([...used].sort()).toEqual(Object.keys(dependencies).sort());
  });

  test('has no file that its entries do not need, and none of the product’s own programs', () => {
    const { exports } = manifestOf(join(installed, 'package.json'));
    const entries = Object.values(exports).flatMap((entry) =>
      typeof entry === 'string' ? [] : [entry.default, entry.types],
    );
    const needed = reached(entries.map((entry) => relative('.', entry)));
    const modules = files().filter((file) => file.startsWith('lib/') && file.endsWith('.d.ts'));
    // Standards for schemas, which the compiler leaves out of declarations.
    const checkedAgainst = ['lib/domain/fleet/unit'];
    const unneeded = modules.map((file) => file.replace('.d.ts', '')).filter((file) => !needed.has(file));
    expect(unneeded.sort()).toEqual(checkedAgainst);
    const folders = new Set(modules.map((file) => file.split('/').slice(1, -1).slice(0, 2).join('/')));
    expect([...folders].sort()).toEqual([
      ...[
        'configerator/domain',
        'domain',
        'domain/calendar',
        'domain/deploy',
        'domain/finder',
        'domain/fleet',
        'domain/health',
        'domain/notify',
        'domain/offers',
        'domain/spec',
      ],
      ...['sdk', 'sdk/conform', 'sdk/controllers', 'sdk/gatekeeper', 'sdk/health', 'sdk/protocol', 'sdk/updates'],
    ]);
    expect(modules.filter((file) => /audit|signIn|access|secret|seal|registry|views|verbs/i.test(file))).toEqual([]);
  });

  test('says nothing of the machine that made it, and links nothing outside of it', () => {
    const texts = files().map((file) => ({ file, text: readFileSync(join(installed, file), 'utf8') }));
    expect(texts.filter(({ text }) => text.includes(ROOT) || text.includes(home)).map(({ file }) => file)).toEqual([]);
    const links = texts
      .filter(({ file }) => file.endsWith('.md'))
      .flatMap(({ file, text }) => [...text.matchAll(/\]\(([^)\s#]+)/g)].map(([, to = '']) => ({ file, to })));
    expect(
      links.filter(({ file, to }) => !/^https?:/.test(to) && !existsSync(join(installed, dirname(file), to))),
    ).toEqual([]);
  });

  test('hides how its files lie, and can be required as well as imported', () => {
    const keys = (how: string): string =>
      node('--input-type=' + how.split(' ')[0], '-e', how.slice(how.indexOf(' ') + 1));
    const imported = keys(`module console.log(Object.keys(await import('@conveyor/sdk')).includes('servePushType'))`);
    const required = keys(`commonjs console.log('servePushType' in require('@conveyor/sdk'))`);
    const hidden = keys(
      `commonjs try { require('@conveyor/sdk/lib/sdk/client.js') } catch ({ code }) { console.log(code) }`,
    );
    expect([imported, required, hidden]).toEqual(['true\n', 'true\n', 'ERR_PACKAGE_PATH_NOT_EXPORTED\n']);
  });
});

describe('with the package alone', () => {
  beforeAll(() => {
    const compilerOptions = {
      ...{ module: 'nodenext', target: 'es2023', strict: true, skipLibCheck: true, types: ['node'], allowJs: false },
    };
    writeFileSync(join(app, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts', 'examples'] }));
  });

  test('the examples of the README and all of examples/ are right by its types, and a mistake is seen', () => {
    expect(typeErrors()).toBe('');
    writeFileSync(
      join(app, 'wrong.ts'),
      `import { servePushType } from '@conveyor/sdk';\nservePushType('p', { validateConfig: () => 1 });\n`,
    );
    expect(typeErrors()).toMatch(/^wrong\.ts\(2,/);
    rmSync(join(app, 'wrong.ts'));
  });

  test('the examples of the README print what it says', () => {
    expect(examples().map(({ name }) => name)).toEqual([
      ...[
        'announce.ts',
        'call.ts',
        'main.ts',
        'hosts.ts',
        'try-hosts.ts',
        'judge.ts',
        'ensemble.ts',
        'finder.mjs',
        'pipeline.ts',
      ],
    ]);
    for (const { name, prints } of examples()) expect(node(name.replace('.ts', '.js'))).toBe(prints);
    const targets = { units: ['web'], updatedBy: [] };
    const call = `runHealthChecks({ targets: ${JSON.stringify(targets)}, checks: [], baseline: { start: 0, end: 1 }, now: 1 })`;
    const judged = node(
      '--input-type=module',
      '-e',
      `import { runHealthChecks } from './judge.js'; console.log(JSON.stringify(await ${call}))`,
    );
    expect(JSON.parse(judged)).toEqual({ units: [{ id: 'web', checks: [] }], deploy: { checks: [] } });
  });

  test('a push type in plain JavaScript is tried by the suite, which says what it owes', () => {
    const report = JSON.parse(node('pushType.mjs')) as ConformReport;
    const failed = report.checks.filter(({ state }) => state === 'failed');
    expect(failed.map(({ method }) => method)).toEqual(['runHealthChecks']);
    expect(failed[0]?.advice).not.toBe('');
    expect(report).toMatchObject({ kind: 'push-type', failed: 1, notRun: 0 });
    expect(report.passed).toBeGreaterThan(7);
  });
});

/** The errors of the compiler, and nothing when all is well; what it compiled lies beside its source. */
function typeErrors(): string {
  try {
    return node(join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', '.', '--pretty', 'false');
  } catch (error) {
    return (error as { stdout: string }).stdout;
  }
}

const isInside = (file: string, to: string): boolean => moduleAt(join(dirname(file), to)) !== undefined;

/** A module by its path without the ending, from the top of the package. */
const moduleAt = (path: string): string | undefined =>
  [path.replace(/\.js$/, ''), join(path, 'index')].find((each) => existsSync(join(installed, `${each}.js`)));

function reached(entries: readonly string[]): ReadonlySet<string> {
  const found = new Set<string>();
  const open = entries.map((entry) => entry.replace(/(\.d)?\.(ts|js)$/, ''));
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (found.has(next)) continue;
    found.add(next);
    for (const ending of ['.js', '.d.ts'])
      for (const { fileName } of preProcessFile(readFileSync(join(installed, next + ending), 'utf8'), true, true)
        .importedFiles) {
        const to = fileName.startsWith('.') ? moduleAt(join(dirname(next), fileName)) : undefined;
        if (to !== undefined) open.push(to);
      }
  }
  return found;
}
