import type { AddressInfo } from 'node:net';
import { isClosed, isDevLogin, listen, readPlace, type Place } from '../../server/listener';
import { appOf } from '../builders/serverWorld';

const place = (args: string[], env: NodeJS.ProcessEnv = {}): Place =>
  readPlace(args, env, 'http://localhost:4500', 'http://localhost:4500');

test('a server serves only its own machine, unless it is opened', () => {
  expect(place([])).toEqual({ port: 4500, host: '127.0.0.1' });
  expect(place([], { CONVEYOR_HOST: '0.0.0.0' })).toEqual({ port: 4500, host: '0.0.0.0' });
  expect(place(['--host', '10.0.0.7', '--port', '80'], { CONVEYOR_HOST: '::' })).toEqual({
    port: 80,
    host: '10.0.0.7',
  });
  expect(
    ['127.0.0.1', '::1', 'localhost', '0.0.0.0', '::', '10.0.0.7', '127.example.com'].filter((host) =>
      isClosed({ port: 1, host }),
    ),
  ).toEqual(['127.0.0.1', '::1', 'localhost']);
});

test('it listens at the address that it was given, and nowhere else', async () => {
  const server = await listen({ fetch: () => new Response('here') }, { port: 0, host: '127.0.0.1' }, 'the test');
  const { address, port } = server.address() as AddressInfo;
  expect(address).toBe('127.0.0.1');
  expect(await (await fetch(`http://localhost:${port}`)).text()).toBe('here');
  await expect(fetch(`http://127.0.0.2:${port}`)).rejects.toThrow();
  server.close();
});

describe('a development login', () => {
  test('is for a server that only this machine reaches', () => {
    expect(isDevLogin([], { port: 1, host: '0.0.0.0' })).toBe(false);
    expect(isDevLogin(['--dev-login'], { port: 1, host: '127.0.0.1' })).toBe(true);
    expect(() => isDevLogin(['--dev-login'], { port: 1, host: '0.0.0.0' })).toThrow('open to other machines');
  });

  test("trusts every caller's name, warns in every answer, and trusts no group", async () => {
    const me = (app: ReturnType<typeof appOf>, token: string) =>
      app.request('/v1/me', { headers: { authorization: `Bearer ${token}` } });
    const dev = appOf(undefined, { devLogin: true });
    const answer = await me(dev, 'dev:user:alice');
    expect(answer.headers.get('conveyor-login')).toBe('development');
    expect(await answer.json()).toMatchObject({ principal: 'user:alice', door: 'development' });
    expect((await dev.request('/v1/pipelines')).headers.get('conveyor-login')).toBe('development');
    expect((await me(dev, 'dev:group:storage')).status).toBe(401);
    const usual = await me(appOf(), 'dev:user:alice');
    expect([usual.status, usual.headers.get('conveyor-login')]).toEqual([401, null]);
  });
});
