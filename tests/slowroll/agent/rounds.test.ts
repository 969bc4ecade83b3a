import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AgentHome } from '../../../push-types/slowroll/agent/home';
import { AgentHost } from '../../builders/agentHost';
import { FakeManifestServer, type Fault } from '../../builders/manifestServer';

/** An agent against a manifest server, round by round. */

let server: FakeManifestServer;
let host: AgentHost;
beforeEach(async () => {
  server = new FakeManifestServer();
  await server.start();
  host = new AgentHost(server);
});
afterEach(async () => {
  await server.stop();
  host.close();
});

const fullError = (): Error =>
  Object.assign(new Error('ENOSPC: no space left on device, symlink'), {
    code: 'ENOSPC',
    path: '/var',
    syscall: 'symlink',
  });

describe('a full disk', () => {
  test('that lasts is trouble, however often the agent tries to switch, and no failure', async () => {
    let isFull = true;
    const onStep = (_: string, step: string): void => {
      if (step === 'switch' && isFull) throw fullError();
    };
    server.want([server.offer('1.0', 1, { install: host.service() })]);
    const agent = host.agent({ onStep });
    for (let n = 0; n < 8; n += 1) {
      await agent.round();
      expect(server.state()).toMatchObject({ version: 'none', trouble: { cause: 'disk-full', version: '1.0' } });
    }
    isFull = false;
    await agent.round();
    expect([host.serving(), server.state()?.state]).toEqual(['1.0', 'installed']);
  });

  test('keeps no host from a revert to the version that it runs', async () => {
    server.want([server.offer('1.0', 1, { install: host.service() })]);
    await host.agent().round();
    const onStep = (_: string, step: string): void => {
      if (step === 'switch') throw fullError();
    };
    const agent = host.agent({ onStep });
    server.want([server.offer('2.0', 2, { install: host.service() })]);
    await agent.round();
    server.want([{ ...server.offer('1.0', 3, { install: host.service() }), revert: true }]);
    await agent.round();
    await agent.round();
    expect(server.state()).toMatchObject({ version: '1.0', state: 'installed' });
    expect(server.state()?.trouble).toBeUndefined();
  });

  test('on which a result cannot be written silences no host: it polls and reports', async () => {
    const home = new AgentHome(host.home, host.name);
    server.want([server.offer('1.0', 1, { install: host.service() })]);
    let isFull = false;
    const save = home.save.bind(home);
    home.save = (next) => {
      if (isFull) throw fullError();
      save(next);
    };
    const agent = host.agent({ home, onStep: (_, step) => (isFull ||= step === 'record') });
    await agent.round();
    const polls = server.count('manifest');
    await agent.round();
    expect(server.count('manifest')).toBe(polls + 1);
    expect(server.state()).toMatchObject({ version: '1.0', state: 'installed' });
    server.want([server.offer('2.0', 2, { install: host.service() })]);
    await agent.round();
    expect(server.state()).toMatchObject({ version: '1.0', trouble: { cause: 'disk-full', version: '2.0' } });
  });
});

const BAD = [{ path: 'bad' }];

describe('an agent', () => {
  test('installs the packages of its manifest, starts them, and reports that at once', async () => {
    server.want([
      server.offer('1.0', 1, { install: host.service() }),
      server.offer('7', 1, { name: 'exporter', files: [{ path: 'bin/run', mode: 0o755 }] }),
    ]);
    const agent = host.agent();
    expect(await agent.round()).toBe('done');
    expect([host.current(), host.serving(), host.current('exporter')]).toEqual(['1.0', '1.0', '7']);
    expect(server.state()).toMatchObject({ version: '1.0', state: 'installed' });
    expect(server.state('exporter')).toMatchObject({ version: '7', state: 'installed' });
    expect(host.downloads()).toEqual([]);
  });

  test('polls without a body while nothing changes, and sends labels once and its state only after a change', async () => {
    server.want([server.offer('1.0', 1)]);
    const agent = host.agent();
    for (let n = 0; n < 4; n += 1) await agent.round();
    const polls = server.seen.filter(({ kind }) => kind === 'manifest');
    expect(polls.map(({ status }) => status)).toEqual([200, 304, 304, 304]);
    expect(polls.map(({ query }) => query.get('labels'))).toEqual(['{"region":"eu"}', null, null, null]);
    expect(polls.map(({ query }) => query.has('state'))).toEqual([true, false, false, false]);
    expect(server.count('report')).toBe(1);
    expect(server.count('package')).toBe(1);
  });

  test('sends all that it knows again to a server that lost its memory', async () => {
    server.want([server.offer('1.0', 1)]);
    const agent = host.agent();
    await agent.round();
    server.states.clear();
    server.incarnation += 1;
    await agent.round();
    expect(server.state()).toMatchObject({ version: '1.0', state: 'installed' });
    await agent.round();
    expect(server.seen.at(-1)?.query.get('labels')).toBe('{"region":"eu"}');
  });

  test('introduces itself again to a server that does not know it any more', async () => {
    server.want([server.offer('1.0', 1)]);
    const agent = host.agent();
    await agent.round();
    server.manifestFault = (_, response) => Boolean(response.writeHead(409, { 'retry-after': '3600' }).end());
    await agent.round();
    expect(host.lines.at(-1)).toContain('does not know this host any more');
    server.manifestFault = undefined;
    server.states.clear();
    await agent.round();
    expect(server.seen.at(-1)?.query.get('labels')).toBe('{"region":"eu"}');
    expect(server.state()).toMatchObject({ version: '1.0', state: 'installed' });
  });

  test('sends a state that is too long for a poll as a report', async () => {
    server.want(
      Array.from({ length: 20 }, (_, n) => server.offer('1.0', 1, { name: `package-${n}-${'x'.repeat(80)}` })),
    );
    const agent = host.agent();
    await agent.round();
    await host.agent().round();
    expect(
      server.seen.filter(({ kind, query }) => kind === 'manifest' && (query.get('state')?.length ?? 0) > 10),
    ).toEqual([]);
    expect(server.states.get('web-1')?.size).toBe(20);
  });

  test('goes back by itself from a version that is not healthy, says why, and does not try it again until the generation changes', async () => {
    server.want([server.offer('1.0', 1, { install: host.service() })]);
    const agent = host.agent();
    await agent.round();
    const before = server.state()?.identifier;
    server.want([server.offer('2.0', 2, { install: host.service(), files: BAD })]);
    await agent.round();
    expect([host.current(), host.serving()]).toEqual(['1.0', '1.0']);
    expect(server.state()).toMatchObject({ version: '1.0', state: 'rolled-back', failedVersion: '2.0' });
    expect(server.state()?.reason).toContain('health: test ! -e bad ended with 1');
    expect(server.state()?.identifier).not.toBe(before);
    const fetched = server.count('package');
    await agent.round();
    await host.agent().round();
    expect(server.count('package')).toBe(fetched);
    server.want([server.offer('2.0', 3, { install: host.service(), files: BAD })]);
    await agent.round();
    expect(server.count('package')).toBe(fetched + 1);
    server.want([server.offer('2.1', 4, { install: host.service() })]);
    await agent.round();
    expect([host.current(), host.serving(), server.state()?.state]).toEqual(['2.1', '2.1', 'installed']);
  });

  test.each([
    ['whose restart fails', { restart: ['false'] }, 'restart: false ended with 1'],
    ['whose restart does not end', { restart: ['sleep', '600'] }, 'restart: sleep 600 did not end within 1000 ms'],
    ['whose restart does not exist', { restart: ['no-such-program'] }, 'restart: no-such-program cannot be started'],
    [
      'whose health prints its reason',
      { health: ['sh', '-c', 'echo no database >&2; exit 7'] },
      'ended with 7: no database',
    ],
  ])('goes back from a version %s', async (_, commands, reason) => {
    server.want([server.offer('1.0', 1, { install: host.service() })]);
    const agent = host.agent();
    await agent.round();
    server.want([server.offer('2.0', 2, { install: { timeoutSeconds: 1, ...commands } })]);
    await agent.round();
    expect(host.current()).toBe('1.0');
    expect(server.state()).toMatchObject({ version: '1.0', state: 'rolled-back', failedVersion: '2.0' });
    expect(server.state()?.reason).toContain(reason);
  });

  test('switches to nothing if a package cannot prepare itself', async () => {
    server.want([server.offer('1.0', 1, { install: host.service() })]);
    const agent = host.agent();
    await agent.round();
    const before = server.state()?.identifier;
    server.want([server.offer('2.0', 2, { install: { ...host.service(), install: ['false'] } })]);
    await agent.round();
    expect([host.current(), host.serving()]).toEqual(['1.0', '1.0']);
    expect(host.steps.filter((step) => step.endsWith(':switch'))).toHaveLength(1);
    expect(server.state()).toMatchObject({ state: 'failed', failedVersion: '2.0', identifier: before });
  });

  test('waits until a service that needs a moment is healthy', async () => {
    const counter = join(host.folder, 'asked');
    const health = ['sh', '-c', `echo x >> ${counter}; test $(wc -l < ${counter}) -ge 2`];
    server.want([server.offer('1.0', 1, { install: { ...host.service(10), health } })]);
    await host.agent().round();
    expect(server.state()).toMatchObject({ version: '1.0', state: 'installed' });
  });

  test('reports a first version that fails, and leaves no link to it', async () => {
    server.want([server.offer('1.0', 1, { install: host.service(), files: BAD })]);
    await host.agent().round();
    expect(existsSync(join(host.home, 'packages/shop/current'))).toBe(false);
    expect(server.state()).toMatchObject({ version: 'none', state: 'failed', failedVersion: '1.0' });
  });

  test('keeps the last three releases, and returns to one of them without a download if a revert says so', async () => {
    const agent = host.agent();
    for (const [index, version] of ['1', '2', '3', '4'].entries()) {
      server.want([server.offer(version, index + 1, { install: host.service() })]);
      await agent.round();
    }
    expect(host.releases()).toEqual(['2-2', '3-3', '4-4']);
    const fetched = server.count('package');
    server.want([server.offer('3', 5, { install: host.service(), revert: true })]);
    await agent.round();
    expect([host.current(), host.serving(), server.count('package')]).toEqual(['3', '3', fetched]);
    server.want([server.offer('5', 6, { install: host.service() })]);
    await agent.round();
    expect(host.current()).toBe('5');
    expect(host.releases()).toEqual(['3-3', '4-4', '5-6']);
  });

  test('lets no package keep another from its version', async () => {
    const missing = { ...server.offer('1.0', 1), uri: 'packages/none' };
    server.want([missing, server.offer('7', 1, { name: 'zebra' })]);
    await host.agent().round();
    expect(host.current('zebra')).toBe('7');
    expect(server.state()).toMatchObject({ version: 'none', state: 'removed', trouble: { version: '1.0' } });
    expect(server.state()?.trouble?.reason).toContain('answered 404');
  });

  test.each<[string, string, Fault]>([
    ['a server that is busy', 'server', (_, response) => Boolean(response.writeHead(503).end())],
    ['a connection that breaks', 'network', (request) => Boolean(request.socket.destroy())],
  ])('tries again after %s, reports that it does, and success then', async (_, cause, fault) => {
    server.packageFault = fault;
    server.want([server.offer('1.0', 1)]);
    const agent = host.agent();
    await agent.round();
    expect(server.state()).toMatchObject({ version: 'none', state: 'removed', trouble: { cause, version: '1.0' } });
    server.packageFault = undefined;
    await agent.round();
    expect(server.state()).toMatchObject({ state: 'installed', version: '1.0' });
    expect(server.state()?.trouble).toBeUndefined();
  });

  test('calls an address without encryption a failure: it takes nothing from there', async () => {
    server.want([{ ...server.offer('1.0', 1), uri: 'http://elsewhere.example/package' }]);
    await host.agent().round();
    expect(server.state()).toMatchObject({ version: 'none', state: 'failed', failedVersion: '1.0' });
    expect(server.state()?.reason).toContain('is not encrypted');
  });

  test('gives commands the names of package and version, and no token', async () => {
    const out = join(host.folder, 'out');
    server.want([
      server.offer('1.0', 1, { install: { install: ['sh', '-c', `env > ${out}; pwd >> ${out}`], timeoutSeconds: 5 } }),
    ]);
    await host.agent().round();
    const text = readFileSync(out, 'utf8');
    expect(text).toContain('CONVEYOR_PACKAGE=shop\n');
    expect(text).toContain('CONVEYOR_VERSION=1.0\n');
    expect(text).toContain('/packages/shop/releases/1.0-1\n');
    expect(text).not.toMatch(/token/i);
  });

  test('has at most one request open at a time', async () => {
    server.want(Array.from({ length: 5 }, (_, n) => server.offer(`${n}`, 1, { name: `package-${n}` })));
    const agent = host.agent();
    await agent.round();
    await agent.round();
    expect(server.mostOpen).toBe(1);
  });

  test('adopts a version that ran before its state was lost, and never unpacks over it', async () => {
    server.want([server.offer('1.0', 1, { install: host.service() })]);
    await host.agent().round();
    rmSync(join(host.home, 'state.json'));
    server.want([server.offer('1.0', 1, { install: host.service(), files: BAD })]);
    await host.agent().round();
    expect([host.current(), host.serving()]).toEqual(['1.0', '1.0']);
    expect(existsSync(join(host.home, 'packages/shop/current/bad'))).toBe(false);
    expect(server.state()).toMatchObject({ state: 'rolled-back', failedVersion: '1.0' });
  });

  test.each([
    ['is damaged', '{"serial":', 'is damaged'],
    ['belongs to another host', '{"format":1,"host":"web-2","serial":1,"packages":{}}', 'belongs to the host web-2'],
  ])('does not begin anew with a state that %s, because it would forget which manifests are old', (_, text, reason) => {
    mkdirSync(host.home);
    writeFileSync(join(host.home, 'state.json'), text);
    expect(() => host.agent()).toThrow(reason);
  });
});

describe('a server that is away', () => {
  test('for days changes nothing, and an agent that was interrupted ends its work without it', async () => {
    server.want([server.offer('1.0', 1, { install: host.service() })]);
    await host.agent().round();
    server.want([server.offer('2.0', 2, { install: host.service() })]);
    const interrupted = host.agent({
      onStep: (_, step) => {
        if (step === 'restart') throw new Error('interrupted');
      },
    });
    await interrupted.round();
    expect([host.current(), host.serving()]).toEqual(['2.0', '1.0']);
    await server.stop();
    const agent = host.agent();
    await agent.resume();
    for (let n = 0; n < 5; n += 1) await agent.round();
    expect([host.current(), host.serving()]).toEqual(['2.0', '2.0']);
    await server.start(Number(new URL(server.url).port));
    await agent.round();
    expect(server.state()).toMatchObject({ version: '2.0', state: 'installed' });
  });

  test('is polled again after the time of Retry-After, whatever clock this machine has', async () => {
    server.manifestFault = (_, response) =>
      Boolean(
        response
          .writeHead(503, { date: 'Tue, 01 Jan 1980 00:00:00 GMT', 'retry-after': 'Tue, 01 Jan 1980 00:00:01 GMT' })
          .end(),
      );
    const stop = new AbortController();
    const at: number[] = [];
    server.manifestFault = ((fault) => (request, response) => {
      at.push(performance.now());
      if (at.length === 2) stop.abort();
      return fault!(request, response);
    })(server.manifestFault);
    await host.agent({ signal: stop.signal }).run();
    expect(at[1]! - at[0]!).toBeGreaterThan(1_900);
  });
});

test('a link that was planted where a release belongs is replaced, not followed', async () => {
  const outside = join(host.folder, 'outside');
  mkdirSync(outside);
  writeFileSync(join(outside, 'kept'), 'x');
  mkdirSync(join(host.home, 'packages/shop/releases'), { recursive: true });
  symlinkSync(outside, join(host.home, 'packages/shop/releases/1.0-1'));
  server.want([server.offer('1.0', 1)]);
  await host.agent().round();
  expect(host.current()).toBe('1.0');
  expect(existsSync(join(outside, 'kept'))).toBe(true);
  expect(existsSync(join(outside, 'VERSION'))).toBe(false);
});
