import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { asTyped } from '../../cli/typedCommand';
import { run } from '../builders/cliWorld';

const folder = mkdtempSync(join(tmpdir(), 'conveyor-typed-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const THROUGH_NPX = { npm_command: 'exec', PATH: folder };

test.each([
  ['  conveyor apply web.yaml', '  npx --no-install conveyor apply web.yaml'],
  [
    'lint first: conveyor lint web.yaml && conveyor apply web.yaml',
    'lint first: npx --no-install conveyor lint web.yaml && npx --no-install conveyor apply web.yaml',
  ],
  ['\u001b[36mconveyor watch web/1\u001b[39m', '\u001b[36mnpx --no-install conveyor watch web/1\u001b[39m'],
  ['see conveyor COMMAND --help', 'see npx --no-install conveyor COMMAND --help'],
  ['npx --no-install conveyor status web', 'npx --no-install conveyor status web'],
  ['the file conveyor.config.yaml', 'the file conveyor.config.yaml'],
  ['the task queue conveyor', 'the task queue conveyor'],
  ['cd /src/conveyor && ls', 'cd /src/conveyor && ls'],
])('through npx, %j is printed as it is typed there', (text, printed) => {
  expect(asTyped(text, THROUGH_NPX)).toBe(printed);
});

test('commands are short if a shell finds conveyor, or npm was not used', () => {
  const text = 'conveyor apply web.yaml';
  expect(asTyped(text, { PATH: folder })).toBe(text);
  writeFileSync(join(folder, 'conveyor'), '');
  expect(asTyped(text, THROUGH_NPX)).toBe(text);
  rmSync(join(folder, 'conveyor'));
  const ofNpm = join(folder, 'node_modules/.bin');
  mkdirSync(ofNpm, { recursive: true });
  writeFileSync(join(ofNpm, 'conveyor'), '');
  expect(asTyped(text, { ...THROUGH_NPX, PATH: ofNpm })).toBe(`npx --no-install ${text}`);
});

test('the commands printed after a first pipeline through npx can be typed as they are; programs get the same as ever', async () => {
  const file = join(folder, 'a.yaml');
  const { out } = await run(['init', 'web', '--file', file], { env: THROUGH_NPX });
  const next = out.split('\n').filter((line) => line.startsWith('  '));
  expect(next.length).toBeGreaterThan(2);
  expect(next.filter((line) => !line.startsWith('  npx --no-install conveyor '))).toEqual([]);
  const { err } = await run(['lint', join(folder, 'none.yaml')], { env: THROUGH_NPX });
  expect(err).toContain('hint: ');
  const json = await run(['init', 'web', '--file', join(folder, 'b.yaml'), '-o', 'json'], { env: THROUGH_NPX });
  expect(json.out).not.toContain('npx');
});
