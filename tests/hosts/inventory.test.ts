import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HOSTS_LIMITS } from '../../domain/limits';
import { createFiller } from '../../push-types/hosts/inventory';
import { loadInventory } from '../../push-types/hosts/loadInventory';

/** Inventories, from files and programs. */

const folder = mkdtempSync(join(tmpdir(), 'conveyor-inventory-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const HEAD = `
service: web
app: { root: /srv/web, service: 'web@{instance}.service', health: { url: 'http://127.0.0.1:{http}/up' } }
packages: { from: './packages/{version}.tar' }
vars: { http: 80, instance: a }
`;
const load = (text: string) => {
  const path = join(folder, 'hosts.yaml');
  writeFileSync(path, text);
  return loadInventory(path);
};
const program = (name: string, text: string): string => {
  writeFileSync(join(folder, name), `#!/bin/sh\n${text}\n`);
  chmodSync(join(folder, name), 0o755);
  return `./${name}`;
};
const printed = (json: unknown): Promise<unknown> => {
  const name = program('print.sh', `cat <<'END'\n${typeof json === 'string' ? json : JSON.stringify(json)}\nEND`);
  return load(`${HEAD}program: { run: [${name}], groups: [web] }\n`);
};

test('a group is a unit, or one for each value of a label; hosts are in the order of their numbers', async () => {
  const { inventory } = await load(`${HEAD}
groups:
  web:
    split: region
    labels: { tier: front }
    hosts: { web-10: { labels: { region: eu } }, web-2: { labels: { region: eu } }, web-1: { labels: { region: us, tier: back } } }
  db: { hosts: { db-1: null } }
`);
  const names = [...inventory.units].map(([unit, hosts]) => [unit, hosts.map(({ name }) => name)]);
  expect(names).toEqual([
    ['web-eu', ['web-2', 'web-10']],
    ['web-us', ['web-1']],
    ['db', ['db-1']],
  ]);
  expect(inventory.labels.get('web-eu')).toEqual({ group: 'web', region: 'eu', tier: 'front' });
  expect(inventory.labels.get('web-us')).toEqual({ group: 'web', region: 'us', tier: 'back' });
});

test('variables of a host take precedence over those of its group, and these over those of the file', async () => {
  const { inventory } = await load(`${HEAD}
groups:
  web: { vars: { instance: b }, hosts: { one: { vars: { http: 81 } }, two: { address: 10.0.0.2, port: 2222 } } }
`);
  const [one, two] = inventory.units.get('web') ?? [];
  expect(one?.vars).toEqual({ http: '81', instance: 'b' });
  expect(two).toMatchObject({ address: '10.0.0.2', port: 2222, vars: { http: '80', instance: 'b' } });
});

test.each([
  [
    'a host that is in two groups',
    'groups: { a: { hosts: { x: null } }, b: { hosts: { x: null } } }',
    'the host x is in a and in b',
  ],
  [
    'an address that ssh would take for an option',
    'groups: { a: { hosts: { x: { address: -oProxyCommand=id } } } }',
    'groups.a.hosts.x.address',
  ],
  ['a name with a space', "groups: { a: { hosts: { 'x y': null } } }", 'groups.a.hosts.x y'],
  ['a field that does not exist', 'groups: { a: { hosts: { x: { adress: y } } } }', 'adress'],
  [
    'a host without the label of the split',
    'groups: { a: { split: region, hosts: { x: null } } }',
    'the host x has no label region',
  ],
  ['no hosts', 'groups: {}', 'expected a group of hosts'],
  ['a fingerprint that is none', 'groups: { a: { hosts: { x: { fingerprint: abc } } } }', 'ssh-keygen -l prints it'],
])('%s is refused, and the place is named', async (_, text, reason) => {
  await expect(load(`${HEAD}${text}\n`)).rejects.toThrow(reason);
});

test('a variable that a host lacks is refused before a deploy needs it', async () => {
  const text = HEAD.replace('instance: a', 'other: a');
  await expect(load(`${text}groups: { a: { hosts: { x: null } } }\n`)).rejects.toThrow('x has no variable instance');
});

describe('a program that prints the JSON of Ansible', () => {
  test('gives groups with the hosts of their children, connections, labels and variables', async () => {
    const { inventory } = (await printed({
      _meta: {
        hostvars: {
          one: {
            ansible_host: '10.0.0.1',
            ansible_port: '2222',
            ansible_user: 'deploy',
            label_zone: 'a',
            http: 81,
            nested: { x: 1 },
          },
        },
      },
      all: { children: ['web', 'ungrouped'] },
      ungrouped: {},
      web: { children: ['front'], vars: { label_tier: 'front', instance: 'b' } },
      front: { hosts: ['one', 'two'], vars: { instance: 'c' } },
    })) as Awaited<ReturnType<typeof load>>;
    const [one, two] = inventory.units.get('web') ?? [];
    expect(one).toMatchObject({
      address: '10.0.0.1',
      port: 2222,
      user: 'deploy',
      labels: { zone: 'a', tier: 'front' },
    });
    expect([one?.vars['instance'], one?.vars['http'], two?.address, two?.vars['http']]).toEqual([
      'c',
      '81',
      'two',
      '80',
    ]);
  });

  test.each([
    ['prints no JSON', 'hello', 'it printed no JSON'],
    ['lacks the group', { other: { hosts: ['x'] } }, 'it printed no group web; there are other'],
    [
      'has a circle of groups',
      { web: { children: ['a'] }, a: { children: ['web'] } },
      'the group web is its own child',
    ],
    ['names a child that is not there', { web: { children: ['gone'] } }, 'it names the group gone as a child'],
    ['has hosts that are no names', { web: { hosts: ['-oProxyCommand=id'] } }, 'a mistake at web'],
    [
      'has an address for ssh to misread',
      { web: { hosts: ['x'] }, _meta: { hostvars: { x: { ansible_host: '-x' } } } },
      'a mistake for x, at ansible_host',
    ],
    ['prints a list', '[]', 'a mistake at its root'],
    [
      'has too many hosts',
      { web: { hosts: Array.from({ length: HOSTS_LIMITS.hosts.max + 1 }, (_, n) => `h${n}`) } },
      `more than ${HOSTS_LIMITS.hosts.max}`,
    ],
  ])('and %s is refused', async (_, json, reason) => {
    await expect(printed(json)).rejects.toThrow(reason);
  });

  test.each([
    ['ends with another code than 0', 'echo no database >&2; exit 3', 'ended with the code 3: no database'],
    ['does not end', 'sleep 60', 'did not end within 300 ms'],
    ['prints without end', 'yes', `printed more than ${HOSTS_LIMITS.inventory.max} bytes`],
  ])('and %s is refused', async (_, text, reason) => {
    const timeout = text === 'yes' ? '60s' : '300ms';
    const name = program('bad.sh', text);
    await expect(load(`${HEAD}program: { run: [${name}], groups: [web], timeout: ${timeout} }\n`)).rejects.toThrow(
      reason,
    );
  });
});

test('the name of a server follows the inventory: hosts that join later have theirs', async () => {
  const read = async (hosts: string) => (await load(`${HEAD}groups: { web: { hosts: { ${hosts} } } }\n`)).inventory;
  let inventory = await read('one: { vars: { lb: s1 } }');
  const fill = createFiller('{lb}.{address}', () => inventory);
  expect(fill('one')).toBe('s1.one');
  expect(() => fill('two')).toThrow('there is no host two in the inventory');
  inventory = await read('one: { address: 10.0.0.1, vars: { lb: s1 } }, two: { vars: { lb: s2 } }');
  expect([fill('one'), fill('two')]).toEqual(['s1.10.0.0.1', 's2.two']);
});
