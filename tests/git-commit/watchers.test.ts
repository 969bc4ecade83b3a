import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createWatcher } from '../../push-types/git-commit/watchers';
import type { WaitSettings } from '../../push-types/git-commit/settings';
import { makeApplication, makeHelmRelease, makeKustomization } from '../builders/gitopsAnswers';

const OURS = 'a'.repeat(40);
const OLD = 'b'.repeat(40);
const PLACE = {
  ...{ service: 'web', environment: 'eu', cluster: 'eu-1', unit: 'web-eu', path: 'eu.yaml' },
  ...{ version: '1.4', value: 'v1.4', commit: OURS },
};
const check = (revision: string) =>
  Promise.resolve(
    revision !== '' && OURS.startsWith(revision) ? undefined : `it is at ${revision.slice(0, 4)}, which is older`,
  );

const folder = mkdtempSync(join(tmpdir(), 'conveyor-watchers-'));
const token = join(folder, 'token');
const asked: { url: string; authorization: string | undefined }[] = [];
let answer: { status: number; body: string } | 'silence';
let server: Server;
let origin: string;

beforeAll(async () => {
  writeFileSync(token, 'secret\n');
  server = createServer((request, response) => {
    asked.push({ url: request.url ?? '', authorization: request.headers.authorization });
    if (answer === 'silence') return;
    response.writeHead(answer.status, { location: 'http://127.0.0.1:1/' }).end(answer.body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
  rmSync(folder, { recursive: true });
});

const patience = { settle: 0, timeout: 0, answer: 3_000 };
const look = (wait: object, body: unknown, status = 200) => {
  answer = { status, body: typeof body === 'string' ? body : JSON.stringify(body) };
  return createWatcher({ ...wait, ...patience } as WaitSettings)(PLACE, check);
};
const argocd = () => ({ argocd: origin, application: '{service}-{cluster}', token });
const flux = (more: object) => ({ flux: origin, token, ...more });

describe('Argo CD', () => {
  test.each([
    ['live', 'synced to the commit and healthy', { revision: OURS }, 'synced and healthy'],
    ['live', 'one of several sources has the commit', { revisions: [OLD, OURS] }, 'synced and healthy'],
    ['waiting', 'synced to an older revision', { revision: OLD }, 'which is older'],
    ['waiting', 'out of sync', { revision: OURS, sync: 'OutOfSync' }, 'OutOfSync'],
    ['waiting', 'progressing', { revision: OURS, health: 'Progressing' }, 'Progressing'],
    ['waiting', 'a sync is under way', { revision: OURS, phase: 'Running' }, 'syncs it'],
    [
      'failed',
      'degraded at the commit',
      { revision: OURS, health: 'Degraded', message: 'Deployment has exceeded its progress deadline' },
      'Degraded: Deployment web: Deployment has exceeded its progress deadline',
    ],
    ['waiting', 'degraded at an older revision', { revision: OLD, health: 'Degraded' }, 'which is older'],
    [
      'failed',
      'the sync of the commit failed',
      { revision: OLD, phase: 'Failed', operation: OURS, message: 'one or more objects failed to apply' },
      'could not sync it: one or more objects failed to apply',
    ],
    [
      'waiting',
      'the sync of an older revision failed',
      { revision: OLD, phase: 'Failed', operation: OLD },
      'which is older',
    ],
    ['silent', 'the sync is unknown', { revision: OURS, sync: 'Unknown' }, 'does not know'],
    ['silent', 'the health is unknown', { revision: OURS, health: 'Unknown' }, 'Unknown'],
    ['silent', 'the health is a word of the future', { revision: OURS, health: 'Splendid' }, 'Splendid'],
  ] as const)('is %s if %s', async (state, _, application, reason) => {
    expect(await look(argocd(), makeApplication(application))).toEqual({
      state,
      reason: expect.stringContaining(reason) as string,
    });
  });

  test('is asked for the application with the token, and looks at Git once for each commit', async () => {
    asked.length = 0;
    answer = { status: 200, body: JSON.stringify(makeApplication({ revision: OURS })) };
    const watch = createWatcher({ ...argocd(), ...patience });
    for (let nth = 0; nth < 2; nth += 1) await watch(PLACE, check);
    expect(asked).toEqual([
      { url: '/api/v1/applications/web-eu-1?refresh=normal', authorization: 'Bearer secret' },
      { url: '/api/v1/applications/web-eu-1', authorization: 'Bearer secret' },
    ]);
  });
});

describe('Flux', () => {
  test.each([
    ['live', 'the commit is applied and ready', { applied: `main@sha1:${OURS}` }, 'ready'],
    ['live', 'the revision is written in the old way', { applied: `main/${OURS}` }, 'ready'],
    ['waiting', 'an older revision is applied', { applied: `main@sha1:${OLD}` }, 'which is older'],
    [
      'waiting',
      'it has not seen its newest form',
      { applied: `main@sha1:${OURS}`, observedGeneration: 1 },
      'newest form',
    ],
    ['waiting', 'it is suspended', { applied: `main@sha1:${OURS}`, suspend: true }, 'suspended'],
    [
      'waiting',
      'it reconciles',
      { applied: `main@sha1:${OURS}`, ready: 'Unknown', reason: 'Progressing' },
      'Progressing',
    ],
    [
      'failed',
      'the health check of the commit failed',
      {
        applied: `main@sha1:${OLD}`,
        attempted: `main@sha1:${OURS}`,
        ready: 'False',
        reason: 'HealthCheckFailed',
        message: 'timeout waiting for web',
      },
      'HealthCheckFailed: timeout waiting for web',
    ],
    [
      'waiting',
      'the health check of an older revision failed',
      { applied: `main@sha1:${OLD}`, ready: 'False', reason: 'HealthCheckFailed' },
      'which is older',
    ],
    [
      'waiting',
      'a dependency is not ready',
      { applied: `main@sha1:${OURS}`, ready: 'False', reason: 'DependencyNotReady' },
      'DependencyNotReady',
    ],
    ['silent', 'it says nothing of being ready', { applied: `main@sha1:${OURS}`, ready: null }, 'does not say'],
  ] as const)('is %s for a Kustomization if %s', async (state, _, kustomization, reason) => {
    const found = await look(flux({ kustomization: 'apps/{service}' }), makeKustomization(kustomization));
    expect(found).toEqual({ state, reason: expect.stringContaining(reason) as string });
    expect(asked.at(-1)?.url).toBe('/apis/kustomize.toolkit.fluxcd.io/v1/namespaces/apps/kustomizations/web');
  });

  test.each([
    ['live', 'the chart is of the commit', { attempted: `1.2.0+${OURS.slice(0, 12)}` }, 'ready'],
    ['waiting', 'the chart is of an older revision', { attempted: `1.2.0+${OLD.slice(0, 12)}` }, 'which is older'],
    ['waiting', 'the version of the chart names no commit', { attempted: '1.2.0' }, 'reconcileStrategy: Revision'],
    [
      'failed',
      'the upgrade failed',
      { attempted: `1.2.0+${OURS.slice(0, 12)}`, ready: 'False', reason: 'UpgradeFailed', message: 'timed out' },
      'UpgradeFailed: timed out',
    ],
  ] as const)('is %s for a HelmRelease if %s', async (state, _, release, reason) => {
    expect(await look(flux({ helmRelease: 'apps/{service}' }), makeHelmRelease(release))).toEqual({
      state,
      reason: expect.stringContaining(reason) as string,
    });
    expect(asked.at(-1)?.url).toBe('/apis/helm.toolkit.fluxcd.io/v2/namespaces/apps/helmreleases/web');
  });
});

describe('a program and an address', () => {
  const program = (text: string) => ({ program: [process.execPath, '-e', text, '{cluster}'] });
  const print = (value: object) =>
    program(`process.stdin.resume().on('end', () => console.log(${JSON.stringify(JSON.stringify(value))}))`);

  test.each([
    ['live', 'says that the commit is live', print({ state: 'live', revision: OURS }), 'says live'],
    ['live', 'says that the version is live', print({ state: 'live', version: 'v1.4' }), 'says live'],
    ['waiting', 'says live of an older revision', print({ state: 'live', revision: OLD }), 'but of another version'],
    ['waiting', 'says live of nothing', print({ state: 'live' }), 'but of another version'],
    [
      'failed',
      'says that the commit failed',
      print({ state: 'failed', revision: OURS, reason: 'no memory' }),
      'no memory',
    ],
    [
      'waiting',
      'says that another version failed',
      print({ state: 'failed', version: '1.3' }),
      'but of another version',
    ],
    ['silent', 'ends with an error', program('process.exit(3)'), 'ended with the code 3'],
    ['silent', 'prints no JSON', program('console.log("live")'), 'says nothing'],
    ['silent', 'prints a state that is none', print({ state: 'LIVE', revision: OURS }), 'not as its API says'],
  ] as const)('is %s if a program %s', async (state, _, wait, reason) => {
    expect(await look(wait, '')).toEqual({ state, reason: expect.stringContaining(reason) as string });
  });

  test.each([
    ['live', '1.4', 'answers with 1.4'],
    ['live', { version: 'v1.4' }, 'answers with v1.4'],
    ['waiting', '1.3', 'answers with 1.3'],
    ['silent', { status: 'ok' }, 'not as its API says'],
  ] as const)('is %s if the address answers %j', async (state, body, reason) => {
    expect(await look({ url: `${origin}/{cluster}/version` }, body)).toEqual({
      state,
      reason: expect.stringContaining(reason) as string,
    });
  });
});

describe('an answer', () => {
  const waits = () => [argocd(), flux({ kustomization: 'apps/web' }), { url: origin, token }];

  test('that is no success, no JSON or not as the API says is silence', async () => {
    for (const wait of waits()) {
      expect(await look(wait, '{"status":', 200)).toMatchObject({ state: 'silent' });
      expect(await look(wait, { status: 'Healthy' })).toMatchObject({ state: 'silent' });
      expect(await look(wait, {}, 403)).toEqual({
        state: 'silent',
        reason: expect.stringContaining('lacks the right') as string,
      });
      expect(await look(wait, {}, 302)).toEqual({ state: 'silent', reason: expect.stringContaining('302') as string });
      expect(await look(wait, 'x'.repeat(9_000_000))).toEqual({
        state: 'silent',
        reason: expect.stringContaining('more than') as string,
      });
    }
  });

  test('that does not come in time is silence', async () => {
    answer = 'silence';
    for (const wait of waits())
      expect(await createWatcher({ ...wait, ...patience, answer: 100 })(PLACE, check)).toEqual({
        state: 'silent',
        reason: expect.stringContaining('no answer within 100 ms') as string,
      });
  });

  test('only an answer about a revision with the change is believed', async () => {
    const none = () => Promise.resolve('it has another value');
    answer = { status: 200, body: JSON.stringify(makeApplication({ revision: OURS })) };
    expect(await createWatcher({ ...argocd(), ...patience })(PLACE, none)).toMatchObject({ state: 'waiting' });
    answer = { status: 200, body: JSON.stringify(makeKustomization({ applied: `main@sha1:${OURS}` })) };
    expect(await createWatcher({ ...flux({ kustomization: 'a/b' }), ...patience })(PLACE, none)).toMatchObject({
      state: 'waiting',
    });
  });
});
