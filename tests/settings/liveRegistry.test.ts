import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LiveRegistry, type LiveOptions } from '../../settings/liveRegistry';

const folder = mkdtempSync(join(tmpdir(), 'conveyor-live-'));
afterAll(() => rmSync(folder, { recursive: true }));

function configured(text: string, options: LiveOptions = {}) {
  const file = join(folder, 'conveyor.config.yaml');
  /** As editors do. */
  const write = (next: string): void => {
    writeFileSync(`${file}.new`, next);
    renameSync(`${file}.new`, file);
  };
  write(text);
  const said: string[] = [];
  const changed: unknown[] = [];
  const live = new LiveRegistry({}, (line) => said.push(line), { ...options, file });
  live.onChange(({ groups }) => changed.push(groups));
  return { live, write, said, changed, file };
}

test('a membership that ended counts for nothing as soon as the file says so', () => {
  const { live, write, changed, said, file } = configured('groups: { storage: ["user:alice"] }');
  expect(live.current().groups).toEqual({ storage: ['user:alice'] });
  live.look();
  expect([changed, said]).toEqual([[], []]);
  write('groups: { storage: ["user:bob"] }');
  live.look();
  expect(live.current().groups).toEqual({ storage: ['user:bob'] });
  expect(changed).toEqual([{ storage: ['user:bob'] }]);
  expect(said).toEqual([`${file} was read again`]);
});

test.each([
  ['is not valid', 'groups: { storage: ["alice"] }'],
  ['is no YAML', 'groups: {'],
  ['is empty', ''],
  ['holds nothing but a comment', '# written at this moment'],
])('a file that %s takes nothing away, and is named until it is fixed', (_what, broken) => {
  const { live, write, said } = configured('groups: { storage: ["user:alice"] }');
  write(broken);
  live.look();
  live.look();
  expect(live.current().groups).toEqual({ storage: ['user:alice'] });
  expect(live.getState().problem).toMatch(/not a valid configuration|is empty/);
  expect(said).toEqual([expect.stringContaining('the previous configuration stays in use until it is fixed')]);
  write('groups: {}');
  live.look();
  expect([live.getState().problem, live.current().groups]).toEqual([null, {}]);
});

test('a file that is gone for a moment takes nothing away either', () => {
  const { live, file } = configured('groups: { storage: ["user:alice"] }');
  rmSync(file);
  live.look();
  expect(live.current().groups).toEqual({ storage: ['user:alice'] });
  expect(live.getState().problem).toMatch(/ENOENT/);
});

test('a view always holds the settings in force', () => {
  const at = (port: number) => `extensions: [{ name: twine, kind: push-type, url: "http://localhost:${port}" }]`;
  const { live, write } = configured(at(1));
  const view = live.view();
  write(at(2));
  live.look();
  expect(view.find('push-type', 'twine').url).toBe('http://localhost:2');
  expect({ ...view }.extensions).toEqual(live.current().extensions);
});

test('a setting that a process cannot exchange stays as it started, and the log says when it will count', () => {
  const { live, write, said, file } = configured('slots: { effects: 10 }', { atStart: ['scripts', 'slots'] });
  const before = live.current().slots;
  write('{ slots: { effects: 20 }, scripts: { enabled: true }, groups: { storage: ["user:bob"] } }');
  live.look();
  expect([live.current().slots, live.current().scripts.enabled]).toEqual([before, false]);
  expect(live.current().groups).toEqual({ storage: ['user:bob'] });
  expect(said).toEqual([`${file} was read again`, 'its changes of scripts and slots take effect at the next start']);
  write('slots: { effects: 10 }');
  live.look();
  expect(said.slice(2)).toEqual([`${file} was read again`]);
});

test('how the file stands says since when what counts does', () => {
  let nowMs = 1_000;
  const { live, write } = configured('groups: {}', { now: () => nowMs });
  nowMs = 5_000;
  write('groups: {');
  live.look();
  expect(live.getState()).toMatchObject({ readAtMs: 1_000, problem: expect.stringContaining('conveyor.config.yaml') });
  write('groups: { storage: ["user:bob"] }');
  live.look();
  expect(live.getState()).toEqual({ readAtMs: 5_000, problem: null });
});
