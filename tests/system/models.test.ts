import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts } from '../../cli/stack/ports';
import { EtcdStore } from '../../config/store/etcd';
import { describeWithEtcd, Etcd } from '../config/etcd';
import { commitOf } from '../config/storeSuite';
import { cleanEnv, Processes, ROOT, type Running } from './process';
import { eventually } from './waiting';

const R = 'flags';
const PATH = 'models/feed';
const MB = 1024 * 1024;
const BYTES = 48 * MB;

/** A program of a user, which keeps its model in one place and shows how much memory that took. */
const APPLICATION = `
const { watchModel } = require(${JSON.stringify(join(ROOT, 'dist/sdk/model.js'))});
const memory = Buffer.alloc(${BYTES});
let most = 0;
watchModel('${PATH}', {
  check: ({ bytes }) => { if (bytes !== memory.length) throw new Error('it has ' + bytes + ' bytes'); },
  merge: ({ offset, bytes }) => {
    memory.set(bytes, offset);
    global.gc();
    most = Math.max(most, process.memoryUsage().arrayBuffers);
  },
  onReady: ({ number }) => console.log('lives on ' + number + ' ' + memory.subarray(0, 8).toString('hex') + ' most ' + most),
}, { app: 'ranker', retryMs: 50, onTrouble: ({ kind, error }) => console.log('trouble ' + kind + ' ' + error?.message) });
setInterval(() => {}, 1000);
`;

describeWithEtcd('a model on real hosts, as processes', () => {
  const processes = new Processes();
  const home = mkdtempSync(join(tmpdir(), 'conveyor-models-'));
  const git = (...args: readonly string[]): string =>
    execFileSync('git', [...args], { cwd: home, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  let etcd: Etcd;
  let store: EtcdStore;
  let ports: readonly number[];
  let sequence = 0;

  beforeAll(async () => {
    etcd = await Etcd.start();
    store = new EtcdStore({ url: etcd.url, timeoutMs: 2000 });
    ports = await freePorts(6);
    git('init', '--quiet', '--bare', '--initial-branch=main', 'flags.git');
    const repository = `{ git: ${join(home, 'flags.git')} }`;
    writeFileSync(join(home, 'conveyor.config.yaml'), `config: { repositories: { ${R}: ${repository} } }\n`);
    writeFileSync(join(home, 'application.js'), APPLICATION);
  });
  afterAll(async () => {
    await processes.reap();
    await etcd?.close();
    rmSync(home, { recursive: true, force: true });
  });

  const env = () => ({ ...cleanEnv(home), CONVEYOR_CONFIG: join(home, 'conveyor.config.yaml'), CONVEYOR_CACHE: home });

  async function proxy(at: number): Promise<Running> {
    const flags = {
      ...{ repository: R, cache: join(home, `h${at}`), etcd: etcd.url, host: `h${at}` },
      ...{ port: String(ports[at]), peers: `127.0.0.1:${ports[at + 3]}` },
    };
    const args = Object.entries(flags).flatMap(([name, value]) => [`--${name}`, value]);
    const running = processes.node('bin/conveyor.js', ['config-proxy', ...args], env());
    await running.said(/^config-proxy ready/m);
    return running;
  }

  const application = (at: number): Running =>
    processes.start(process.execPath, ['--expose-gc', join(home, 'application.js')], {
      ...cleanEnv(home),
      CONVEYOR_CONFIG_PROXY: `http://127.0.0.1:${ports[at]}`,
    });

  /** A file as a model that is committed: as if its change had landed. */
  async function published(data: Buffer, more: readonly string[] = []): Promise<{ running: Running; first: string }> {
    const file = join(home, 'feed.bin');
    writeFileSync(file, data);
    const [port = 0] = await freePorts(1);
    const args = ['config', 'publish-model', file, '--name', 'feed', '--listen', `127.0.0.1:${port}`, ...more];
    const running = processes.node('bin/conveyor.js', args, env());
    await running.said(/served at/);
    const [change = ''] = /^\d+@[0-9a-f]{40}/m.exec(running.stdout()) ?? [];
    const value = git('--git-dir', 'flags.git', 'show', `${change.split('@')[1]}:values/${PATH}.json`);
    sequence += 1;
    const commit = commitOf(sequence, { [PATH]: value });
    await eventually('the store takes it', () => store.apply(R, commit));
    return { running, first: data.subarray(0, 8).toString('hex') };
  }

  const standing = async (): Promise<Record<string, string>> =>
    Object.fromEntries(
      (await store.subscribers(R, PATH)).map(({ host, loading, refused }) => [host, refused ?? loading ?? 'live']),
    );

  test('hosts get it from each other through kills of proxies and of the source, applications hold one model and a piece, and one that does not fit changes nothing', async () => {
    const hosts = [await proxy(0), await proxy(1)];
    const one = await published(randomBytes(BYTES), ['--model-version', '1']);
    const applications = [application(0), application(1)];
    await Promise.all(applications.map((it) => it.said(new RegExp(`^lives on 1 ${one.first}`, 'm'))));

    // Slowly, so that there is something to kill.
    const two = await published(randomBytes(BYTES), ['--model-version', '2', '--upload-mb', '16']);
    const has = async (at: number): Promise<{ have: number; package: { version: number } }> =>
      (await (await fetch(`http://127.0.0.1:${ports[at]}/v1/packages/${PATH}`)).json()) as never;
    await eventually('the first host has some of it', async () => {
      const { have, package: pack } = await has(0);
      return pack.version === 2 && have > 10;
    });
    hosts[0]?.kill('SIGKILL');
    await hosts[0]?.ended;
    hosts[0] = await proxy(0);
    await Promise.all(applications.map((it) => it.said(new RegExp(`^lives on 2 ${two.first}`, 'm'))));
    await eventually(
      'both hosts are live',
      async () => JSON.stringify(await standing()) === '{"h0":"live","h1":"live"}',
    );

    // The source goes, and a host comes.
    two.running.kill('SIGKILL');
    await two.running.ended;
    await proxy(2);
    const late = application(2);
    await late.said(new RegExp(`^lives on 2 ${two.first}`, 'm'));
    for (const it of [...applications, late]) {
      const most = Math.max(...[...it.stdout().matchAll(/most (\d+)$/gm)].map(([, bytes]) => Number(bytes)));
      // A piece has 256 kB; what came in of the next ones is the network's.
      expect(most).toBeLessThan(BYTES + 2 * MB);
    }
    const { file } = (await (await fetch(`http://127.0.0.1:${ports[2]}/v1/packages/${PATH}`)).json()) as {
      file: string;
    };
    expect(readFileSync(file).equals(readFileSync(join(home, 'feed.bin')))).toBe(true);

    await published(randomBytes(MB), ['--model-version', '3']);
    await eventually('all refuse it', async () =>
      Object.values(await standing()).every((it) => it === `ranker: it has ${MB} bytes`),
    );
    expect(applications[0]?.stdout()).not.toContain('lives on 3');
  });

  test.each([
    [['--listen', 'trainer'], '--listen trainer is not HOST:PORT'],
    [['--listen', 'trainer:0'], '--listen trainer:0 is not HOST:PORT'],
  ])('publish-model %j says what is wrong', async (args, why) => {
    const all = ['config', 'publish-model', join(home, 'none.bin'), '--name', 'feed', ...args];
    const { code, stderr } = await processes.node('bin/conveyor.js', all, env()).ended;
    expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining(why) });
  });
});
