import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import * as disk from '../../../push-types/slowroll/agent/disk';
import { AgentHost } from '../../builders/agentHost';
import { FakeManifestServer } from '../../builders/manifestServer';

/** The bytes of packages, over connections that break. */

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

describe('a download', () => {
  /** Text that no archive makes much smaller. */
  const text = Array.from({ length: 400 }, (_, n) => createHash('sha256').update(String(n)).digest('hex')).join('');
  const big = () => server.offer('1.0', 1, { files: [{ path: 'data', text }] });

  test('resumes where the connection broke', async () => {
    const wanted = big();
    server.packageFault = cutAt(wanted.size - 1_000);
    server.want([wanted]);
    const agent = host.agent();
    await agent.round();
    expect(host.current()).toBe('');
    server.packageFault = undefined;
    await agent.round();
    expect(host.current()).toBe('1.0');
    const ranges = server.seen.filter(({ kind }) => kind === 'package').map(({ headers }) => headers.range);
    expect(ranges[0]).toBeUndefined();
    expect(ranges[1]).toMatch(/^bytes=[1-9]\d*-$/);
  });

  test('whose part was damaged by a loss of power begins anew, and is no refusal', async () => {
    const wanted = big();
    server.packageFault = cutAt(wanted.size - 1_000);
    server.want([wanted]);
    const agent = host.agent();
    await agent.round();
    const [part = ''] = host.downloads();
    const place = join(host.home, 'downloads', part);
    const bytes = readFileSync(place);
    writeFileSync(place, bytes.fill(0, bytes.length - 4_000));
    server.packageFault = undefined;
    await agent.round();
    expect([host.current(), server.state()?.state]).toEqual(['1.0', 'installed']);
  });

  test('that does not fit into a quota leaves nothing of it', async () => {
    jest.spyOn(disk, 'writeFully').mockImplementation(() => {
      throw Object.assign(new Error('EDQUOT: quota exceeded, write'), { code: 'EDQUOT', syscall: 'write' });
    });
    server.want([big()]);
    await host.agent().round();
    jest.restoreAllMocks();
    expect(host.downloads()).toEqual([]);
    expect(server.state()).toMatchObject({ trouble: { cause: 'disk-full', version: '1.0' } });
  });

  test('begins anew if the server does not know parts', async () => {
    const wanted = big();
    server.packageFault = cutAt(5_000);
    server.want([wanted]);
    const agent = host.agent();
    await agent.round();
    server.packageFault = (request) => {
      delete request.headers.range;
      return false;
    };
    await agent.round();
    expect(host.current()).toBe('1.0');
  });

  test('pauses for polls, so that a revert arrives during a long one', async () => {
    const wanted = big();
    let sends = 0;
    server.packageFault = (request, response) => {
      const from = Number(/\d+/.exec(request.headers.range ?? '')?.[0] ?? 0);
      if ((sends += 1) > 3) return false;
      response.writeHead(from === 0 ? 200 : 206, {
        'content-range': `bytes ${from}-${wanted.size - 1}/${wanted.size}`,
      });
      response.write(server.bytes(wanted.digest).subarray(from, from + 2_000));
      return true;
    };
    server.want([wanted]);
    const agent = host.agent({ times: { requestMs: 2_000, sliceMs: 200, stallMs: 60_000, spreadMs: 0 } });
    const ends = [await agent.round(), await agent.round(), await agent.round(), await agent.round()];
    expect(ends).toEqual(['partial', 'partial', 'partial', 'done']);
    expect(host.current()).toBe('1.0');
    expect(server.count('manifest')).toBe(4);
  });

  test('from another server is made without the token', async () => {
    const other = new FakeManifestServer();
    await other.start();
    const wanted = other.offer('1.0', 1);
    server.want([{ ...wanted, uri: `${other.url}/${wanted.uri}` }]);
    await host.agent().round();
    expect(host.current()).toBe('1.0');
    expect(other.seen[0]?.headers.authorization).toBeUndefined();
    expect(server.seen[0]?.headers.authorization).toBeDefined();
    await other.stop();
  });

  test('follows no redirect, and uses plain http only to this machine', async () => {
    server.packageFault = (_, response) => Boolean(response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end());
    server.want([server.offer('1.0', 1), { ...server.offer('1.0', 1, { name: 'far' }), uri: 'http://192.0.2.1/x' }]);
    await host.agent().round();
    expect(server.state()?.trouble?.reason).toContain('answered 302');
    expect(server.state('far')?.reason).toContain('http://192.0.2.1 is not encrypted: use https, or --allow-http');
  });

  const cutAt =
    (bytes: number) =>
    (_: unknown, response: ServerResponse): boolean => {
      const write = response.end.bind(response);
      response.end = ((body: Buffer) => {
        response.end = write;
        response.write(body.subarray(0, bytes), () => setTimeout(() => response.destroy(), 50));
        return response;
      }) as never;
      return false;
    };
});
