import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, normalize, relative } from 'node:path';
import { removeFeature } from '../setup/removeFeature';
import { repositoryFiles } from '../setup/repositoryFiles';
import { REGISTRATIONS, ROOT } from '../setup/sources';

/** The rest of the product needs no feature: a copy without one compiles, and passes the short tests of all that reaches a list of features. */

const copy = realpathSync(mkdtempSync(join(tmpdir(), 'conveyor-without-')));
afterAll(() => rmSync(copy, { recursive: true, force: true }));

const run = (args: readonly string[], env: NodeJS.ProcessEnv = {}) =>
  spawnSync(process.execPath, args, { cwd: copy, encoding: 'utf8', maxBuffer: 1e8, env: { ...process.env, ...env } });

/** Tests of the pages and of the words of the whole product, in which the feature is described. */
const OF_EVERYTHING = /^tests\/(docs|tidy|tidyWords|temporaryNames|scripts|lanes)\b/;

/** Tests name a feature in their words, and builders of tests by what they import. */
const concerns = (file: string, text: string): boolean =>
  file.endsWith('.test.ts') ? /bugs|Bug\b/.test(text) : /features\/bugs\/|\('reportBug'|'report-bug'/.test(text);

/** The files of the short lane that have to do with the feature, and those that use them. */
function testsOfBugs(files: readonly string[]): Set<string> {
  const tests = files.filter((file) => /^tests\/.*(?<!\.(?:long|night)\.test)\.ts$/.test(file));
  const texts = new Map(tests.map((file) => [file, readFileSync(join(ROOT, file), 'utf8')]));
  const found = new Set(tests.filter((file) => concerns(file, texts.get(file) ?? '')));
  for (let size = -1; size !== found.size;) {
    size = found.size;
    for (const [file, text] of texts)
      for (const [, to = ''] of text.matchAll(/from '(\.[^']+)'/g))
        if (found.has(normalize(join(dirname(file), `${to}.ts`)))) found.add(file);
  }
  return found;
}

/** It shares two cores with three other files of tests. */
const PATIENCE_MS = 30 * 60_000;

interface JestReport {
  readonly numPassedTests: number;
  readonly testResults: readonly { readonly name: string; readonly status: string; readonly message: string }[];
}

test(
  'a copy without the feature bugs compiles, and passes the short tests of all that reaches a list of features',
  () => {
    const files = repositoryFiles();
    for (const file of files) cpSync(join(ROOT, file), join(copy, file));
    symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
    removeFeature(copy, 'bugs');
    const history = 'tests/fixtures/histories/bugs.json';
    const others = files.filter((file) => OF_EVERYTHING.test(file));
    for (const file of [...testsOfBugs(files), ...others, history]) rmSync(join(copy, file), { force: true });
    const built = run(['scripts/run.js', 'build']);
    expect([built.status, built.status === 0 ? '' : built.stderr]).toEqual([0, '']);
    const report = join(copy, 'report.json');
    const lane = ['--maxWorkers=2', '--selectProjects', 'unit', 'virtual time', '--json', `--outputFile=${report}`];
    const reaching = ['--findRelatedTests', ...REGISTRATIONS];
    const tested = run(['node_modules/jest/bin/jest.js', ...lane, ...reaching], {
      CONVEYOR_TEST_LANE: 'short',
      CONVEYOR_TEST_BUILT: '1',
    });
    const { numPassedTests, testResults } = JSON.parse(readFileSync(report, 'utf8')) as JestReport;
    const failed = testResults.filter(({ status }) => status === 'failed');
    expect(failed.map(({ name, message }) => `${relative(copy, name)}: ${message.slice(0, 2_000)}`)).toEqual([]);
    expect([tested.status, numPassedTests > 2_000]).toEqual([0, true]);
  },
  PATIENCE_MS,
);
