import { execFileSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { wallClock } from '../../activities/clock';
import { createNotifyActivities } from '../../activities/notify';
import { cloudEvent } from '../../domain/notify/cloudEvents';
import { formatFor, KEYLESS_FORMATS, type FormatName } from '../../domain/notify/formats';
import type { Notice } from '../../domain/notify/notice';
import { slack } from '../../domain/notify/slack';
import type { Notifications } from '../../settings/notifications';
import { parseRegistry } from '../../settings/registry';
import { REVERTED as NOTICE } from '../builders/notices';

const PIPELINES = join(__dirname, '../../docs/reference/pipelines.md');

describe('events use the words of CDEvents where they have some', () => {
  test.each<[string, Partial<Notice>, string, object]>([
    [
      'a deploy that was reverted',
      {},
      'dev.cdevents.service.rolledback.0.2.0',
      {
        id: 'kvstore',
        type: 'service',
        content: { environment: { id: 'twine' }, artifactId: 'pkg:generic/executable@kv%3A12' },
      },
    ],
    ['a deploy that succeeded', { on: 'succeeded' }, 'dev.cdevents.service.upgraded.0.2.0', { type: 'service' }],
    [
      'a deploy that failed',
      { on: 'failed' },
      'dev.cdevents.taskrun.finished.0.2.0',
      {
        id: 'kvstore/12/deploy',
        type: 'taskRun',
        content: { taskName: 'deploy', pipelineRun: { id: 'kvstore/12' }, outcome: 'failure', errors: NOTICE.reason },
      },
    ],
    [
      'a release that succeeded',
      { on: 'succeeded', deploy: null },
      'dev.cdevents.pipelinerun.finished.0.2.0',
      { id: 'kvstore/12', type: 'pipelineRun', content: { pipelineName: 'kvstore', outcome: 'success' } },
    ],
    [
      'a release that was cancelled',
      { on: 'cancelled', deploy: null },
      'dev.cdevents.pipelinerun.finished.0.2.0',
      { content: { outcome: 'failure' } },
    ],
  ])('%s', (_title, fields, type, subject) => {
    const notice = { ...NOTICE, ...fields };
    const event = cloudEvent(notice);
    expect(event).toMatchObject({
      specversion: '1.0',
      id: notice.id,
      source: '/conveyor/pipelines/kvstore',
      type,
      time: notice.at,
      datacontenttype: 'application/json',
    });
    const context = { version: '0.4.1', id: notice.id, source: event.source, type, timestamp: notice.at };
    expect(event.data).toMatchObject({ context, subject, customData: notice });
  });

  test.each<[string, Partial<Notice>, string, string]>([
    ['a deploy that pauses', { on: 'paused' }, 'dev.conveyor.deploy.paused', 'kvstore/12/deploy'],
    ['a release that pauses', { on: 'paused', deploy: null }, 'dev.conveyor.release.paused', 'kvstore/12'],
    ['a deploy of nothing', { artifacts: [] }, 'dev.conveyor.deploy.reverted', 'kvstore/12/deploy'],
    ['a deploy that breaks an offer', { on: 'offer-broken' }, 'dev.conveyor.offer.broken', 'kvstore/12/deploy'],
  ])('and in our own where they have none: %s', (_title, fields, type, subject) => {
    const notice = { ...NOTICE, ...fields };
    expect(cloudEvent(notice)).toMatchObject({ type, subject, data: notice });
  });

  test('Slack gets a message that people can read, and that says what it says', () => {
    const { text, blocks } = slack.body(NOTICE) as { text: string; blocks: unknown[] };
    expect(text).toBe('kvstore/12/deploy reverted: errors is 0.2 &amp; rising, above the limit of &lt;0.05&gt;');
    expect(blocks).toHaveLength(2);
    expect(JSON.stringify(blocks)).toContain('phase half · executable@kv:12');
  });

  test('Slack says that a deploy has broken an offer', () => {
    const reason = 'vpc 1.0.0 of kvstore does not fit auth/deploy, which wishes for ^2';
    const { text } = slack.body({ ...NOTICE, on: 'offer-broken', reason }) as { text: string };
    expect(text).toBe(`kvstore/12/deploy broke an offer: ${reason}`);
  });

  test('Slack shows what others wrote on one line, and makes no mention, link or control character of it', () => {
    const reason = 'ok\n*kvstore* succeeded <!channel> http://evil.example \u001b[2J\u202e';
    const { text, blocks } = slack.body({ ...NOTICE, reason }) as { text: string; blocks: readonly object[] };
    expect(text).toBe(
      'kvstore/12/deploy reverted: ok *kvstore* succeeded &lt;!channel&gt; http://evil.example \\u001b[2J\\u202e',
    );
    expect(blocks).toMatchObject([{ text: { verbatim: true } }, { elements: [{ verbatim: true }] }]);
  });

  test.each([
    ['hooks.slack.com', 'application/json'],
    ['hooks.slack-gov.com', 'application/json'],
    ['hooks.slack.com.example.org', 'application/cloudevents+json; charset=utf-8'],
  ])('without a format only hosts of Slack get its messages: %s gets %s', (host, contentType) =>
    expect(formatFor(host)).toMatchObject({ contentType }),
  );

  test.each(KEYLESS_FORMATS)('the format %s goes to whatever host, and holds which deploy it is about', (name) => {
    const format = formatFor('hooks.slack.com', name);
    expect(formatFor('chat.example.org', name)).toBe(format);
    expect(JSON.stringify(format?.body(NOTICE))).toContain('kvstore/12/deploy');
  });
});

describe('a notification is delivered', () => {
  interface Delivery {
    readonly path: string | undefined;
    readonly headers: IncomingHttpHeaders;
    readonly body: string;
  }
  let receiver: Server;
  let base: string;
  let deliveries: Delivery[];
  let answer: { status: number; headers?: Record<string, string>; json?: (path: string) => object };

  beforeEach(async () => {
    deliveries = [];
    answer = { status: 204 };
    receiver = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        deliveries.push({ path: request.url, headers: request.headers, body: Buffer.concat(chunks).toString() });
        if (answer.status > 0)
          response.writeHead(answer.status, answer.headers).end(JSON.stringify(answer.json?.(request.url ?? '')));
      });
    });
    await new Promise<void>((ready) => receiver.listen(0, '127.0.0.1', ready));
    base = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
  });
  afterEach(async () => {
    receiver.closeAllConnections();
    await new Promise((closed) => receiver.close(closed));
  });

  const KEY = Buffer.from('a key of twenty-four byte');
  const FIRST = `whsec_${KEY.toString('base64')}`;

  function notify(
    url: string,
    config: object = {},
    env: Record<string, string> = {},
    event = NOTICE,
  ): Promise<unknown> {
    const { notifications } = parseRegistry({ notifications: { internal: true, ...config } }, env);
    return run(url, notifications, event);
  }

  function run(url: string, notifications: Notifications, event = NOTICE, format?: FormatName): Promise<unknown> {
    const activity = new MockActivityEnvironment({}, { logger: new DefaultLogger('ERROR') });
    return activity.run(createNotifyActivities({ clock: wallClock, registry: { notifications } }).notify, {
      ...{ url, event },
      ...(format === undefined ? {} : { format }),
    });
  }

  test('in the format that the pipeline names, whatever the host', async () => {
    const { notifications } = parseRegistry({ notifications: { internal: true } }, {});
    await run(base, notifications, NOTICE, 'slack');
    expect(deliveries[0]?.headers['content-type']).toBe('application/json');
    expect(JSON.parse(deliveries[0]!.body)).toEqual(slack.body(NOTICE));
  });

  test('but not in a format that only newer workers know', async () => {
    const { notifications } = parseRegistry({ notifications: { internal: true } }, {});
    await expect(run(base, notifications, NOTICE, 'pager' as 'slack')).rejects.toMatchObject({
      ...{ type: 'notification-refused', nonRetryable: true },
      message: expect.stringMatching(/does not know the format pager, only cloudevents, slack, .* and email/) as string,
    });
    expect(deliveries).toEqual([]);
  });

  test('also of a phase whose name no header can carry', async () => {
    await notify(
      `${base}/hook`,
      { secretEnv: 'KEY' },
      { KEY: FIRST },
      { ...NOTICE, id: 'deploy/kv/1/deploy/1/第一 ✓\n/paused' },
    );
    const { 'webhook-id': id, 'webhook-timestamp': at, 'webhook-signature': header } = deliveries[0]?.headers ?? {};
    const signature = createHmac('sha256', madeFor(FIRST, `${base}/hook`));
    signature.update(`${String(id)}.${String(at)}.${deliveries[0]?.body}`);
    expect(header).toBe(`v1,${signature.digest('base64')}`);
    expect(decodeURI(String(id))).toBe('deploy/kv/1/deploy/1/第一 ✓\n/paused');
  });

  test('as a CloudEvent, to where the pipeline says', async () => {
    await notify(`${base}/hook?team=storage`);
    expect(deliveries).toHaveLength(1);
    expect(deliveries[0]).toMatchObject({
      path: '/hook?team=storage',
      headers: { 'content-type': 'application/cloudevents+json; charset=utf-8', 'webhook-id': NOTICE.id },
    });
    expect(JSON.parse(deliveries[0]!.body)).toEqual(cloudEvent(NOTICE));
    expect(deliveries[0]!.headers).not.toHaveProperty('webhook-signature');
  });

  const SECOND = 'plain words, and enough of them';
  /** The signatures that the receiver at a path would expect of these keys. */
  const signatures = (at: number, keys: readonly (Buffer | string)[]) => {
    const { headers, body } = deliveries[at]!;
    const signed = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${body}`;
    return keys.map((key) => `v1,${createHmac('sha256', key).update(signed).digest('base64')}`).join(' ');
  };
  const given = (at: number) => deliveries[at]?.headers['webhook-signature'];
  const madeFor = (secret: string, place: string) => createHmac('sha256', secret).update(`notify:${place}`).digest();

  test('signed with keys of its receiver, one per secret, so one receiver cannot sign for another', async () => {
    const config = { secretEnv: ['FIRST', 'SECOND', 'UNSET'] };
    for (const path of ['/ci', '/ci/?team=storage', '/other'])
      await notify(`${base}${path}`, config, { FIRST, SECOND });
    const keysOf = (path: string) => [FIRST, SECOND].map((secret) => madeFor(secret, `${base}${path}`));
    expect(given(0)).toBe(signatures(0, keysOf('/ci')));
    expect(given(1)).toBe(signatures(1, keysOf('/ci')));
    expect(given(2)).toBe(signatures(2, keysOf('/other')));
    expect(keysOf('/other')).not.toEqual(keysOf('/ci'));
    expect(Math.abs(Date.now() / 1000 - Number(deliveries[0]!.headers['webhook-timestamp']))).toBeLessThan(60);
  });

  test('signed with the keys that the platform says a receiver has, such as the secret that all of them had', async () => {
    const receivers = [
      { url: base, keyEnv: 'FIRST' },
      { url: `${base}/ci/`, keyEnv: ['SECOND', 'FIRST'] },
      { url: `${base}/unset`, keyEnv: 'UNSET' },
    ];
    const config = { secretEnv: 'FIRST', receivers };
    for (const path of ['/cis', '/ci/a', '/unset']) await notify(`${base}${path}`, config, { FIRST, SECOND });
    expect([given(0), given(1)]).toEqual([signatures(0, [KEY]), signatures(1, [SECOND, KEY])]);
    expect(given(2)).toBeUndefined();
  });

  test('signed as docs/reference/pipelines.md says that a receiver finds out its key', () => {
    const [, line = ''] = /^ *(printf .*openssl base64)$/m.exec(readFileSync(PIPELINES, 'utf8')) ?? [];
    const env = { ...process.env, CONVEYOR_NOTIFY_SECRET: SECOND };
    const printed = execFileSync('sh', ['-c', line], { env, encoding: 'utf8' }).trim();
    expect(printed).toBe(madeFor(SECOND, 'https://hooks.example.org/ci').toString('base64'));
  });

  /** Sends to a receiver of the settings. */
  function notifyNamed(to: string, receivers: readonly object[], env: Record<string, string> = {}, event = NOTICE) {
    const { notifications } = parseRegistry(
      { notifications: { receivers, links: 'https://conveyor.example.org/' } },
      env,
    );
    const activity = new MockActivityEnvironment({}, { logger: new DefaultLogger('ERROR') });
    const { notify: send } = createNotifyActivities({ clock: wallClock, registry: { notifications } });
    return activity.run(send, { to, event });
  }

  describe('to a receiver that the settings name', () => {
    const PAGER = 'a key of PagerDuty, of 32 letters';

    test('with the key of its service, which is in no signature and no error', async () => {
      const receivers = [{ name: 'pager', format: 'pagerduty', url: `${base}/v2/enqueue`, keyEnv: 'PAGER' }];
      await notifyNamed('pager', receivers, { PAGER });
      expect(deliveries[0]).toMatchObject({ path: '/v2/enqueue' });
      expect(JSON.parse(deliveries[0]!.body)).toMatchObject({
        routing_key: PAGER,
        client_url: 'https://conveyor.example.org/releases/kvstore/12/deploy',
      });
      expect(deliveries[0]!.headers).not.toHaveProperty('webhook-signature');
      answer = { status: 400 };
      const failure = await notifyNamed('pager', receivers, { PAGER }).catch(String);
      expect(failure).toMatch(/a notification to pager cannot be sent: it answered with status 400/);
    });

    test('at the address of a variable, signed with its own key where its service wants none', async () => {
      const receivers = [{ name: 'ci', urlEnv: 'HOOK', keyEnv: 'FIRST' }];
      await notifyNamed('ci', receivers, { HOOK: `${base}/ci`, FIRST });
      expect(deliveries[0]?.path).toBe('/ci');
      expect(given(0)).toBe(signatures(0, [KEY]));
    });

    test('below its address, where its service closes what it had opened', async () => {
      const receivers = [{ name: 'genie', format: 'opsgenie', url: `${base}/v2/alerts/`, keyEnv: 'GENIE' }];
      await notifyNamed('genie', receivers, { GENIE: PAGER }, { ...NOTICE, on: 'succeeded' });
      expect(deliveries[0]).toMatchObject({
        path: '/v2/alerts/conveyor%2Fkvstore%2F12/close?identifierType=alias',
        headers: { authorization: `GenieKey ${PAGER}` },
      });
    });

    test('and nothing where its service has no place for the notice', async () => {
      await notifyNamed('forge', [{ name: 'forge', format: 'github', url: base, keyEnv: 'TOKEN' }], { TOKEN: PAGER });
      expect(deliveries).toEqual([]);
    });

    test.each<[string, string, RegExp]>([
      ['that the settings do not have', 'stranger', /notification to stranger .* has no receiver of that name/],
      ['whose key is unset', 'pager', /notification to pager .* variable of its key is not set/],
      ['whose address is unset', 'ci', /notification to ci .* variable of its address is not set/],
    ])('but not to one %s', async (_title, to, message) => {
      const receivers = [
        { name: 'pager', format: 'pagerduty', keyEnv: 'UNSET' },
        { name: 'ci', urlEnv: 'UNSET' },
      ];
      await expect(notifyNamed(to, receivers)).rejects.toMatchObject({
        ...{ type: 'notification-refused', nonRetryable: true },
        message: expect.stringMatching(message) as string,
      });
    });

    test.each<[object, RegExp]>([
      [{ name: 'pager', format: 'pagerduty' }, /wants a key: expected keyEnv/],
      [{ name: 'ci' }, /expected a url, or urlEnv/],
      [{ name: 'ci', url: 'https://x.example', urlEnv: 'X' }, /url or urlEnv, not both/],
      [{ url: 'https://x.example' }, /expected a name, or only url and keyEnv/],
      [{ name: 'Pager', url: 'https://x.example' }, /lower-case/],
      [{ name: 'ci', url: 'https://x.example', format: 'pager' }, /format/],
      [{ name: 'chat', format: 'slack-app', keyEnv: 'X' }, /expected a channel/],
      [{ name: 'ci', url: 'https://x.example', channel: 'C012AB3CD' }, /expected a channel with the format slack-app/],
    ])('settings with %j are refused with the mistake', (receiver, message) => {
      expect(() => parseRegistry({ notifications: { receivers: [receiver] } }, {})).toThrow(message);
    });

    test('and two receivers never share a name', () => {
      const receivers = ['a', 'b'].map((host) => ({ name: 'ci', url: `https://${host}.example.org` }));
      expect(() => parseRegistry({ notifications: { receivers } }, {})).toThrow(/two .*receivers have the name ci/);
    });
  });

  describe('by a bot in Slack', () => {
    const TOKEN = 'xoxb-a-token-of-the-bot-of-an-app';
    const THREAD = { channel: 'C012AB3CD', ts: '1503435956.000247' };
    const ok = { ok: true, ...THREAD };

    const post = (event: Partial<Notice> = {}, thread?: typeof THREAD) => {
      const receivers = [
        { name: 'chat', format: 'slack-app', url: `${base}/api`, keyEnv: 'TOKEN', channel: 'C012AB3CD' },
      ];
      const { notifications } = parseRegistry({ notifications: { receivers } }, { TOKEN });
      const activity = new MockActivityEnvironment({}, { logger: new DefaultLogger('ERROR') });
      const { notify: send } = createNotifyActivities({ clock: wallClock, registry: { notifications } });
      return activity.run(send, { to: 'chat', event: { ...NOTICE, ...event }, ...(thread ? { thread } : {}) });
    };
    const calls = () => deliveries.map(({ path, body }) => [path, JSON.parse(body) as object]);

    test('the first notice of a release makes a message, which is remembered', async () => {
      answer = { status: 200, json: () => ok };
      expect(await post()).toEqual({ thread: THREAD });
      expect(deliveries[0]?.headers).toMatchObject({ authorization: `Bearer ${TOKEN}` });
      expect(calls()).toMatchObject([
        ['/api/chat.postMessage', { channel: 'C012AB3CD', text: expect.any(String) as string }],
      ]);
    });

    test('later ones change that message, and add to its thread', async () => {
      answer = { status: 200, json: () => ok };
      expect(await post({ on: 'succeeded' }, THREAD)).toEqual({ thread: THREAD });
      expect(calls()).toMatchObject([
        ['/api/chat.update', { ts: THREAD.ts }],
        ['/api/chat.postMessage', { thread_ts: THREAD.ts }],
      ]);
    });

    test('a message that was deleted is posted again', async () => {
      const gone = { ok: false, error: 'message_not_found' };
      answer = { status: 200, json: (path) => (path.endsWith('update') ? gone : { ...ok, ts: '1503435957.000100' }) };
      expect(await post({}, THREAD)).toEqual({ thread: { ...THREAD, ts: '1503435957.000100' } });
    });

    test.each<[object | string, string, RegExp]>([
      [{ ok: false, error: 'channel_not_found' }, 'notification-refused', /Slack refuses it: channel_not_found/],
      [{ ok: false, error: 'ratelimited' }, 'notification-undelivered', /ratelimited/],
      [{ ok: false, error: '<script>' }, 'notification-refused', /no reason/],
      [{ ok: true }, 'notification-refused', /names no message/],
      [{ ok: true, channel: 'C1', ts: '../x' }, 'notification-refused', /names no message/],
      ['<html>', 'notification-undelivered', /not answer as Slack does/],
    ])('the answer %j, with status 200, means %s', async (given, type, message) => {
      answer = { status: 200, json: () => given as object };
      await expect(post()).rejects.toMatchObject({ type, message: expect.stringMatching(message) as string });
    });

    test.each<[Partial<Notice>, readonly string[]]>([
      [{ on: 'paused' }, ['pause', 'resume', 'revert']],
      [{ on: 'paused', id: 'release/kvstore/12/deploy/1/approval/paused' }, ['pick']],
      [{ on: 'succeeded' }, ['revert']],
      [{ on: 'reverted' }, []],
    ])('a notice %j has the buttons %j, each for its deploy', async (event, verbs) => {
      answer = { status: 200, json: () => ok };
      await post(event);
      const values = [...(deliveries[0]?.body ?? '').matchAll(/"value":"(\w+) kvstore\/12\/deploy"/g)].map(
        ([, verb]) => verb,
      );
      expect(values).toEqual(verbs);
    });
  });

  test('and is asked again when a receiver wants it, not before', async () => {
    answer = { status: 429, headers: { 'retry-after': '120' } };
    await expect(notify(base)).rejects.toMatchObject({
      ...{ type: 'notification-undelivered', nonRetryable: false, nextRetryDelay: 120_000 },
    });
  });

  test('to an address that only the worker knows', async () => {
    await notify('${HOOKS}/storage', { env: ['HOOKS'] }, { HOOKS: `${base}/T0/B0` });
    expect(deliveries.map(({ path }) => path)).toEqual(['/T0/B0/storage']);
  });

  test.each<[string, string, RegExp]>([
    ['a variable that the platform does not list', '${SECRET}', /does not list SECRET/],
    ['a variable that the worker does not have', '${UNSET}', /UNSET is not set/],
    ['a variable sent to a host of the author', 'https://example.org/${HOOKS}', /at the beginning/],
    ['a variable as part of a host', '${HOOKS}.example.org', /at the beginning/],
    ['something else than an address', 'mailto:alice@example.org', /not an http or https address/],
    ['nothing of the kind', '${WORDS}', /not an http or https address/],
    ['a password', 'http://alice:pw@example.org', /name or password/],
  ])('but never to %s', async (_title, url, message) => {
    const env = { HOOKS: `${base}/secret`, SECRET: 'x', WORDS: 'not an address' };
    await expect(notify(url, { env: ['HOOKS', 'UNSET', 'WORDS'] }, env)).rejects.toMatchObject({
      type: 'notification-refused',
      nonRetryable: true,
      message: expect.stringMatching(message) as string,
    });
    expect(deliveries).toEqual([]);
  });

  test.each([
    ['this machine', 'http://127.0.0.1:9/', false, /is internal/],
    ['this machine by name', 'http://localhost:9/', false, /is internal/],
    ['this machine in IPv6', 'http://[::1]:9/', false, /is internal/],
    ['this machine in IPv4 within IPv6', 'http://[::ffff:127.0.0.1]:9/', false, /is internal/],
    ['this machine in one number', 'http://2130706433:9/', false, /is internal/],
    ['a private network', 'http://10.1.2.3/', false, /is internal/],
    ['another private network', 'http://[fd12::1]/', false, /is internal/],
    ['the cloud, whatever is allowed', 'http://169.254.169.254/latest/meta-data', true, /of its cloud/],
    ['the cloud in IPv6', 'http://[fe80::1]/', true, /of its cloud/],
    ['the cloud in IPv4 within IPv6', 'http://[::ffff:169.254.169.254]/', true, /of its cloud/],
    ['the cloud through a gateway of IPv6', 'http://[64:ff9b::169.254.169.254]/', true, /of its cloud/],
    ['the cloud in a tunnel (6to4)', 'http://[2002:a9fe:a9fe::1]/', true, /of its cloud/],
    ['the cloud in an address that is compatible with IPv4', 'http://[::169.254.169.254]/', true, /of its cloud/],
    ['the cloud in a translated address', 'http://[::ffff:0:169.254.169.254]/', true, /of its cloud/],
    ['the cloud of Azure', 'http://168.63.129.16/', true, /of its cloud/],
    ['the cloud of Oracle', 'http://192.0.0.192/', true, /of its cloud/],
    ['the cloud of Google in IPv6', 'http://[fd20:ce::254]/', true, /of its cloud/],
    ['any address of this machine', 'http://0.0.0.0:9/', false, /is internal/],
    ['any address of this machine in IPv6', 'http://[::]:9/', false, /is internal/],
    ['this machine in octal', 'http://0177.0.0.1:9/', false, /is internal/],
    ['this machine through a gateway of IPv6', 'http://[64:ff9b::127.0.0.1]:9/', false, /is internal/],
    ['this machine in a tunnel (6to4)', 'http://[2002:7f00:1::]:9/', false, /is internal/],
    ['a private network through a local gateway', 'http://[64:ff9b:1::10.0.0.1]/', false, /is internal/],
    ['a private network in a tunnel (Teredo)', 'http://[2001:0:4136:e378:8000:63bf:3fff:fdd2]/', false, /is internal/],
    ['a network of carriers', 'http://100.64.0.1/', false, /is internal/],
    ['a network for benchmarks', 'http://198.18.0.1/', false, /is internal/],
    ['all at once', 'http://255.255.255.255/', false, /is internal/],
    ['a group of machines', 'http://[ff02::1]/', false, /is internal/],
    ['the cloud by name', 'http://metadata.google.internal/', true, /of its cloud|ENOTFOUND|EAI_AGAIN/],
  ])('never to %s, where the platform does not allow it', async (_, url, internal, message) => {
    const said = expect.stringMatching(message) as string;
    await expect(notify(url, { internal })).rejects.toMatchObject({ message: said });
    expect(deliveries).toEqual([]);
  });

  test('only to hosts that the platform lists, where it lists any, also by a variable of its own', async () => {
    const { notifications } = parseRegistry({ notifications: { internal: true, env: ['HOOKS'] } }, { HOOKS: base });
    const to = (url: string, allow: string[]) => run(url, { ...notifications, allowed: allow });
    for (const url of [base, '${HOOKS}/x'])
      await expect(to(url, ['*.example.org', 'localhost'])).rejects.toMatchObject({
        ...{ type: 'notification-refused', nonRetryable: true },
        message: expect.stringMatching(/egress.allow .* does not list its host/) as string,
      });
    expect(deliveries).toHaveLength(0);
    for (const url of [base, '${HOOKS}/x']) await to(url, ['127.0.0.*']);
    expect(deliveries).toHaveLength(2);
  });

  test('to this machine where the platform gave the address itself', async () => {
    await notify('${HOOKS}/x', { env: ['HOOKS'], internal: false }, { HOOKS: base });
    expect(deliveries).toHaveLength(1);
  });

  test.each([
    [500, 'notification-undelivered'],
    [429, 'notification-undelivered'],
    [408, 'notification-undelivered'],
    [404, 'notification-refused'],
    [302, 'notification-refused'],
  ])('status %i means %s, and says nothing of a secret address', async (status, type) => {
    answer = { status, headers: { location: '/elsewhere' } };
    const failure = await notify('${HOOKS}', { env: ['HOOKS'] }, { HOOKS: `${base}/secret` }).catch(
      (error: unknown) => error,
    );
    expect(failure).toMatchObject({ type, nonRetryable: type === 'notification-refused' });
    expect(String(failure)).toContain(`notification to \${HOOKS}`);
    expect(String(failure)).not.toContain('secret');
    expect(deliveries).toHaveLength(1);
  });

  test('a late answer or an unreachable receiver is retried', async () => {
    answer = { status: 0 };
    await expect(notify(base, { timeout: '50ms' })).rejects.toMatchObject({
      type: 'notification-undelivered',
      nonRetryable: false,
      message: expect.stringContaining('no answer within 50 ms') as string,
    });
    receiver.closeAllConnections();
    await new Promise((closed) => receiver.close(closed));
    await expect(notify(base)).rejects.toMatchObject({
      message: expect.stringMatching(/was not delivered: ECONNREFUSED$/) as string,
    });
  });
});
