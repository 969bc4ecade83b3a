import type { AddressInfo } from 'node:net';
import { isClosed, listen, placeOf, type Place } from '../../server/listening';

const place = (args: string[], env: NodeJS.ProcessEnv = {}): Place =>
  placeOf(args, env, 'http://localhost:4500', 'http://localhost:4500');

test('a server is for its machine alone, unless somebody opens it', () => {
  expect(place([])).toEqual({ port: 4500, host: '127.0.0.1' });
  expect(place([], { CONVEYOR_HOST: '0.0.0.0' })).toEqual({ port: 4500, host: '0.0.0.0' });
  expect(place(['--host', '10.0.0.7', '--port', '80'], { CONVEYOR_HOST: '::' })).toEqual({
    port: 80,
    host: '10.0.0.7',
  });
  expect(
    ['127.0.0.1', '::1', 'localhost', '0.0.0.0', '::', '10.0.0.7'].filter((host) => isClosed({ port: 1, host })),
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
