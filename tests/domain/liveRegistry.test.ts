import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LiveRegistry } from '../../sdk/liveRegistry';

const folder = mkdtempSync(join(tmpdir(), 'conveyor-live-'));
afterAll(() => rmSync(folder, { recursive: true }));

function configured(text: string) {
  const file = join(folder, 'conveyor.config.yaml');
  /** As editors do. */
  const write = (next: string): void => {
    writeFileSync(`${file}.new`, next);
    renameSync(`${file}.new`, file);
  };
  write(text);
  const said: string[] = [];
  const changed: unknown[] = [];
  const live = new LiveRegistry({}, (line) => said.push(line), file);
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
])('a file that %s takes nothing away, and is named until it is mended', (_what, broken) => {
  const { live, write, said } = configured('groups: { storage: ["user:alice"] }');
  write(broken);
  live.look();
  live.look();
  expect(live.current().groups).toEqual({ storage: ['user:alice'] });
  expect(live.problem()).toMatch(/not a valid configuration/);
  expect(said).toEqual([expect.stringContaining('what it said before counts until it is mended')]);
  write('groups: {}');
  live.look();
  expect([live.problem(), live.current().groups]).toEqual([null, {}]);
});

test('a file that is gone for a moment takes nothing away either', () => {
  const { live, file } = configured('groups: { storage: ["user:alice"] }');
  rmSync(file);
  live.look();
  expect(live.current().groups).toEqual({ storage: ['user:alice'] });
  expect(live.problem()).toMatch(/ENOENT/);
});
