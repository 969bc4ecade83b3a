import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AgentHost } from '../../builders/agentHost';
import { FakeManifestServer } from '../../builders/manifestServer';

/** Servers, networks and archives that lie. */

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

describe('a server or a network that lies changes nothing', () => {
  beforeEach(async () => {
    server.want([server.offer('1.0', 5, { install: host.service() })]);
    await host.agent().round();
    server.want([server.offer('2.0', 6, { install: host.service() })]);
    await host.agent().round();
    expect(host.current()).toBe('2.0');
  });
  afterEach(() => {
    expect([host.current(), host.serving()]).toEqual(['2.0', '2.0']);
    expect(existsSync(join(host.home, 'packages/shop/releases/evil-9'))).toBe(false);
  });

  const evil = () => server.offer('evil', 9, { install: host.service() });

  test.each<[string, () => void, string]>([
    [
      'with a manifest that another key signed',
      () => {
        const other = new FakeManifestServer();
        server.manifestFault = (_, response) => {
          server.want([evil()]);
          other.sendSigned(response, JSON.stringify(server.manifest('web-1')));
          return true;
        };
      },
      'the manifest is not signed by a key that this host trusts',
    ],
    [
      'with a manifest without a signature',
      () => {
        server.want([evil()]);
        server.manifestFault = (_, response) =>
          Boolean(response.writeHead(200).end(JSON.stringify(server.manifest('web-1'))));
      },
      'the manifest is not signed',
    ],
    [
      'with the manifest of another host',
      () => {
        server.want([evil()], 'web-2');
        server.manifestFault = (_, response) => {
          server.sendSigned(response, JSON.stringify(server.manifest('web-2')));
          return true;
        };
      },
      'the manifest is for the host "web-2"',
    ],
    [
      'with an older manifest, replayed',
      () => {
        server.want([evil()]);
        server.serial = 1;
      },
      'the manifest has the serial 1, and',
    ],
    [
      'with a lower generation',
      () => server.want([{ ...evil(), generation: 5 }]),
      'shop: the generation 5 is lower than 6, which was accepted before',
    ],
    [
      'with an older version that no revert brings back',
      () => server.want([server.offer('1.0', 7, { install: host.service() })]),
      'shop: the version 1.0 ran here before a newer one, and the manifest calls it no revert',
    ],
    [
      'with a signed answer that is no manifest',
      () => {
        server.manifestFault = (_, response) => {
          server.sendSigned(response, '{"host":"web-1","serial":99,"packages":[{}],"pollAfterSeconds":1}');
          return true;
        };
      },
      'the answer is no manifest: packages.0 ',
    ],
    [
      'with an endless manifest',
      () => {
        server.manifestFault = (_, response) => {
          const more = (): void => void (response.destroyed || response.write(Buffer.alloc(1 << 20), more));
          more();
          return true;
        };
      },
      'answered with more than 4194304 bytes',
    ],
    [
      'with a manifest that drips',
      () => {
        server.manifestFault = (_, response) => {
          const timer = setInterval(() => response.write('{'), 100);
          response.on('close', () => clearInterval(timer));
          return true;
        };
      },
      'did not answer within 2000 ms',
    ],
    ['by a wrong token', () => host.write('token', 'wrong'), 'answered 401: the token of this host is wrong'],
    [
      'with a redirect',
      () => {
        server.manifestFault = (_, response) => Boolean(response.writeHead(307, { location: '/elsewhere' }).end());
      },
      'answered 307',
    ],
    [
      'with a 304 for a manifest that this agent never had',
      () => {
        server.manifestFault = (_, response) => Boolean(response.writeHead(304).end());
      },
      'answered 304',
    ],
  ])('%s', async (_, arrange, reason) => {
    arrange();
    await host.agent().round();
    expect(host.lines.at(-1)).toContain(reason);
    expect(host.lines.at(-1)).toMatch(/^poll: /);
  });

  test('and a version that no revert brings back is reported as failed', async () => {
    server.want([server.offer('1.0', 7, { install: host.service() })]);
    await host.agent().round();
    expect(server.state()).toMatchObject({ version: '2.0', state: 'failed', failedVersion: '1.0' });
  });

  test.each<[string, (wanted: { size: number; digest: string }) => void, string]>([
    [
      'with a package of another content',
      () => {
        server.packageFault = (_, response) => Boolean(response.writeHead(200).end(Buffer.alloc(evil().size)));
      },
      'has another digest than the manifest',
    ],
    [
      'with a package that is longer than its manifest names',
      (wanted) => {
        server.packageFault = (_, response) =>
          Boolean(response.writeHead(200, { 'content-length': wanted.size + 1 }).end(Buffer.alloc(wanted.size + 1)));
      },
      'has more bytes than the manifest names',
    ],
    [
      'with an endless package',
      () => {
        server.packageFault = (_, response) => {
          const more = (): void => void (response.destroyed || response.write(Buffer.alloc(1 << 20), more));
          more();
          return true;
        };
      },
      'has more bytes than the manifest names',
    ],
    [
      'with another part than was requested',
      (wanted) => {
        writeFileSync(join(host.home, 'downloads', `${wanted.digest.slice(7)}.tar.gz.part`), 'abc');
        server.packageFault = (_, response) =>
          Boolean(response.writeHead(206, { 'content-range': 'bytes 0-9/10' }).end('0123456789'));
      },
      'sent another part than was requested',
    ],
  ])('%s', async (_, arrange, reason) => {
    const wanted = evil();
    server.want([wanted]);
    arrange(wanted);
    await host.agent().round();
    expect(server.state()).toMatchObject({ version: '2.0', state: 'failed', failedVersion: 'evil' });
    expect(server.state()?.reason).toContain(reason);
  });

  test.each<[string, () => void, string, string]>([
    [
      'with a package that ends early',
      () => {
        server.packageFault = (_, response) => Boolean(response.writeHead(200).end(Buffer.alloc(10)));
      },
      'server',
      'ended the download at 10 of',
    ],
    [
      'with a package that drips',
      () => {
        server.packageFault = (_, response) => {
          response.writeHead(200);
          const timer = setInterval(() => response.write('x'), 200);
          response.on('close', () => clearInterval(timer));
          return true;
        };
      },
      'slow',
      'sends too slowly',
    ],
  ])('%s, which passes, and is no failure', async (_, arrange, cause, reason) => {
    server.want([evil()]);
    arrange();
    await host.agent().round();
    expect(server.state()).toMatchObject({ version: '2.0', state: 'installed', trouble: { cause, version: 'evil' } });
    expect(server.state()?.trouble?.reason).toContain(reason);
  });

  test('with an archive that leaves its folder, which is then not tried again', async () => {
    const outside = join(host.folder, 'outside');
    server.want([
      server.offer('evil', 9, { files: [{ path: 'link', type: '2', link: '../../../..' }, { path: 'link/outside' }] }),
    ]);
    const agent = host.agent();
    await agent.round();
    expect(server.state()).toMatchObject({ state: 'failed', failedVersion: 'evil' });
    expect(server.state()?.reason).toContain('the package is refused: "link" is a link to');
    const fetched = server.count('package');
    await agent.round();
    expect(server.count('package')).toBe(fetched);
    expect(existsSync(outside)).toBe(false);
  });

  test('with a package that is larger than any host takes', async () => {
    server.want([{ ...evil(), size: 3 * 1024 ** 3 }]);
    await host.agent().round();
    expect(server.state()?.reason).toContain('and the limit is 2147483648');
    expect(server.count('package')).toBe(2);
  });
});
