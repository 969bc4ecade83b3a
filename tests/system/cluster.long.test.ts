import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { cleanEnv, Processes, ROOT } from './process';
import { given, type Given, type Service } from './service';
import { Stack } from './stack';
import { eventually } from './waiting';

const BUILT = Boolean(process.env['CONVEYOR_TEST_CLUSTER']);
if (!BUILT)
  process.stderr.write(
    '\nSKIPPED: nothing kills the parts of a cluster here: CONVEYOR_TEST_CLUSTER=1 builds one (CONTRIBUTING.md).\n\n',
  );

/** This file has its own two servers and PostgreSQL, since all other tests share theirs. The arguments of its processes identify each part. */
const PARTS = { 'the server that is asked': 'server-0', 'another server': 'server-1', PostgreSQL: 'postgres' } as const;

(BUILT ? describe : describe.skip)('while deploys are under way', () => {
  const cluster = new Processes();
  const data = mkdtempSync('/var/tmp/conveyor-cluster-');
  let stack: Stack;

  beforeAll(async () => {
    // PostgreSQL runs as the user `nobody` if these tests run as root, and must be able to enter the folder.
    chmodSync(data, 0o755);
    // Its store accepts no port above 32,767.
    const port = 30_000 + 10 * Math.floor(Math.random() * 10);
    const args = ['--servers', '2', '--data', data, '--port', String(port)];
    const env = { ...cleanEnv(process.env['HOME'] ?? ''), TEMPORAL_CLI: process.env['TEMPORAL_CLI'] ?? '' };
    await cluster.start(join(ROOT, 'temporal-cluster.sh'), args, env).said(/^Temporal ready/m);
    stack = await Stack.open({ temporal: `127.0.0.1:${port}` });
  });
  afterAll(async () => {
    await stack?.close();
    await cluster.reap();
    rmSync(data, { recursive: true, force: true });
  });

  test.each(Object.entries(PARTS))('%s is killed, and nothing is lost', async (_, part) => {
    const [good, bad] = await Promise.all([given(stack, SLOW), given(stack, SLOW)]);
    await bad.behaves(2, { errorRatio: 0.5 });
    for (const shop of [good, bad]) await shop.ships(2);
    await Promise.all([good, bad].map(updating));
    kill(data, part);
    const [there, back] = await Promise.all([good, bad].map((shop) => shop.ended(1, PATIENCE_MS)));
    expect([there?.state, back?.state]).toEqual(['succeeded', 'failed']);
    expect([await good.runs(), await bad.runs()]).toEqual([{ 2: 12 }, { 1: 12 }]);
    expect(await stack.conveyor(['hold', good.name, '--reason', 'it takes commands'])).toMatchObject({ code: 0 });
  });
});

/** The other server takes over the dead server's work within this time, even on a busy machine. */
const PATIENCE_MS = 150_000;

/** One task at a time, slow enough to leave time for a kill in the middle. */
const SLOW: Given = {
  restartMs: 400,
  nSmall: 1,
  deploy: { phases: [{ name: 'first', scope: 'region:x', amount: 3, bake: '2s' }], completion: { bake: '1s' } },
};

const updating = (shop: Service): Promise<unknown> =>
  eventually(`a task of ${shop.name} is updated`, async () => ((await shop.runs())[2] ?? 0) > 0);

/** Kills it with −9, and its children, too. */
function kill(data: string, part: string): void {
  const found = execFileSync('pgrep', ['-f', `${data}/${part}`], { encoding: 'utf8' });
  for (const pid of found.trim().split('\n')) process.kill(Number(pid), 'SIGKILL');
}
