import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endGroups, makeRoom, openGroup, ownGroup } from '../../sandbox/cgroup';
import type { ScriptLimits } from '../../settings/scripts';

/** Folders that stand for groups: the kernel would keep the files in them. */
let home: string;
beforeEach(() => void (home = mkdtempSync(join(tmpdir(), 'cgroup-test-'))));
afterEach(() => rmSync(home, { recursive: true, force: true }));

const put = (folder: string, files: Readonly<Record<string, string>>): string => {
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
};
const read = (...path: string[]): string => readFileSync(join(...path), 'utf8');

const LIMITS: ScriptLimits = {
  ...{ memoryBytes: 1_000, totalMemoryBytes: 2_000, processes: 64, cpus: null, cpuMs: 1_000, fileBytes: 1_000 },
};

describe('the control group of a worker', () => {
  const V1 = '34 31 0:31 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n';
  const mounted = (root: string): string => `${V1}41 31 0:38 ${root} /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n`;

  test.each([
    ['is that of its service', '0::/system.slice/conveyor.service\n', mounted('/'), '/system.slice/conveyor.service'],
    ['is the top of a container', '0::/\n', mounted('/'), ''],
    ['is found below what is mounted', '0::/docker/a1/workers\n', mounted('/docker/a1'), '/workers'],
    ['is none out of sight of a container', '0::/../b2\n', mounted('/'), null],
    ['is none beside what is mounted', '0::/docker/a12\n', mounted('/docker/a1'), null],
    ['is none on a machine of cgroup v1', '4:memory:/user\n1:name=systemd:/user\n', V1, null],
    ['is none where there is no /proc', null, null, null],
  ])('%s', (_title, cgroup, mountinfo, below) => {
    if (cgroup !== null && mountinfo !== null) put(home, { cgroup, mountinfo });
    expect(ownGroup(home)).toBe(below === null ? null : join('/sys/fs/cgroup', below));
  });
});

describe('room for scripts', () => {
  const ALL = 'cpuset cpu io memory hugetlb pids\n';
  const inner = { 'cgroup.type': 'domain\n', 'cgroup.controllers': ALL, 'cgroup.procs': `${process.pid}\n` };

  test('is in the group of a worker that is alone there, which moves below it', () => {
    const own = put(join(home, 'conveyor.service'), inner);
    expect(makeRoom(own)).toEqual({ folder: own, controllers: ['memory', 'pids', 'cpu'] });
    expect(read(own, 'conveyor-worker', 'cgroup.procs')).toBe(String(process.pid));
  });

  test('is not in a group with other processes, and moves none of them', () => {
    const own = put(join(home, 'session-4.scope'), { ...inner, 'cgroup.procs': `${process.pid}\n1234\n` });
    expect(() => makeRoom(own)).toThrow(/other processes are in the cgroup/);
    expect(readdirSync(own).sort()).toEqual(Object.keys(inner).sort());
  });

  test('is beside a worker that was started below its group, by any process', () => {
    const service = put(join(home, 'conveyor.service'), { ...inner, 'cgroup.procs': '' });
    const own = put(join(service, 'conveyor-worker'), inner);
    expect(makeRoom(own).folder).toBe(service);
    expect(existsSync(join(own, 'conveyor-worker'))).toBe(false);
  });

  test('is at the top without a move', () => {
    const own = put(home, { 'cgroup.procs': `1\n${process.pid}\n`, 'cgroup.controllers': ALL });
    expect(makeRoom(own)).toEqual({ folder: own, controllers: ['memory', 'pids', 'cpu'] });
    expect(existsSync(join(own, 'conveyor-worker'))).toBe(false);
  });

  test.each([
    ['only what the group was given', 'pids\n', ['pids']],
    ['nothing where cgroup v1 has it all', 'hugetlb\n', []],
  ])('limits %s', (_title, given, controllers) => {
    const own = put(home, { ...inner, 'cgroup.controllers': given });
    expect(makeRoom(own).controllers).toEqual(controllers);
  });
});

describe('the group of a script', () => {
  const all = { controllers: ['memory', 'pids', 'cpu'] };

  test('has the limits of the configuration, and waits for the worker where processors are scarce', () => {
    const { folder } = openGroup({ ...all, folder: home }, 'run', { ...LIMITS, cpus: 1.5 });
    const limits = Object.fromEntries(readdirSync(folder).map((name) => [name, read(folder, name)]));
    expect(limits).toEqual({
      ...{ 'memory.max': '2000', 'memory.swap.max': '0', 'memory.oom.group': '1' },
      ...{ 'pids.max': '64', 'cpu.weight': '50', 'cpu.max': '150000 100000' },
    });
  });

  test('lacks limits that the machine does not keep, and one of processors unless it is set', () => {
    const { folder } = openGroup({ folder: home, controllers: ['cpu'] }, 'run', LIMITS);
    expect(readdirSync(folder)).toEqual(['cpu.weight']);
  });

  test('is another for each run, also of the same id', () => {
    const [first, second] = [1, 2].map(() => openGroup({ ...all, folder: home }, 'run', LIMITS).folder);
    expect(first).not.toBe(second);
  });

  test('is killed as a whole', async () => {
    const group = openGroup({ folder: home, controllers: [] }, 'run', LIMITS);
    put(group.folder, { 'cgroup.events': 'populated 1\nfrozen 0\n', 'cgroup.kill': '' });
    const ended = group.end();
    expect(read(group.folder, 'cgroup.kill')).toBe('1');
    put(group.folder, { 'cgroup.events': 'populated 0\nfrozen 0\n' });
    await ended;
  });

  test('is killed one after the other by kernels that know no better, and is gone', async () => {
    const group = openGroup({ folder: home, controllers: [] }, 'run', LIMITS);
    const child = spawn('sleep', ['600'], { stdio: 'ignore' });
    // 0 is who is out of sight, and would be this process and its group.
    put(group.folder, { 'cgroup.procs': `0\n${child.pid}\n` });
    const gone = once(child, 'exit').then(() => rmSync(join(group.folder, 'cgroup.procs')));
    await group.end();
    await gone;
    expect(child.signalCode).toBe('SIGKILL');
  });

  test.each([
    ['says that memory was short, where the kernel ended some of it', 'low 0\nmax 31\noom 1\noom_kill 4\n', true],
    ['says nothing of that where it only came near', 'low 0\nmax 31\noom 0\noom_kill 0\n', false],
  ])('%s', async (_title, events, isShort) => {
    const group = openGroup({ folder: home, controllers: [] }, 'run', LIMITS);
    put(group.folder, { 'memory.events': events });
    expect(await group.end()).toBe(isShort);
  });

  test('is removed, with those that it made below itself', async () => {
    const group = openGroup({ folder: home, controllers: [] }, 'run', LIMITS);
    mkdirSync(join(group.folder, 'a', 'b'), { recursive: true });
    await group.end();
    expect(existsSync(group.folder)).toBe(false);
  });

  test('that a killed worker left behind is found by its run, and others stay', async () => {
    const open = (runId: string): string => openGroup({ folder: home, controllers: [] }, runId, LIMITS).folder;
    const [left, again, other] = [open('run'), open('run'), open('other')];
    await endGroups({ folder: home, controllers: [] }, 'run');
    expect([left, again, other].map((folder) => existsSync(folder))).toEqual([false, false, true]);
  });

  test('that cannot be limited is not left behind', () => {
    writeFileSync(join(home, 'taken'), '');
    expect(() => openGroup({ ...all, folder: join(home, 'taken') }, 'run', LIMITS)).toThrow();
    expect(readdirSync(home)).toEqual(['taken']);
  });
});
