import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The units of systemd for the push types of hosts. */

const ROOT = join(__dirname, '../..');

test.each([
  ['examples/hosts/conveyor-hosts.service', 'hosts', 'push-types/hosts/main.ts', ['inventory', 'home']],
  [
    'examples/daemon/conveyor-slowroll.service',
    'slowroll',
    'push-types/slowroll/server/main.ts',
    ['settings', 'home', 'hosts-address'],
  ],
])('%s starts its push type by options that this has, with a home that systemd makes', (unit, name, main, expected) => {
  const text = readFileSync(join(ROOT, unit), 'utf8');
  const [, command = ''] = /^ExecStart=(.*)$/m.exec(text) ?? [];
  const [program = '', ...words] = command.split(' ');
  expect(existsSync(join(ROOT, program.replace('/opt/conveyor/', '')))).toBe(true);
  expect(words.slice(0, 2)).toEqual(['push-type', name]);
  const flags = words.flatMap((word) => (word.startsWith('--') ? [word.slice(2)] : []));
  expect(flags).toEqual(expected);
  const source = readFileSync(join(ROOT, main), 'utf8');
  for (const flag of flags) expect(source).toMatch(new RegExp(`^ {6}'?${flag}'?: \\{ type: 'string'`, 'm'));
  const [, folder] = /^StateDirectory=(.*)$/m.exec(text) ?? [];
  expect(words[words.indexOf('--home') + 1]).toBe(`/var/lib/${folder}`);
});
