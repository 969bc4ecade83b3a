import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compile } from '../../configerator/compiler/compile';
import { PROCESS_LIMITS } from '../../configerator/compiler/process';
import { startWalled } from '../../configerator/compiler/start';
import { folderTree } from '../../configerator/compiler/tree';
import {
  NO_PROGRAMS,
  OWN_PROGRAMS,
  tryWalls,
  createWallsProbe,
  type ProgramWalls,
} from '../../configerator/compiler/walls';
import { REQUIRED, type Guarantee } from '../../domain/isolation';
import { parseRegistry, type Registry } from '../../settings/registry';
import { thisMachine, type Machine } from '../../sandbox/method';
import { ESCAPES, escapingFiles } from './escapes';
import { folderOf, LIMITS, program, type Files } from './sources';

const settings = (config: object = {}): Registry =>
  parseRegistry({ config }, { PATH: process.env['PATH'] }, join(tmpdir(), 'conveyor.config.yaml'));

/** To go through all that can be reached takes a later Node more time and memory than programs have. */
const LONG = { timeoutMs: 60_000, memoryMb: 512 };
/** The environment of a program of configuration. */
const DATA_MB = 2 * PROCESS_LIMITS.memoryMb + 512;

async function compiled(files: Files, walls: ProgramWalls = OWN_PROGRAMS) {
  const { values, problems } = await compile(folderTree(folderOf(files)), { walls, limits: LONG });
  return {
    values: Object.fromEntries(
      values.map(({ path, text }) => [path, path.endsWith('.yaml') ? text : (JSON.parse(text) as unknown)]),
    ),
    problems: problems.map(({ code, message }) => `${code}: ${message}`),
  };
}

describe('the world of a program holds nothing of ours, whatever keeps its process in', () => {
  test.each(Object.entries(escapingFiles(Date.now())))(
    `none of ${Object.keys(ESCAPES).length} ways out of %s leads anywhere`,
    async (_from, files) => {
      expect(await compiled(files)).toEqual({ values: { escape: {} }, problems: [] });
    },
  );

  test('its values are read without handing it anything', async () => {
    const trap = program(`(() => {
  const seen: string[] = [];
  const foreign = (it: any): boolean => {
    if ((typeof it !== 'object' && typeof it !== 'function') || it === null) return false;
    let last = it;
    for (let next = it; next !== null; next = Object.getPrototypeOf(next)) last = next;
    return last !== Object.prototype;
  };
  const watch = (name: string, give: any) => (...all: any[]) => { if (all.some(foreign)) seen.push(name); return give(...all); };
  const handler: any = {};
  for (const name of Object.getOwnPropertyNames(Reflect)) handler[name] = watch(name, (Reflect as any)[name]);
  const list: any = [1, 2];
  for (const name of ['map', 'filter', 'slice', 'forEach', 'join', 'entries', 'find', 'flatMap'])
    list[name] = watch(name, () => []);
  return { proxy: new Proxy({ a: 1 }, handler), list: new Proxy(list, handler), get seen() { return seen.join(); } };
})()`);
    expect((await compiled({ 'trap.config.ts': trap })).values).toEqual({
      trap: { proxy: { a: 1 }, list: [1, 2], seen: '' },
    });
  });

  test('no program leaves its value unchecked, whatever it makes of its world and of the module of the schema', async () => {
    const tampering = (text: string): string => `import * as theirs from '../feed/limits.schema';
import { defineConfig } from 'conveyor/config';
import { z } from 'zod';
const schema: any = theirs.limits;
${text}
export default defineConfig(schema, { soft: 500 } as any);`;
    const world = `for (const on of [Map.prototype, Array.prototype, Set.prototype, String.prototype, RegExp.prototype] as any[])
  for (const name of Object.getOwnPropertyNames(on)) if (name !== 'constructor') try { on[name] = () => undefined; } catch {}
Object.keys = Object.entries = () => []; Object.is = () => false; (JSON as any).parse = () => ({ soft: 1, hard: 2 });`;
    const { values, problems } = await compiled({
      ...LIMITS,
      'a/module.config.ts': tampering(`try { (theirs as any).limits = z.any(); } catch {}`),
      'a/schema.config.ts': tampering(`schema.parse = schema.safeParse = (it: any) => it;`),
      'a/world.config.ts': tampering(world),
    });
    expect(Object.keys(values)).toEqual(['feed/limits']);
    expect(problems.sort()).toEqual(
      ['module', 'schema', 'world'].map((name) =>
        expect.stringContaining(
          `config-value-refused: a/${name} of a/${name}.config.ts is refused by softBelowHard of feed/limits.validate.ts`,
        ),
      ),
    );
  });
});

/** The abilities of the process of a program if it were a program of the machine. Each attempt names itself where it succeeds. */
const ATTEMPTS = `
const fs = require('node:fs'), { spawn, spawnSync } = require('node:child_process');
const did = [];
const attempt = (name, act) => { try { if (act() !== false) did.push(name); } catch {} };
const tryAll = ({ parent, secret, open }) => {
  attempt('environment', () => fs.readdirSync('/proc').filter((it) => /^[0-9]+$/.test(it)).some((pid) => {
    try { return fs.readFileSync('/proc/' + pid + '/environ', 'utf8').includes(secret); } catch { return false; }
  }));
  attempt('own environment', () => Object.keys(process.env).some((it) => !['TZ', 'LC_ALL', 'PWD'].includes(it)));
  attempt('signal', () => process.kill(parent, 'SIGUSR1'));
  attempt('signal', () => process.kill(process.ppid > 1 ? process.ppid : -1, 0) && process.ppid > 2 && !/\\0-e\\0/.test(fs.readFileSync('/proc/' + process.ppid + '/cmdline', 'utf8')));
  attempt('user', () => fs.readFileSync(open + '/secret'));
  attempt('user', () => fs.readFileSync('/proc/' + parent + '/root' + open + '/secret'));
  attempt('files', () => { fs.writeFileSync(open + '/written', ''); });
  for (const own of ['/tmp', '/dev/shm', '/var/tmp']) {
    const at = own + '/link-' + process.pid;
    attempt('links', () => { fs.symlinkSync(open + '/secret', at + '-s'); return fs.readFileSync(at + '-s'); });
    attempt('links', () => { fs.linkSync(open + '/secret', at + '-h'); return fs.readFileSync(at + '-h'); });
    attempt('links', () => { fs.symlinkSync(open, at + '-d'); fs.writeFileSync(at + '-d/written', ''); });
    attempt('links', () => { fs.symlinkSync('/proc/1/root', at + '-r'); return fs.readFileSync(at + '-r' + open + '/secret'); });
    attempt('links', () => { fs.symlinkSync('/proc/self/fd', at + '-f'); return fs.readdirSync(at + '-f').filter((fd) => fd > 2)
      .some((fd) => { try { return fs.statSync(at + '-f/' + fd).isFile() && fs.readFileSync(at + '-f/' + fd, 'utf8').includes(secret); } catch { return false; } }); });
    for (const kind of ['s', 'h', 'd', 'r', 'f']) try { fs.unlinkSync(at + '-' + kind); } catch {}
  }
  attempt('descriptors', () => fs.readdirSync('/proc/self/fd').map(Number).filter((fd) => fd > 2)
    .some((fd) => { try { return fs.fstatSync(fd).isFile() && fs.readFileSync('/proc/self/fd/' + fd, 'utf8').includes(secret); } catch { return false; } }));
  attempt('processes', () => Number(/^Max processes +([0-9]+|unlimited)/m.exec(fs.readFileSync('/proc/self/limits', 'utf8'))[1].replace('unlimited', 'Infinity')) > 512);
};
`;

/** Tries all that, also in a child that leaves its session, and leaves a child of its own behind; prints what it managed. */
const INTRUDER = `${ATTEMPTS}
const net = require('node:net');
const given = JSON.parse(fs.readFileSync(0, 'utf8'));
tryAll(given);
const child = ${JSON.stringify(`${ATTEMPTS}; tryAll(JSON.parse(process.argv[1])); process.stdout.write(JSON.stringify(did));`)};
const forked = spawnSync(process.execPath, ['-e', child, JSON.stringify(given)], { detached: true, encoding: 'utf8', env: process.env });
attempt('a fork', () => { const all = JSON.parse(forked.stdout); did.push(...all.map((name) => name + ' by a fork')); return false; });
if (forked.status !== 0) did.push('a fork that could not try: ' + forked.stderr);
attempt('memory', () => { const kept = []; for (let n = 0; n < 24; n++) kept.push(Buffer.alloc(64 * 1024 * 1024, 1)); });
for (const how of ['sleep 600', 'trap "" TERM HUP INT; (trap "" TERM HUP INT; sleep 600 & sleep 600)'])
  try { spawn('/bin/sh', ['-c', how + '; : ' + given.lasting], { detached: true, stdio: 'ignore' }).on('error', () => {}).unref(); } catch {}
const socket = net.connect(given.port, '127.0.0.1').on('connect', () => { did.push('network'); done(); }).on('error', done);
let isDone = false;
function done() { if (!isDone) { isDone = true; process.stdout.write(JSON.stringify([...new Set(did)]) + '\\n'); setTimeout(() => process.exit(), 100); } }
`;

/** The processes that still run and were started with this word. */
const pidsOf = (word: string): readonly number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(word);
      } catch {
        return false;
      }
    })
    .map(Number);

function killAll(word: string): void {
  for (const pid of pidsOf(word))
    try {
      process.kill(pid, 'SIGKILL');
    } catch (error) {
      // It has ended meanwhile.
      expect(error).toMatchObject({ code: 'ESRCH' });
    }
}

/** The walls that keep an intruder from each attempt: it may succeed only where one of them is missing. */
const KEPT_BY: Readonly<Record<string, readonly Guarantee[]>> = {
  environment: ['environment'],
  'own environment': [],
  signal: ['environment', 'user'],
  user: ['user'],
  files: ['files'],
  links: ['files', 'user'],
  descriptors: [],
  processes: ['processes'],
  memory: ['memory'],
  network: ['network'],
  'a child that outlives it': ['leftovers'],
};

async function managed(walls: ProgramWalls): Promise<readonly string[]> {
  const open = mkdtempSync('/var/tmp/conveyor-escape-');
  chmodSync(open, 0o777);
  const secret = `SECRET-${process.pid}-${Math.random()}`;
  const lasting = `left-${process.pid}-${Date.now()}`;
  writeFileSync(join(open, 'secret'), secret, { mode: 0o600 });
  const inherited = openSync(join(open, 'secret'), 'r');
  const parent = spawn('sleep', ['120'], { env: { SECRET: secret }, stdio: ['ignore', 'ignore', 'ignore', inherited] });
  const server = createServer((socket) => socket.end());
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  const { child, end } = startWalled([process.execPath, '-e', INTRUDER], DATA_MB, walls);
  try {
    let text = '';
    child.stdout?.setEncoding('utf8').on('data', (part: string) => void (text += part));
    let errors = '';
    child.stderr?.setEncoding('utf8').on('data', (part: string) => void (errors += part));
    child.stdin?.end(JSON.stringify({ parent: parent.pid, port, secret, open, lasting }));
    await new Promise((closed) => child.once('close', closed));
    if (text === '') throw new Error(`nothing was tried: ${errors}`);
    end();
    const left = pidsOf(lasting).length > 0 ? ['a child that outlives it'] : [];
    return [...(JSON.parse(text) as string[]), ...left];
  } finally {
    end();
    killAll(lasting);
    parent.kill('SIGKILL');
    server.close();
    rmSync(open, { recursive: true, force: true });
  }
}

const scripts = settings().scripts;
const here = thisMachine(scripts);
const LACKING: readonly (readonly [string, Machine])[] = [
  ['namespaces', { ...here, tools: here.tools && { ...here.tools, unshare: '/bin/false' } }],
  [
    'namespaces and the rights of root',
    { ...here, uid: 1000, tools: here.tools && { ...here.tools, unshare: '/bin/false' } },
  ],
  ['util-linux', { ...here, tools: null }],
  ['Linux', { ...here, platform: 'darwin' }],
];

describe('the process of a program is kept in, also when the world in it is not', () => {
  test('where this machine has all walls, nothing that an intruder tries succeeds', async () => {
    const walls = await createWallsProbe(settings())();
    const missing: readonly Guarantee[] = walls.kind === 'others' ? walls.missing : REQUIRED;
    const did = await managed(walls);
    if (missing.length === 0) expect(did).toEqual([]);
    // Otherwise no program runs.
    else
      await expect(compiled({ 'a.config.ts': program('1') }, walls)).rejects.toThrow(
        'a configuration program cannot run on this machine',
      );
  });

  test('a program runs behind all walls as it does without', async () => {
    const walls = await createWallsProbe(settings({ programs: { allowMissing: [...REQUIRED] } }))();
    expect(await compiled(LIMITS, walls)).toEqual({ values: { 'feed/limits': { soft: 50, hard: 100 } }, problems: [] });
  });

  test.each(LACKING)(
    'without %s, where the settings let programs run all the same, every wall that is left holds',
    async (_what, machine) => {
      const tried = await tryWalls(scripts, machine);
      const walls = await createWallsProbe(settings({ programs: { allowMissing: [...tried.missing] } }), () =>
        Promise.resolve(tried),
      )();
      const did = (await managed(walls)).map((name) => name.replace(/ by a fork$/, ''));
      const isHeld = (name: string): boolean => !KEPT_BY[name]?.some((wall) => tried.missing.includes(wall));
      expect({ missing: tried.missing, did: did.filter(isHeld) }).toEqual({ missing: tried.missing, did: [] });
    },
  );

  test.each(LACKING)(
    'without %s none runs, and the error names what is missing, unless the settings name it too',
    async (_what, machine) => {
      const tried = await tryWalls(scripts, machine);
      const { missing } = tried;
      expect(missing).toEqual(expect.arrayContaining(['network', 'files']));
      const walls = (config?: object) => createWallsProbe(settings(config), () => Promise.resolve(tried))();
      await expect(compiled(LIMITS, await walls())).rejects.toMatchObject({
        code: 'config-programs-unprotected',
        message: expect.stringContaining('reaching the network and Temporal, writing files of this machine') as string,
        hint: expect.stringContaining('config.programs.allowMissing: [') as string,
      });
      const some = await walls({ programs: { allowMissing: ['network'] } });
      await expect(compiled(LIMITS, some)).rejects.toThrow('writing files of this machine');
      const all = await walls({ programs: { allowMissing: [...missing].join(', ') } });
      expect((await compiled(LIMITS, all)).problems).toEqual([]);
    },
  );

  test('without having asked the machine none runs, and files that hold no program are read all the same', async () => {
    await expect(compiled(LIMITS, NO_PROGRAMS)).rejects.toMatchObject({ code: 'config-programs-unprotected' });
    expect(await compiled({ 'a.json': '1', 'b.yaml': 'c: 2' }, NO_PROGRAMS)).toMatchObject({ problems: [] });
  });
});
