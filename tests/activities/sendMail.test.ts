import { createServer, type Server, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { wallClock } from '../../activities/clock';
import { createNotifyActivities } from '../../activities/notify';
import type { Notice } from '../../domain/notify/notice';
import { parseRegistry } from '../../settings/registry';
import { MailServer } from '../builders/mailServer';
import { REVERTED as NOTICE } from '../builders/notices';

/** Mails by SMTP, to a real server on this machine. */

const MAILBOX = {
  ...{ name: 'storage-mail', format: 'email', from: 'conveyor@example.org' },
  recipients: ['storage@example.org', 'lead@example.org'],
};
const PASSWORD = 'sixteen letters.';

let server: MailServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

interface Sending {
  readonly receiver?: object;
  readonly event?: Notice;
  readonly timeout?: string;
}

function send(url: string, { receiver = {}, event = NOTICE, timeout = '5s' }: Sending = {}): Promise<unknown> {
  const receivers = [{ ...MAILBOX, url, ...receiver }];
  const settings = { notifications: { receivers, timeout, links: 'https://conveyor.example.org' } };
  const { notifications } = parseRegistry(settings, { SMTP_PASSWORD: PASSWORD });
  const activity = new MockActivityEnvironment({}, { logger: new DefaultLogger('ERROR') });
  const { notify } = createNotifyActivities({ clock: wallClock, registry: { notifications } });
  return activity.run(notify, { to: 'storage-mail', event });
}

const address = ({ port }: { port: number }): string => `smtp://127.0.0.1:${port}`;
const undo = (source: string): string => source.replace(/=\r\n/g, '').replace(/\r\n[ \t]/g, ' ');

test('a mail goes to all recipients at once, and says what happened, where to look and what to type', async () => {
  server = await MailServer.open();
  await send(address(server));
  expect(server.mails).toMatchObject([{ from: 'conveyor@example.org', to: MAILBOX.recipients }]);
  const source = undo(server.mails[0]?.source ?? '');
  expect(source).toMatch(/^Subject: kvstore\/12\/deploy reverted: errors is 0\.2 & rising/m);
  expect(source).toMatch(/^Auto-Submitted: auto-generated\r$/m);
  expect(source).toContain('https://conveyor.example.org/releases/kvstore/12/deploy');
  expect(source).toContain('conveyor status kvstore/12/deploy');
});

test('a notice that is sent again has the same id, and all mails of a release are one thread', async () => {
  server = await MailServer.open();
  await send(address(server));
  await send(address(server));
  await send(address(server), { event: { ...NOTICE, id: `${NOTICE.id}-2`, on: 'succeeded' } });
  const header = (name: string) =>
    (server?.mails ?? []).map(({ source }) => new RegExp(`^${name}: (.*)\r$`, 'mi').exec(undo(source))?.[1]);
  const [first, again, other] = header('Message-ID');
  expect([first === again, first === other]).toEqual([true, false]);
  expect(new Set(header('References'))).toEqual(new Set(['<kvstore%2F12@example.org>']));
});

test('a reason of several lines adds neither a header nor a recipient', async () => {
  server = await MailServer.open();
  const reason = 'slow\r\nBcc: eve@example.org\r\n\r\n.\r\nRCPT TO:<eve@example.org>';
  await send(address(server), { event: { ...NOTICE, reason } });
  expect(server.mails.map(({ to }) => to)).toEqual([MAILBOX.recipients]);
  expect(server.mails[0]?.source).not.toMatch(/^Bcc/im);
});

test('a server of another host that offers no TLS gets nothing', async () => {
  server = await MailServer.open({ disabledCommands: ['STARTTLS', 'AUTH'] });
  // It leads to this machine, and does not look like it.
  const failure = await send(`smtp://0.0.0.0:${server.port}`).catch(String);
  expect(failure).toMatch(/notification to storage-mail cannot be sent|was not delivered|ETLS/);
  expect(server.mails).toEqual([]);
});

test('a server whose certificate is not trusted gets nothing', async () => {
  server = await MailServer.open({ secure: true });
  await expect(send(`smtps://127.0.0.1:${server.port}`)).rejects.toMatchObject({ type: 'notification-undelivered' });
  expect(server.mails).toEqual([]);
});

test('the login of a receiver is used, and its password is in no error', async () => {
  const login = { login: 'conveyor', keyEnv: 'SMTP_PASSWORD' };
  server = await MailServer.open({
    disabledCommands: ['STARTTLS'],
    onAuth: ({ username, password }, _session, done) =>
      done(null, password === PASSWORD ? { user: String(username) } : {}),
  });
  await send(address(server), { receiver: login });
  expect(server.mails).toMatchObject([{ user: 'conveyor' }]);
  await server.close();
  server = await MailServer.open({
    disabledCommands: ['STARTTLS'],
    onAuth: (_auth, _session, done) => done(new Error(`wrong: ${PASSWORD}`)),
  });
  await expect(send(address(server), { receiver: login })).rejects.toMatchObject({
    ...{ type: 'notification-refused', nonRetryable: true },
    message: 'a notification to storage-mail cannot be sent: the mail server answered 535',
  });
});

test.each<[string, number, object]>([
  ['refuses for good is not tried again', 550, { type: 'notification-refused', nonRetryable: true }],
  ['refuses for now is tried again', 451, { type: 'notification-undelivered', nonRetryable: false }],
])('a mail that the server %s', async (_title, code, error) => {
  server = await MailServer.open({}, () => code);
  await expect(send(address(server))).rejects.toMatchObject({
    ...error,
    message: expect.stringContaining(`the mail server answered ${code}`) as string,
  });
});

test('recipients whom the server refuses are named, and the others have the mail', async () => {
  server = await MailServer.open({}, (to) => (to.startsWith('lead') ? 550 : undefined));
  await expect(send(address(server))).rejects.toMatchObject({
    type: 'notification-refused',
    message: expect.stringContaining('the server refused lead@example.org') as string,
  });
  expect(server.mails).toMatchObject([{ to: ['storage@example.org'] }]);
});

describe('a server that', () => {
  let raw: Server | undefined;
  const sockets = new Set<Socket>();
  afterEach(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((closed) => (raw ? raw.close(closed) : closed(undefined)));
  });

  async function listen(serve: (socket: Socket) => void): Promise<string> {
    const opened = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => undefined);
      serve(socket);
    });
    raw = opened;
    await new Promise<void>((ready) => opened.listen(0, '127.0.0.1', ready));
    return `smtp://127.0.0.1:${(opened.address() as AddressInfo).port}`;
  }

  test.each<[string, (socket: Socket) => void, RegExp]>([
    ['says nothing', () => undefined, /no answer within 0\.5 s/],
    [
      'sends a letter at a time for ever',
      (socket) => {
        const drip = setInterval(() => socket.write('2'), 50);
        socket.on('close', () => clearInterval(drip));
      },
      /no answer within 0\.5 s/,
    ],
    ['hangs up', (socket) => socket.destroy(), /storage-mail/],
  ])('%s delays a notice for its time-out at most, and gets it again later', async (_title, serve, message) => {
    const url = await listen(serve);
    const began = Date.now();
    await expect(send(url, { timeout: '500ms' })).rejects.toMatchObject({
      type: 'notification-undelivered',
      message: expect.stringMatching(message) as string,
    });
    expect(Date.now() - began).toBeLessThan(5_000);
  });

  test('is gone gets the notice later, and the error does not name its address', async () => {
    const url = await listen(() => undefined);
    await new Promise((closed) => raw?.close(closed));
    raw = undefined;
    const failure: unknown = await send(url).catch((error: unknown) => error);
    expect(failure).toMatchObject({ type: 'notification-undelivered' });
    expect(String(failure)).not.toContain('127.0.0.1');
  });
});

test.each<[string, object, RegExp]>([
  ['no recipients', { recipients: undefined }, /expected from and recipients with the format email/],
  ['another format', { format: 'teams' }, /expected from and recipients with the format email/],
  ['an address of the web', { url: 'https://mail.example.org' }, /expected a url such as smtps/],
  ['no address', { url: undefined }, /expected a url, or urlEnv/],
  ['a login without a password', { login: 'conveyor' }, /expected login and keyEnv/],
  ['a recipient that is none', { recipients: ['not an address'] }, /expected an address such as/],
  ['a header in a recipient', { recipients: ['a@example.org\r\nBcc: b@example.org'] }, /expected an address such as/],
])('a mailbox with %s is refused with the mistake', (_title, mistake, message) => {
  const receiver = { ...MAILBOX, url: 'smtps://mail.example.org', ...mistake };
  const given = JSON.parse(JSON.stringify(receiver)) as object;
  expect(() => parseRegistry({ notifications: { receivers: [given] } }, {})).toThrow(message);
});
