import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePorts } from '../../cli/stack/ports';
import { describeWithEtcd } from '../configerator/etcd';
import { cleanEnv, ROOT, type Running } from './process';
import { ProxiedHosts } from './proxiedHosts';
import { eventually } from './waiting';

const R = 'flags';
const PATH = 'models/feed';
const MB = 1024 * 1024;
const BYTES = 48 * MB;

/** A user's program, which keeps its model in one place and shows how much memory that took. */
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
  let hosts: ProxiedHosts;
  let peers: readonly number[];
  const git = (...args: readonly string[]): string =>
    execFileSync('git', [...args], { cwd: hosts.home, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });

  beforeAll(async () => {
    hosts = await ProxiedHosts.open(R, 3);
    peers = await freePorts(3);
    git('init', '--quiet', '--bare', '--initial-branch=main', 'flags.git');
    const repository = `{ git: ${join(hosts.home, 'flags.git')} }`;
    writeFileSync(join(hosts.home, 'conveyor.config.yaml'), `config: { repositories: { ${R}: ${repository} } }\n`);
    writeFileSync(join(hosts.home, 'application.js'), APPLICATION);
  });
  afterAll(() => hosts.close());

  const env = () => {
    const { home } = hosts;
    return { ...cleanEnv(home), CONVEYOR_CONFIG: join(home, 'conveyor.config.yaml'), CONVEYOR_CACHE: home };
  };
  const proxy = (at: number): Promise<Running> => hosts.startProxy(at, env(), { peers: `127.0.0.1:${peers[at]}` });
  const application = (at: number): Running =>
    hosts.processes.start(process.execPath, ['--expose-gc', join(hosts.home, 'application.js')], {
      ...cleanEnv(hosts.home),
      CONVEYOR_CONFIG_PROXY: hosts.url(at),
    });

  /** A file as a committed model: as if its change had landed. */
  async function published(data: Buffer, more: readonly string[] = []): Promise<{ running: Running; first: string }> {
    const file = join(hosts.home, 'feed.bin');
    writeFileSync(file, data);
    const [port = 0] = await freePorts(1);
    const args = ['config', 'publish-model', file, '--name', 'feed', '--listen', `127.0.0.1:${port}`, ...more];
    const running = hosts.processes.node('bin/conveyor.js', args, env());
    await running.said(/served at/);
    const [change = ''] = /^\d+@[0-9a-f]{40}/m.exec(running.stdout()) ?? [];
    const value = git('--git-dir', 'flags.git', 'show', `${change.split('@')[1]}:values/${PATH}.json`);
    await hosts.commit(PATH, value);
    return { running, first: data.subarray(0, 8).toString('hex') };
  }

  const standing = async (): Promise<Record<string, string>> =>
    Object.fromEntries(
      (await hosts.store.subscribers(R, PATH)).map(({ host, loading, refused }) => [
        host,
        refused ?? loading ?? 'live',
      ]),
    );

  test('hosts get it from each other through kills of proxies and of the source, applications hold one model and a piece, and one that does not fit changes nothing', async () => {
    const proxies = [await proxy(0), await proxy(1)];
    const one = await published(randomBytes(BYTES), ['--model-version', '1']);
    const applications = [application(0), application(1)];
    await Promise.all(applications.map((it) => it.said(new RegExp(`^lives on 1 ${one.first}`, 'm'))));

    // Slowly, so that there is time for a kill.
    const two = await published(randomBytes(BYTES), ['--model-version', '2', '--upload-mb', '16']);
    const has = async (at: number): Promise<{ have: number; package: { version: number } }> =>
      (await hosts.answer(at, `packages/${PATH}`)) as never;
    await eventually('the first host has some of it', async () => {
      const { have, package: pack } = await has(0);
      return pack.version === 2 && have > 10;
    });
    proxies[0]?.kill('SIGKILL');
    await proxies[0]?.ended;
    proxies[0] = await proxy(0);
    await Promise.all(applications.map((it) => it.said(new RegExp(`^lives on 2 ${two.first}`, 'm'))));
    await eventually(
      'both hosts are live',
      async () => JSON.stringify(await standing()) === '{"h1":"live","h2":"live"}',
    );

    // The source dies, and a host is added.
    two.running.kill('SIGKILL');
    await two.running.ended;
    await proxy(2);
    const late = application(2);
    await late.said(new RegExp(`^lives on 2 ${two.first}`, 'm'));
    for (const it of [...applications, late]) {
      const most = Math.max(...[...it.stdout().matchAll(/most (\d+)$/gm)].map(([, bytes]) => Number(bytes)));
      // A piece has 256 kB; the network buffers parts of the next ones.
      expect(most).toBeLessThan(BYTES + 2 * MB);
    }
    const { file } = await hosts.answer(2, `packages/${PATH}`);
    expect(readFileSync(file as string).equals(readFileSync(join(hosts.home, 'feed.bin')))).toBe(true);

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
    const all = ['config', 'publish-model', join(hosts.home, 'none.bin'), '--name', 'feed', ...args];
    const { code, stderr } = await hosts.processes.node('bin/conveyor.js', all, env()).ended;
    expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining(why) });
  });
});
