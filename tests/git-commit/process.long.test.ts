import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { callExtension } from '../../sdk/client';
import { pushTypeProtocol } from '../../sdk/protocol/pushType';

/** The example, with the real push type as a process and a real repository: it is killed (−9) at many moments of its deploys. */

const ROOT = join(__dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'conveyor-gitops-'));
const home = join(folder, 'home');
const place = join(folder, 'example');
const CONFIG = {
  ...{ service: 'shop', repository: 'deployments', path: 'clusters/{cluster}/shop/kustomization.yaml' },
  ...{ field: { kustomize: 'registry.example.com/shop' }, environments: ['staging', 'eu', 'us'] },
};
let child: ChildProcess | undefined;
let url = '';

afterAll(() => {
  child?.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});

const git = (...args: string[]): string =>
  execFileSync('git', ['--git-dir', join(place, 'deployments.git'), ...args], { encoding: 'utf8' });
const tagIn = (cluster: string): string =>
  /newTag: '(.*)'/.exec(git('show', `main:clusters/${cluster}/shop/kustomization.yaml`))?.[1] ?? '';

async function start(): Promise<void> {
  const args = [join(ROOT, 'dist/push-types/git-commit/main.js'), '--settings', join(place, 'settings.yaml')];
  const started = spawn(process.execPath, [...args, '--port', '0', '--home', home], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  child = started;
  for await (const line of createInterface({ input: started.stdout })) {
    url = /http:\S+/.exec(line)?.[0] ?? '';
    if (url !== '') return;
  }
  throw new Error('the push type did not start');
}

async function kill(): Promise<void> {
  const ended = new Promise((resolve) => child?.once('exit', resolve));
  child?.kill('SIGKILL');
  await ended;
}

const call = (method: 'executeUpdates' | 'trackUpdates' | 'fetchDeployUnits', release: number, request: object) =>
  callExtension({
    service: { name: 'git-commit', url, timeoutMs: 30_000 },
    ...{ protocol: pushTypeProtocol, method, request: request as never, key: `${release} ${JSON.stringify(request)}` },
    context: {
      pipeline: 'shop',
      release,
      deployId: `deploy/shop/${release}/deploy/1`,
      actor: 'user:alice',
      config: CONFIG,
    },
  });

test('killed at any moment, it ends each update with one commit, and the files have its version', async () => {
  execFileSync(join(ROOT, 'examples/gitops/setup.sh'), [place], { stdio: 'ignore' });
  const units = ['shop-staging', 'shop-eu', 'shop-us'];
  for (let nth = 0; nth < 6; nth += 1) {
    const updateId = `deploy/shop/${nth}/deploy/1/0/1`;
    const version = `2.${nth}`;
    const targets = units.map((unit) => ({ unit, version, artifacts: [] }));
    const update = { updateId, wholeUnit: true, urgency: 'normal', targets };
    await start();
    await call('executeUpdates', nth, update);
    // The first rounds take about half a second: each time it dies a little later.
    await new Promise((resolve) => setTimeout(resolve, 120 * nth));
    await kill();
    await start();
    await call('executeUpdates', nth, update);
    for (;;) {
      const { units: rows } = (await call('trackUpdates', nth, { updateId })) as {
        units: { state: string; live: number }[];
      };
      if (rows.every(({ state, live }) => state === 'done' && live === 1)) break;
      expect(rows.filter(({ state }) => state === 'failed')).toEqual([]);
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    await kill();
    expect(['staging', 'eu', 'us'].map(tagIn)).toEqual([version, version, version]);
    expect(
      git('log', '--format=%H', '--fixed-strings', `--grep=Conveyor-Update: ${updateId}`, 'main').trim().split('\n'),
    ).toHaveLength(1);
  }
});
