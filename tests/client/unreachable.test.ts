import { readFileSync } from 'node:fs';
import { createSecureServer, createServer as createPlainServer, type Http2Server } from 'node:http2';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
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
      expect.stringMatching(/^start one with .*; conveyor doctor shows what it finds there$/),
    ]);
  }
});

test('one that is frozen is not, and doctor is the next command', async () => {
  for (const connection of [undefined, AWAY]) {
    const { message, hint } = await atPort(true, connection);
    expect(message).toBe(
      'no Temporal server answers at ADDRESS: something there accepts connections, but does not answer like Temporal (too late)',
    );
    expect(hint).toMatch(/^it is frozen or overloaded, or a certificate is refused: conveyor doctor says what to do/);
  }
});

test.each([
  ['serves', () => Promise.resolve({ status: 1 })],
  ['refuses to say', () => Promise.reject(grpc(7))],
])('one that answers, and %s, is asked by doctor whether it stores anything', async (_what, check) => {
  const { message, hint } = await atPort(true, connectionThat(check));
  expect(message).toBe('the Temporal server at ADDRESS answers, but did not do this (too late)');
  expect(hint).toMatch(/^conveyor doctor checks whether it can store anything/);
});

test('an address in another form is not looked at', async () => {
  expect((await temporalUnreachable({ address: 'dns:///temporal.internal' }, 'too late')).message).toBe(
    'no Temporal server answers at dns:///temporal.internal (too late)',
  );
});

const certificate = (name: string): Buffer => readFileSync(join(__dirname, '../fixtures/certificates', name));
const LOCALHOST = { key: certificate('localhost.key'), cert: certificate('localhost.pem') };

/** The words of a client about a server of HTTP/2, as Temporal's is. */
async function over(server: Http2Server, wantsTls: boolean) {
  server.on('sessionError', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { message, hint, exit } = await temporalUnreachable({ address, wantsTls }, 'too late');
  server.close();
  return { message: message.replace(address, 'ADDRESS'), hint, exit };
}

describe('where one side uses TLS and the other does not', () => {
  const env = { ...process.env };
  afterEach(() => {
    process.env = { ...env };
  });

  test('a client with TLS learns which of its settings to change', async () => {
    process.env['TEMPORAL_TLS'] = 'true';
    expect(await over(createPlainServer(), true)).toEqual({
      message:
        'no Temporal server answers at ADDRESS: the server there speaks no TLS, and this client uses it (too late)',
      hint: 'TEMPORAL_TLS turns TLS on: unset it, or set TEMPORAL_TLS=false; or check TEMPORAL_ADDRESS',
      exit: 1,
    });
    delete process.env['TEMPORAL_TLS'];
    Object.assign(process.env, { TEMPORAL_API_KEY: 'k', TEMPORAL_TLS_SERVER_NAME: 'temporal.internal' });
    expect((await over(createPlainServer(), true)).hint).toMatch(
      /^TEMPORAL_API_KEY and TEMPORAL_TLS_SERVER_NAME turn TLS on: unset them, or set TEMPORAL_TLS=false; /,
    );
  });

  test('a client with TLS by temporal.toml learns the file', async () => {
    process.env['TEMPORAL_CONFIG_FILE'] = '/etc/temporal.toml';
    expect((await over(createPlainServer(), true)).hint).toMatch(
      /^tls or api_key of \/etc\/temporal.toml turns TLS on: /,
    );
  });

  test.each([
    ['shows one', {}],
    ['wants a certificate', { ca: certificate('authority.pem'), requestCert: true, rejectUnauthorized: true }],
    ['speaks an older TLS', { maxVersion: 'TLSv1.2', requestCert: true, rejectUnauthorized: true } as const],
  ])('a client without TLS learns how to get it, at a server that %s', async (_what, more) => {
    expect(await over(createSecureServer({ ...LOCALHOST, ...more }), false)).toEqual({
      message:
        'no Temporal server answers at ADDRESS: the server there speaks only TLS, and this client does not use it (too late)',
      hint: expect.stringMatching(/^set TEMPORAL_TLS=true; TEMPORAL_TLS_SERVER_CA_CERT_PATH names /) as string,
      exit: 1,
    });
    process.env['TEMPORAL_TLS'] = 'false';
    expect((await over(createSecureServer({ ...LOCALHOST, ...more }), false)).hint).toMatch(
      /^set TEMPORAL_TLS=true, since TEMPORAL_TLS turns it off; /,
    );
  });

  test('TLS is not blamed where both sides agree', async () => {
    for (const [server, wantsTls] of [
      [createPlainServer(), false],
      [createSecureServer(LOCALHOST), true],
    ] as const)
      expect((await over(server, wantsTls)).message).toContain('does not answer like Temporal');
  });
});
