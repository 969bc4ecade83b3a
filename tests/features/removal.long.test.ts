import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, normalize } from 'node:path';
import { removeFeature } from '../setup/removeFeature';
import { repositoryFiles } from '../setup/repositoryFiles';
import { ROOT } from '../setup/sources';

/** The rest of the product needs no feature: a copy without one compiles, and passes the short lane. */

const copy = realpathSync(mkdtempSync(join(tmpdir(), 'conveyor-without-')));
afterAll(() => rmSync(copy, { recursive: true, force: true }));

const run = (args: readonly string[], env: NodeJS.ProcessEnv = {}) =>
  spawnSync(process.execPath, args, { cwd: copy, encoding: 'utf8', maxBuffer: 1e8, env: { ...process.env, ...env } });

/** Tests of the pages and of the words of the whole product, in which the feature is described. */
const OF_EVERYTHING = /^tests\/(docs|tidy|tidyWords|scripts|lanes)\b/;

/** The test files that have to do with a feature: they name it, or use a file that does. */
function testsOf(feature: string, files: readonly string[]): Set<string> {
  const tests = files.filter((file) => file.startsWith('tests/') && file.endsWith('.ts'));
  const texts = new Map(tests.map((file) => [file, readFileSync(join(ROOT, file), 'utf8')]));
  const found = new Set(tests.filter((file) => texts.get(file)?.includes(feature)));
  for (let size = -1; size !== found.size;) {
    size = found.size;
    for (const [file, text] of texts)
      for (const [, to = ''] of text.matchAll(/from '(\.[^']+)'/g))
        if (found.has(normalize(join(dirname(file), `${to}.ts`)))) found.add(file);
  }
  return found;
}

test('a copy without the feature bugs compiles and passes the short lane', () => {
  const files = repositoryFiles();
  for (const file of files) cpSync(join(ROOT, file), join(copy, file));
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
  removeFeature(copy, 'bugs');
  const left = testsOf('bugs', files);
  for (const file of [...left, ...files.filter((file) => OF_EVERYTHING.test(file))])
    rmSync(join(copy, file), { force: true });
  expect(run(['node_modules/typescript/bin/tsc', '--noEmit']).stdout).toBe('');
  const built = run(['scripts/run.js', 'build']);
  expect([built.status, built.stderr]).toEqual([0, expect.anything()]);
  const report = join(copy, 'report.json');
  const lane = ['--selectProjects', 'unit', 'virtual time', '--json', `--outputFile=${report}`];
  const tested = run(['node_modules/jest/bin/jest.js', ...lane], {
    CONVEYOR_TEST_LANE: 'short',
    CONVEYOR_TEST_BUILT: '1',
  });
  const { numPassedTests, numFailedTests } = JSON.parse(readFileSync(report, 'utf8')) as Record<string, number>;
  expect([numFailedTests, numFailedTests === 0 ? '' : tested.stderr.slice(-10_000)]).toEqual([0, '']);
  expect(numPassedTests).toBeGreaterThan(7_000);
});
