import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { wallClock } from '../../activities/clock';
import { createScriptActivities, type ScriptEnd } from '../../activities/script';
import { GUARANTEES, REQUIRED, withoutIsolation, type Guarantee } from '../../domain/isolation';
import { thisMachine, type Machine } from '../../sandbox/method';
import { probe, type Isolation } from '../../sandbox/probe';
import { createRunner } from '../../sandbox/runner';
import { formatRunMark } from '../../sandbox/mark';
import { installRoot, parseRegistry } from '../../settings/registry';
import type { Scripts } from '../../settings/scripts';
import { inlineSnapshots } from '../activities/inlineSnapshots';

/** A platform as it is installed: a configuration, and beside it the folder of the scripts. */
const home = mkdtempSync(join(tmpdir(), 'isolation-test-'));
chmodSync(home, 0o755);
mkdirSync(join(home, 'scripts'));
afterAll(() => rmSync(home, { recursive: true, force: true }));

const scriptsWith = (more: object = {}): Scripts =>
  parseRegistry(
    { scripts: { enabled: true, isolation: 'best-effort', directory: 'scripts', stopGrace: '300ms', ...more } },
    { PATH: process.env['PATH'] },
    join(home, 'conveyor.config.yaml'),
  ).scripts;

function runIn(isolation: Isolation, text: string, more: object = {}, env = activity(), runId = nonce()) {
  const scripts = scriptsWith(more);
  const runner = createRunner(scripts, () => Promise.resolve(isolation));
  const { runScript } = createScriptActivities({ clock: wallClock, snapshots: inlineSnapshots, scripts, runner });
  const facts = { pipeline: 'kvstore', release: 'kvstore/12' };
  const run = { runId, action: 'attack', command: ['bash', '-c', text], env: [], facts };
  return env.run(runScript, { ...run, timeoutMs: null, heartbeatTimeoutMs: 90 }) as Promise<ScriptEnd>;
}

/** Expected failures stay out of the log. */
const activity = () => new MockActivityEnvironment({}, { logger: new DefaultLogger('ERROR') });

const nonce = (): string => randomBytes(8).toString('hex');

/** How many processes of this machine have this among their arguments; those that are not reaped count as gone. */
const running = (mark: string): number =>
  execFileSync('ps', ['-axo', 'stat=,args='], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => !line.startsWith('Z') && line.includes(mark)).length;

/** It may have ended since it was listed. */
function endGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    expect(error).toMatchObject({ code: 'ESRCH' });
  }
}

const said = ({ log }: ScriptEnd): string => log.head + log.tail;

/** Machines that lack something differ from this one by what is not looked for on them. */
const here = thisMachine(scriptsWith());
const NO_NAMESPACES = here.tools && { ...here.tools, unshare: '/bin/false' };
const MACHINES: [string, Machine][] = [
  ['this machine', here],
  ['one that permits no namespaces', { ...here, tools: NO_NAMESPACES }],
  ['one that permits neither namespaces nor control groups', { ...here, tools: NO_NAMESPACES, cgroup: null }],
  ['one without util-linux', { ...here, tools: null }],
];

describe.each(MACHINES)(
  'the guarantees of the runner on %s hold, and it states the missing ones',
  (_title, machine) => {
    let isolation: Isolation;
    beforeAll(async () => {
      isolation = await probe(scriptsWith(), machine);
    });

    /** An attack either comes to nothing, or the script's log says that nothing keeps it from that. */
    function expectHeld(guarantee: Guarantee, end: ScriptEnd, held: () => void): void {
      const says = said(end).split('\n')[0]?.includes(GUARANTEES[guarantee].keepsFrom) ?? false;
      expect({ guarantee, says }).toEqual({ guarantee, says: isolation.missing.includes(guarantee) });
      if (!says) held();
    }

    test('the environment of the worker, and of whatever else runs here, cannot be read', async () => {
      const secret = nonce();
      const worker = spawn('sleep', ['60'], { env: { PATH: process.env['PATH'], SECRET: secret }, stdio: 'ignore' });
      const end = await runIn(
        isolation,
        `cat /proc/$PPID/environ /proc/[0-9]*/environ | tr '\\0' '\\n' | grep '^SECRET='; echo tried`,
      );
      worker.kill('SIGKILL');
      expect(said(end)).toContain('tried');
      expectHeld('environment', end, () => expect(said(end)).not.toContain(secret));
    });

    test('nothing on the network is reached, such as Temporal', async () => {
      let visits = 0;
      const temporal = createServer((socket) => {
        visits += 1;
        socket.end();
      });
      await new Promise<void>((done) => temporal.listen(0, '127.0.0.1', done));
      const { port } = temporal.address() as AddressInfo;
      const end = await runIn(isolation, `exec 5<>/dev/tcp/127.0.0.1/${port} && echo reached; read -u 5; echo tried`);
      await new Promise((done) => temporal.close(done));
      expectHeld('network', end, () =>
        expect({ visits, text: said(end) }).toEqual({
          visits: 0,
          text: expect.not.stringContaining('reached') as string,
        }),
      );
    });

    test('neither the programs of Conveyor nor its configuration nor the checkout can be written', async () => {
      const mark = `.attack-${nonce()}`;
      const folders = [home, join(home, 'scripts'), join(installRoot(), 'dist'), installRoot(), '/var/tmp'];
      const files = folders.filter((folder) => existsSync(folder)).map((folder) => join(folder, mark));
      const end = await runIn(isolation, files.map((file) => `echo broken > ${file}`).join('\n'));
      const written = files.filter((file) => existsSync(file));
      for (const file of written) rmSync(file);
      expectHeld('files', end, () => expect(written).toEqual([]));
    });

    test('files that only the user of the worker may read are closed', async () => {
      const secret = nonce();
      writeFileSync(join(home, 'scripts', secret), secret.toUpperCase(), { mode: 0o600 });
      const end = await runIn(isolation, `cat ${secret}; echo tried`);
      expectHeld('user', end, () => expect(said(end)).not.toContain(secret.toUpperCase()));
    });

    describe('a process in a session of its own and without environment does not outlive its script', () => {
      const leaving = (mark: string) =>
        `echo $(env -i PATH="$PATH" setsid bash -c 'echo left; exec >/dev/null 2>&1; sleep 600; :' ${mark} &)`;
      /** Processes that this machine cannot end are not left to it. */
      const killed = (mark: string): void => {
        for (const pid of execFileSync('ps', ['-axo', 'pid=,args='], { encoding: 'utf8' }).split('\n'))
          if (pid.includes(`bash -c echo left`) && pid.endsWith(mark)) endGroup(Number.parseInt(pid, 10));
      };

      test('that succeeded', async () => {
        const mark = nonce();
        const end = await runIn(isolation, leaving(mark));
        const left = running(mark);
        killed(mark);
        expect(said(end)).toContain('left');
        expectHeld('leftovers', end, () => expect(left).toBe(0));
      });

      test('that was cancelled', async () => {
        const mark = nonce();
        const env = activity();
        // Stopped as soon as its log shows that it has left something behind.
        env.on('heartbeat', ({ log }: { log: { head: string } }) => void (log.head.includes('left\n') && env.cancel()));
        const cancelled = runIn(isolation, `${leaving(mark)}\nsleep 600`, {}, env);
        await expect(cancelled).rejects.toMatchObject({ name: 'CancelledFailure' });
        const left = running(mark);
        killed(mark);
        if (!isolation.missing.includes('leftovers')) expect(left).toBe(0);
      });
    });

    test('a process that forks anew all the time, each time in a session of its own, is not outrun', async () => {
      const mark = nonce();
      const hop =
        '[ "$2" -gt 0 ] || exit 0\nsleep 0.02\nsetsid bash "$0" "$1" $(($2 - 1)) </dev/null >/dev/null 2>&1 &\n';
      writeFileSync(join(home, 'scripts', 'hop.sh'), hop);
      const end = await runIn(isolation, `bash ./hop.sh ${mark} 50; echo hopped`);
      const left = running(mark);
      expect(said(end)).toContain('hopped');
      expectHeld('leftovers', end, () => expect(left).toBe(0));
    });

    test('nothing is left of its control group', async () => {
      const { groups } = isolation.method;
      const runId = nonce();
      const end = await runIn(isolation, 'cat /proc/self/cgroup', {}, activity(), runId);
      if (groups !== null) expect(said(end)).toContain(formatRunMark(runId));
      const left =
        groups === null ? [] : readdirSync(groups.folder).filter((name) => name.startsWith(formatRunMark(runId)));
      expect(left).toEqual([]);
    });

    test('processes that take memory together get no more than the script may', async () => {
      const hold = '{ head -c 33554432 /dev/zero; sleep 1; } | tail -n 1 | wc -c';
      const end = await runIn(isolation, `for n in 1 2 3 4; do ${hold} & done; wait; echo held all`, {
        limits: { memory: '64MiB', totalMemory: '64MiB' },
      });
      expectHeld('total', end, () =>
        expect({ text: said(end), message: end.message }).toEqual({
          text: expect.not.stringContaining('held all') as string,
          message: expect.stringContaining('more memory than limits.totalMemory') as string,
        }),
      );
    });

    test('a script that starts processes without end gets no more than it may', async () => {
      const mark = `600.${BigInt(`0x${nonce()}`)}`;
      const text = `n=0; while [ $n -lt 120 ]; do sleep ${mark} & n=$((n + 1)); done 2>/dev/null\necho started all`;
      const end = await runIn(isolation, `sh -c '${text}'`, { limits: { processes: 60 } });
      expect(running(mark)).toBe(0);
      expectHeld('processes', end, () => expect(said(end)).not.toContain('started all'));
    });

    test('a process that takes memory without end gets no more than it may', async () => {
      const end = await runIn(isolation, 'head -c 268435456 /dev/zero | tail -n 1 | wc -c', {
        limits: { memory: '128MiB' },
      });
      expectHeld('memory', end, () => expect(said(end)).not.toContain('268435456'));
    });

    test('it has a folder for what it writes, which is gone with it', async () => {
      const mark = nonce();
      const end = await runIn(isolation, `echo kept > "$TMPDIR/${mark}" && cat "$TMPDIR/${mark}"`);
      expect(said(end)).toContain('kept');
      const folders = readdirSync(tmpdir()).filter((name) => name.startsWith('conveyor-script-'));
      expect(folders.filter((name) => existsSync(join(tmpdir(), name, 'tmp', mark)))).toEqual([]);
      expect(existsSync(join('/tmp', mark))).toBe(false);
    });

    test('a folder that the platform opens to scripts can be written, and keeps what they write', async () => {
      const open = join(home, 'open');
      mkdirSync(open, { recursive: true });
      chmodSync(open, 0o777);
      const mark = nonce();
      expect(await runIn(isolation, `echo kept > ${open}/${mark}`, { writable: ['open'] })).toMatchObject({
        succeeded: true,
      });
      expect(existsSync(join(open, mark))).toBe(true);
    });

    test('where scripts.isolation demands what is missing, nothing is run', async () => {
      const lacks = withoutIsolation(isolation.missing);
      const end = runIn(isolation, 'echo ran', { isolation: Object.keys(GUARANTEES) });
      if (lacks === null) expect(await end).toMatchObject({ succeeded: true, log: { head: 'ran\n' } });
      else
        await expect(end).rejects.toMatchObject({
          type: 'script-not-runnable',
          nonRetryable: true,
          message: expect.stringContaining(lacks) as string,
        });
    });
  },
);

test('where the worker may make namespaces nothing is missing, but another user where it is not root', async () => {
  const isRoot = process.getuid?.() === 0;
  const user = isRoot ? [] : ['--user', '--map-root-user'];
  const { status } = spawnSync('unshare', [...user, '--mount', '--pid', '--fork', '--mount-proc', '--net', 'true']);
  const { missing } = await probe(scriptsWith());
  const few = isRoot ? [] : ['user'];
  const demanded = missing.filter((name) => REQUIRED.includes(name));
  expect(demanded).toEqual(status === 0 ? few : expect.arrayContaining(['network', 'leftovers']));
});

test('required demands what any machine can give: no control group, which another process has to delegate', async () => {
  const isolation = await probe(scriptsWith(), { ...here, cgroup: null });
  expect(isolation.missing).toContain('total');
  const end = runIn({ ...isolation, missing: ['total'] }, 'echo ran', { isolation: 'required' });
  expect(said(await end)).toBe(`conveyor: nothing keeps it from ${GUARANTEES.total.keepsFrom}\nran\n`);
});

test('nothing is promised where there is no Linux', async () => {
  const { missing } = await probe(scriptsWith(), { ...here, platform: 'darwin' });
  expect(missing).toEqual(Object.keys(GUARANTEES));
});

test('a network that the configuration gives to scripts is said to be open', async () => {
  const { missing } = await probe(scriptsWith({ network: 'host' }));
  expect(missing).toContain('network');
});

test('scripts are off unless the configuration allows them, and the failure says how', async () => {
  const isolation = await probe(scriptsWith());
  await expect(runIn(isolation, 'echo ran', { enabled: false })).rejects.toMatchObject({
    type: 'scripts-off',
    nonRetryable: true,
  });
  expect(parseRegistry({}, {}).scripts.enabled).toBe(false);
});

test.each([
  [
    'a guarantee that there is not',
    { isolation: ['everything'] },
    /expected required, best-effort or some of environment, network/,
  ],
  ['root as the user', { user: 'root' }, /scripts never run as root/],
  ['the number of root', { user: 0 }, /scripts never run as root/],
  ['less memory in all than one process may take', { limits: { totalMemory: '1GiB' } }, /at least limits.memory/],
  ['no processor at all', { limits: { cpus: 0 } }, /cpus/],
])('the configuration refuses %s', (_title, more, message) => {
  expect(() => scriptsWith(more)).toThrow(message);
});
