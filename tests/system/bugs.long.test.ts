import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { parse } from 'yaml';
import { freePorts } from '../../cli/stack/ports';
import type { Bug } from '../../features/bugs/domain/bug';
import { workflowIds } from '../../domain/ids';
import type { DeployStatus, ReleaseStatus } from '../../domain/views';
import { exampleFleet, examplePath } from '../setup/examples';
import { Processes, ROOT } from './process';
import { startTemporal } from './server';
import { given, PATIENT, type Service } from './service';
import { OWNER, Stack } from './stack';
import { eventually } from './waiting';

/** There is only one workflow of bugs per server, so this file has its own Temporal. The SBOMs are those of examples/advisory, over HTTP. */
const processes = new Processes();
const home = mkdtempSync(join(tmpdir(), 'conveyor-bugs-'));
let store: Server;
let stack: Stack;
beforeAll(async () => {
  store = createServer((request, response) => {
    const file = examplePath(join('advisory', basename(request.url ?? '')));
    response.writeHead(existsSync(file) ? 200 : 404).end(existsSync(file) ? readFileSync(file) : '');
  });
  await new Promise<void>((ready) => store.listen(0, '127.0.0.1', ready));
  const [port = 0] = await freePorts(1);
  await startTemporal(processes, { home, port, data: 'memory' });
  const { extensions } = parse(readFileSync(join(ROOT, 'conveyor.config.yaml'), 'utf8')) as { extensions: object[] };
  const sboms = { name: 'sboms', kind: 'dependency-graph', type: 'sboms', url: urlOf(store) };
  stack = await Stack.open({ temporal: `127.0.0.1:${port}`, config: { extensions: [...extensions, sboms] } });
});
afterAll(async () => {
  await stack?.close();
  await processes.reap();
  store.close();
  rmSync(home, { recursive: true, force: true });
});

const urlOf = (server: Server): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

const statusOf = (id: string): Promise<ReleaseStatus> => stack.client.status(id) as Promise<ReleaseStatus>;
const ended = (id: string): Promise<ReleaseStatus> =>
  eventually(`${id} ended`, async () => {
    const release = await statusOf(id);
    return release.endedAt !== null && release;
  });

describe('the release of examples/advisory', () => {
  const why = ['--reason', 'any site may read what it serves'];
  const ships = (version: number) =>
    stack.json<{ id: string }>(['release', 'docs-site', '-a', `executable=site:${version},sbom=conveyor.cdx.json`]);
  beforeAll(async () => {
    for (const job of exampleFleet('advisory/pipeline.yaml')) await stack.control('POST', '/control/jobs', job);
    await stack.json(['apply', examplePath('advisory/pipeline.yaml')]);
  });

  test('is refused for a package that an advisory is about, deep in its SBOM, and says over which chain', async () => {
    const file = examplePath('advisory/GHSA-67mh-4wv8-2f99.json');
    expect(await stack.json<Bug>(['bugs', 'report', '--advisory', file, ...why])).toMatchObject({
      ...{ id: 'bug/1', target: 'GHSA-67mh-4wv8-2f99' },
    });
    const { id } = await ships(1);
    const { state, cause, actions } = await ended(id);
    expect([state, cause]).toEqual(['cancelled', 'bad-package']);
    expect(actions[0]?.message).toBe(
      'executable@site:1 contains bug/1 in GHSA-67mh-4wv8-2f99 (esbuild from 0 before 0.25.0): any site may read what it serves; ' +
        'by conveyor@0.2.0 > vitepress@1.6.4 > vite@5.4.21 > esbuild@0.21.5',
    );
  });

  test('and deploys once the advisory is closed', async () => {
    await stack.json(['bugs', 'close', 'bug/1', '--reason', 'nobody runs the development server']);
    const { id } = await ships(2);
    expect(await ended(id)).toMatchObject({ state: 'succeeded' });
  });
});

describe('a bug that is reported while releases are created', () => {
  let affected: readonly Service[];
  let others: readonly Service[];
  let late: Service;
  let bug: Bug;
  beforeAll(async () => {
    await stack.control('POST', '/control/targets', { target: '//kv:server', deps: ['//lib:rpc'] });
    const shops: Service[] = [];
    for (let n = 0; n < 9; n += 1) shops.push(await given(stack, PATIENT));
    [affected, others, late] = [shops.slice(0, 6), shops.slice(6, 8), shops[8]!];
  });

  const releases = (shop: Service, n: number, target: string): Promise<unknown> =>
    stack.client.release(
      shop.name,
      [
        {
          ...{ name: 'executable', kind: 'executable', version: shop.version(n), metadata: {} },
          builtFrom: { repository: 'mono', revision: String(n), target },
        },
      ],
      { kind: 'manual', actor: OWNER, key: null },
    );

  /** Refused, or paused if its deploy had begun before. */
  const isStopped = (shop: Service): Promise<'refused' | 'paused'> =>
    eventually(`${shop.name}/1 is stopped`, async () => {
      const { state, cause, actions } = await shop.release(1);
      if (state === 'cancelled' && cause === 'bad-package') return 'refused';
      if (actions[0]?.state !== 'running') return undefined;
      const { paused } = await shop.deploy(1).catch(() => ({ paused: null }));
      return paused?.actor === 'service:conveyor' ? 'paused' : undefined;
    });

  const bakes = (shop: Service, n: number): Promise<DeployStatus> =>
    shop.reaches(
      n,
      'bakes, and is not paused',
      ({ phases, paused }) => Boolean(phases[0]?.bakeUntil) && paused === null,
    );

  test('stops each of them that contains it and no other, and those that it refused reach no task', async () => {
    const report = { target: '//lib:rpc', from: '3', to: null, reason: 'it loses replies' };
    [bug] = await Promise.all([
      stack.client.reportBug(report, OWNER),
      ...affected.map((shop) => releases(shop, 3, '//kv:server')),
      ...others.map((shop) => releases(shop, 3, '//other:server')),
    ]);
    await releases(late, 3, '//kv:server');
    for (const shop of affected)
      if ((await isStopped(shop)) === 'refused') expect(await shop.runs()).toEqual({ 1: 12 });
    expect(await isStopped(late)).toBe('refused');
    expect(await late.effects()).toEqual([]);
    for (const shop of others) await bakes(shop, 1);
  });

  test('lets later releases deploy once its fix is known, and still refuses those from before the fix', async () => {
    await stack.json(['bugs', 'close', bug.id, '--to', '5', '--reason', 'fixed']);
    await releases(late, 4, '//kv:server');
    expect(await late.ended(2)).toMatchObject({ state: 'cancelled', cause: 'bad-package' });
    await releases(late, 5, '//kv:server');
    await bakes(late, 3);
    for (const shop of others) await bakes(shop, 1);
  });

  test('is known also after the workflow of bugs was terminated, and the next one has the next number', async () => {
    const known = await stack.client.listBugs();
    await stack.temporal.workflow.getHandle(workflowIds.bugs).terminate('out of the way');
    expect((await stack.client.listBugs()).map(({ id }) => id)).toEqual(known.map(({ id }) => id));
    const report = { target: '//lib:other', from: '1', to: null, reason: 'it leaks' };
    const next = await stack.client.reportBug(report, OWNER);
    expect(next.id).toBe(`bug/${known.length + 1}`);
    await stack.json(['bugs', 'close', next.id, '--to', '2', '--reason', 'fixed']);
    expect(await stack.client.listBugs()).toHaveLength(known.length + 1);
  });
});
