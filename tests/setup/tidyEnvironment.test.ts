import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ROOT = join(__dirname, '..', '..');
const home = mkdtempSync(join(tmpdir(), 'conveyor-environment-'));
afterAll(() => rmSync(home, { recursive: true, force: true }));

/** Reports the properties of jest on the global object that it shares with earlier files, then leaves as many as it can. */
const TEST_FILE = `
  const found = (name) => globalThis[Symbol.for(name)];
  const states = Object.getOwnPropertySymbols(globalThis).filter((symbol) => symbol.description === 'JEST_STATE_SYMBOL');
  process.stdout.write('found ' + JSON.stringify([found('TEST_TIMEOUT_SYMBOL'), found('RETRY_TIMES'),
    found('LOG_ERRORS_BEFORE_RETRY'), states.length, found('EVENT_HANDLERS').length]) + '\\n');
  jest.setTimeout(1_234);
  jest.retryTimes(3, { logErrorsBeforeRetry: true });
  test('runs', () => undefined);
`;

test('a test file gets no time limit, no second try and no handlers from the files that ran before it', () => {
  for (const name of ['a', 'b', 'c']) writeFileSync(join(home, `${name}.test.js`), TEST_FILE);
  const config = {
    rootDir: home,
    testEnvironment: join(ROOT, 'tests', 'setup', 'tidyEnvironment.js'),
    transform: {},
  };
  const args = [join(ROOT, 'node_modules', 'jest', 'bin', 'jest.js'), '-i', '--config', JSON.stringify(config)];
  const { status, stdout } = spawnSync(process.execPath, args, { cwd: home, encoding: 'utf8' });
  const found = stdout.split('\n').filter((line) => line.startsWith('found'));
  expect({ status, found }).toEqual({ status: 0, found: Array(3).fill(found[0]) });
  expect(found[0]).toMatch(/^found \[null,null,null,1,\d\]$/);
});
