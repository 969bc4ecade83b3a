import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { AGENT_PACKAGE } from '../../../push-types/slowroll/agent/state';
import type { ManifestEntry, PackageInstall } from '../../../push-types/slowroll/protocol';
import { AgentHost } from '../../builders/agentHost';
import { FakeManifestServer } from '../../builders/manifestServer';

/** Packages that a manifest takes away. */

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

const remove = (generation: number, name = 'shop'): ManifestEntry => ({ name, generation, remove: true });
const isOnDisk = (name = 'shop'): boolean => existsSync(join(host.home, 'packages', name));
const serve = (): PackageInstall => ({ ...host.service(), stop: ['rm', '-f', join(host.folder, 'serving')] });
const install = async (install: PackageInstall = serve()): Promise<void> => {
  for (const version of ['1.0', '2.0']) {
    server.want([
      server.offer(version, Number.parseInt(version, 10), { install }),
      server.offer('7', 1, { name: 'other' }),
    ]);
    await host.agent().round();
  }
};

describe('a package', () => {
  test('that a manifest takes away is stopped, and nothing of it stays on the disk; other packages stay', async () => {
    await install();
    server.want([remove(3), server.offer('7', 1, { name: 'other' })]);
    await host.agent().round();
    expect([host.serving(), isOnDisk(), host.current('other')]).toEqual(['', false, '7']);
    expect(server.state()).toEqual({ name: 'shop', version: 'none', identifier: 'none', state: 'removed' });
  });

  test('that a manifest leaves out is kept: the server may have lost its folder', async () => {
    await install();
    server.want([]);
    await host.agent().round();
    expect([host.current(), host.serving(), server.state()?.state]).toEqual(['2.0', '2.0', 'installed']);
  });

  test('that was taken away does not return by an old manifest, and does by a newer one', async () => {
    await install();
    server.want([remove(3)]);
    const agent = host.agent();
    await agent.round();
    server.want([server.offer('2.0', 2, { install: serve() })]);
    await agent.round();
    await host.agent().round();
    expect(host.lines.at(-1)).toContain('shop: the generation 2 is lower than 3, which was accepted before');
    expect(isOnDisk()).toBe(false);
    server.want([server.offer('2.0', 4, { install: serve() })]);
    await agent.round();
    expect([host.current(), host.serving(), server.state()?.state]).toEqual(['2.0', '2.0', 'installed']);
    server.want([remove(5)]);
    await agent.round();
    expect([isOnDisk(), server.state()?.state]).toEqual([false, 'removed']);
  });

  test('that was never here is reported as removed at once', async () => {
    server.want([remove(1)]);
    await host.agent().round();
    expect([isOnDisk(), server.state()]).toMatchObject([false, { version: 'none', state: 'removed' }]);
  });

  test('that never came up is removed with its failure', async () => {
    server.want([server.offer('1.0', 1, { install: serve(), files: [{ path: 'bad' }] })]);
    const agent = host.agent();
    await agent.round();
    expect(server.state()?.state).toBe('failed');
    server.want([remove(2)]);
    await agent.round();
    expect([isOnDisk(), server.state()?.state]).toEqual([false, 'removed']);
    server.want([server.offer('1.0', 3, { install: serve(), files: [{ path: 'bad' }] })]);
    await agent.round();
    expect(server.state()).toMatchObject({ version: 'none', state: 'failed', failedVersion: '1.0' });
    server.want([remove(4)]);
    await agent.round();
    expect([isOnDisk(), server.state()?.state]).toEqual([false, 'removed']);
  });

  test('that does not stop is kept, with the reason, and removed later', async () => {
    const blocked = join(host.folder, 'serving');
    await install({ ...host.service(), stop: ['test', '!', '-e', blocked] });
    server.want([remove(3)]);
    const agent = host.agent();
    await agent.round();
    expect([host.current(), server.state()]).toMatchObject([
      '2.0',
      { version: '2.0', state: 'failed', failedVersion: 'none', reason: `stop: test ! -e ${blocked} ended with 1` },
    ]);
    host.stopServing();
    await agent.round();
    expect([isOnDisk(), server.state()?.state]).toEqual([false, 'removed']);
  });

  test('is removed before a newer manifest installs it again, if its removal was interrupted', async () => {
    await install();
    server.want([remove(3)]);
    await interruptAt('unlink');
    server.want([server.offer('2.0', 4, { install: serve() })]);
    await host.agent().round();
    expect([host.current(), host.serving(), host.releases()]).toEqual(['2.0', '2.0', ['2.0-4']]);
  });
});

/** An agent that is interrupted just before a step. */
async function interruptAt(at: string): Promise<void> {
  const agent = host.agent({
    onStep: (_, step) => {
      if (step === at) throw new Error('interrupted');
    },
  });
  await agent.round();
}

test.each(['begin-removal', 'stop', 'unlink', 'delete', 'record-removal'])(
  'an agent that was interrupted before %s ends the removal',
  async (step) => {
    await install();
    server.want([remove(3)]);
    await interruptAt(step);
    if (step !== 'begin-removal') {
      // The rest needs no server.
      await server.stop();
      await host.agent().resume();
      expect([isOnDisk(), host.serving()]).toEqual([false, '']);
      await server.start(Number(new URL(server.url).port));
    }
    await host.agent().round();
    expect([isOnDisk(), host.serving(), server.state()?.state]).toEqual([false, '', 'removed']);
    const { packages } = JSON.parse(readFileSync(join(host.home, 'state.json'), 'utf8')) as { packages: object };
    expect(packages).toMatchObject({ shop: { generation: 3, releases: [], superseded: ['1.0'], removal: 'done' } });
  },
);

test('an agent does not remove itself, and says so', async () => {
  server.want([remove(1, AGENT_PACKAGE), server.offer('1.0', 1, { install: serve() })]);
  await host.agent().round();
  expect(server.state(AGENT_PACKAGE)).toMatchObject({ state: 'failed', failedVersion: 'none' });
  expect(server.state(AGENT_PACKAGE)?.reason).toContain('an agent does not remove itself');
  expect(host.current()).toBe('1.0');
});
