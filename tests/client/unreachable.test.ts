import { createServer, type AddressInfo } from 'node:net';
import type { Temporal } from '../../client/connection';
import { temporalUnreachable } from '../../client/unreachable';

const grpc = (code: number): Error =>
  Object.assign(new Error(`${code} SAID_THE_SERVER`), { code, details: '', metadata: {} });

const connectionThat = (check: () => Promise<unknown>) =>
  ({
    withDeadline: (_at: number, call: () => Promise<unknown>) => call(),
    healthService: { check },
  }) as unknown as Temporal['connection'];

const AWAY = connectionThat(() => Promise.reject(grpc(4)));

/** The message about a server at a port where something accepts connections. */
async function atPort(isOpen: boolean, connection?: Temporal['connection']) {
  const server = createServer((socket) => socket.on('error', () => undefined));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const end = () => new Promise((resolve) => server.close(resolve));
  if (!isOpen) await end();
  const { message, hint } = await temporalUnreachable({ address, ...(connection && { connection }) }, 'too late');
  if (isOpen) await end();
  return { message: message.replace(address, 'ADDRESS'), hint };
}

test('a Temporal server that is not there is to be started', async () => {
  for (const connection of [undefined, AWAY]) {
    const { message, hint } = await atPort(false, connection);
    expect([message, hint]).toEqual([
      'no Temporal server answers at ADDRESS (too late)',
      expect.stringMatching(/^start one with .*; conveyor doctor says what is there$/),
    ]);
  }
});

test('one that is frozen is not, and doctor is the next command', async () => {
  for (const connection of [undefined, AWAY]) {
    const { message, hint } = await atPort(true, connection);
    expect(message).toBe(
      'no Temporal server answers at ADDRESS: what is there accepts connections, and does not answer as Temporal does (too late)',
    );
    expect(hint).toMatch(/^it is frozen or too busy, or wants TLS: conveyor doctor says what to do/);
  }
});

test.each([
  ['serves', () => Promise.resolve({ status: 1 })],
  ['refuses to say', () => Promise.reject(grpc(7))],
])('one that answers, and %s, is asked by doctor whether it stores anything', async (_what, check) => {
  const { message, hint } = await atPort(true, connectionThat(check));
  expect(message).toBe('the Temporal server at ADDRESS answers, and did not do this (too late)');
  expect(hint).toMatch(/^conveyor doctor says whether it stores anything/);
});

test('an address in another form is not looked at', async () => {
  expect((await temporalUnreachable({ address: 'dns:///temporal.internal' }, 'too late')).message).toBe(
    'no Temporal server answers at dns:///temporal.internal (too late)',
  );
});
