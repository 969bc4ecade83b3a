import { createHmac } from 'node:crypto';
import { parseButton } from '../../domain/notify/slackButtons';
import { conveyorError } from '../../domain/errors';
import type { Fetch } from '../../sdk/request';
import type { FrontClient } from '../../server/deps';
import type { SlackEmails } from '../../settings/slack';
import { appOf, FakePipelines, NOW_MS } from '../builders/serverWorld';

const SECRET = 'a signing secret of an app, long enough';
const SLACK = {
  secrets: [SECRET],
  secretEnvs: ['SLACK_SIGNING_SECRET'],
  token: 'xoxb-a-token-of-the-bot',
  users: { U012AB3CD: 'user:alice' },
  emails: null as SlackEmails | null,
};

let asked: { readonly url: string; readonly key: string | null; readonly body: unknown }[];
let answer: () => Response | Promise<Response>;
let nowMs: number;
beforeEach(() => {
  [asked, answer, nowMs] = [[], () => Response.json({ ok: true }), NOW_MS];
});

const slackFetch: Fetch = async (request, init) => {
  const body = request.body === null ? null : await request.json();
  asked.push({ url: request.url, key: request.headers.get('authorization'), body });
  const late = new Promise<never>((_, reject) =>
    init?.signal.addEventListener('abort', () => reject(new Error('late'))),
  );
  return Promise.race([answer(), late]);
};

function open(over: Partial<FrontClient> = {}, slack: typeof SLACK | null = SLACK) {
  const pipelines = new FakePipelines();
  const client = { ...pipelines.client, ...over };
  return { app: appOf(pipelines, { slack, client, slackFetch, now: () => nowMs }), calls: pipelines.calls };
}

const click = (value: string, user = 'U012AB3CD') => ({
  type: 'block_actions',
  user: { id: user, username: 'mallory' },
  trigger_id: '12321423423.333649436676.d8c1bb837935619ccad0f624c448ffb3',
  actions: [{ action_id: 'revert', block_id: 'x', type: 'button', value }],
});
const submission = (metadata: string, reason: string | null, user = 'U012AB3CD') => ({
  type: 'view_submission',
  user: { id: user },
  view: {
    id: 'VNHU13V36',
    private_metadata: metadata,
    state: { values: { reason: { text: { type: 'plain_text_input', value: reason } } } },
  },
});

function send({ app }: ReturnType<typeof open>, payload: object, { secret = SECRET, atMs = nowMs, body = '' } = {}) {
  const sent = body || new URLSearchParams({ payload: JSON.stringify(payload) }).toString();
  const timestamp = String(Math.floor(atMs / 1000));
  const signature = createHmac('sha256', secret).update(`v0:${timestamp}:${sent}`).digest('hex');
  const headers = { 'x-slack-request-timestamp': timestamp, 'x-slack-signature': `v0=${signature}` };
  return app.request('/v1/webhooks/slack', { method: 'POST', body: sent, headers });
}

describe('a click on a button', () => {
  test('opens a dialog that asks for the reason, and changes nothing yet', async () => {
    const world = open();
    expect((await send(world, click('revert kvstore/12/deploy'))).status).toBe(200);
    expect(world.calls).toEqual([]);
    expect(asked).toMatchObject([
      {
        url: 'https://slack.com/api/views.open',
        key: `Bearer ${SLACK.token}`,
        body: { view: { private_metadata: 'revert kvstore/12/deploy', submit: { text: 'Revert' } } },
      },
    ]);
  });

  test('by a person unknown to the settings says so, in a dialog without a button', async () => {
    await send(open(), click('revert kvstore/12/deploy', 'U0STRANGER'));
    expect(asked[0]?.body).toMatchObject({
      view: { blocks: [{ text: { text: expect.stringMatching(/does not know who U0STRANGER/) as string } }] },
    });
    expect(asked[0]?.body).not.toHaveProperty('view.submit');
  });

  test.each([
    ['is down', () => Promise.reject(new TypeError('fetch failed'))],
    ['refuses', () => Response.json({ ok: false, error: 'expired_trigger_id' })],
    ['lies', () => new Response('<html>')],
  ])('is answered although Slack %s', async (_title, given) => {
    answer = given;
    expect((await send(open(), click('pause kvstore/12/deploy'))).status).toBe(200);
  });
});

describe('a dialog', () => {
  test('gives the command as the principal of the person, with the reason', async () => {
    const world = open();
    const response = await send(world, submission('revert kvstore/12/deploy', ' customers see errors '));
    expect(await response.json()).toMatchObject({ response_action: 'update' });
    expect(world.calls).toEqual([
      ['command', 'kvstore/12/deploy', 'revert', { actor: 'user:alice', reason: 'customers see errors' }],
    ]);
  });

  test('approves', async () => {
    const world = open();
    await send(world, submission('pick kvstore/12/deploy', 'looks good'));
    expect(world.calls).toEqual([
      ['command', 'kvstore/12/deploy', 'pick', { actor: 'user:alice', reason: 'looks good', approve: true }],
    ]);
  });

  test('shows the refusal of the guard to the person', async () => {
    const refuse = () => Promise.reject(conveyorError('not-permitted', { actor: 'user:alice', pipeline: 'kvstore' }));
    const response = await send(open({ command: refuse }), submission('revert kvstore/12/deploy', 'x'));
    expect(await response.json()).toMatchObject({
      response_action: 'errors',
      errors: { reason: expect.stringMatching(/user:alice/) as string },
    });
  });

  test('is answered within three seconds, however long the command takes', async () => {
    const command = () => new Promise<never>(() => undefined);
    const startedAt = Date.now();
    const response = await send(open({ command }), submission('revert kvstore/12/deploy', 'x'));
    expect(Date.now() - startedAt).toBeLessThan(3_000);
    expect(JSON.stringify(await response.json())).toMatch(/under way: conveyor status kvstore\/12\/deploy/);
  });

  test.each<[string, object, RegExp]>([
    ['of a stranger', submission('revert kvstore/12/deploy', 'x', 'U0STRANGER'), /does not know who/],
    [
      'of a name that every object has',
      submission('revert kvstore/12/deploy', 'x', 'constructor'),
      /does not know who/,
    ],
    ['without a reason', submission('revert kvstore/12/deploy', null), /a reason is missing/],
    ['of an unknown verb', submission('retire kvstore', 'x'), /not one of Conveyor/],
  ])('%s changes nothing', async (_title, payload, message) => {
    const world = open();
    expect(await (await send(world, payload)).json()).toMatchObject({
      response_action: 'errors',
      errors: { reason: expect.stringMatching(message) as string },
    });
    expect(world.calls).toEqual([]);
  });
});

describe('a request is refused', () => {
  test.each<[string, Parameters<typeof send>[2]]>([
    ['with the signature of another app', { secret: 'a secret of another app' }],
    ['that is older than five minutes', { atMs: NOW_MS - 301_000 }],
    ['that is from the future', { atMs: NOW_MS + 301_000 }],
  ])('%s', async (_title, how) => {
    const world = open();
    expect((await send(world, submission('revert kvstore/12/deploy', 'x'), how)).status).toBe(401);
    expect(world.calls).toEqual([]);
  });

  test('that arrives a second time', async () => {
    const world = open();
    const again = () => send(world, submission('revert kvstore/12/deploy', 'x'));
    expect([(await again()).status, (await again()).status]).toEqual([200, 401]);
    expect(world.calls).toHaveLength(1);
  });

  test.each(['payload=', 'payload=%7B', 'x'])('that holds no payload: %s', async (body) => {
    expect((await send(open(), {}, { body })).status).toBe(400);
  });

  test('by a server without the secret', async () => {
    expect((await send(open({}, null), click('revert kvstore/12/deploy'))).status).toBe(503);
  });
});

describe('a person whom the settings know by an address', () => {
  const EMAILS: SlackEmails = { team: 'T012AB3CD', domains: ['example.com', 'example.org'], principal: 'user:{email}' };
  const BOB = {
    ...{ id: 'U0BOB', team_id: 'T012AB3CD', deleted: false, is_bot: false, is_email_confirmed: true },
    profile: { email: 'Bob@Example.com' },
  };
  const answers = (user: object) => () => Response.json({ ok: true, user });
  const revert = submission('revert kvstore/12/deploy', 'customers see errors', 'U0BOB');
  const looks = () => asked.filter(({ url }) => url.includes('users.info'));
  let emails: SlackEmails;
  beforeEach(() => {
    emails = EMAILS;
    answer = answers(BOB);
  });
  const openKnowing = () => open({}, { ...SLACK, emails });

  test('gives commands as the principal with that address, which Slack is asked for once', async () => {
    const world = openKnowing();
    await send(world, click('revert kvstore/12/deploy', 'U0BOB'));
    expect(asked[1]?.body).toMatchObject({ view: { submit: { text: 'Revert' } } });
    await send(world, revert);
    expect(world.calls).toEqual([
      ['command', 'kvstore/12/deploy', 'revert', { actor: 'user:bob@example.com', reason: 'customers see errors' }],
    ]);
    expect(looks()).toEqual([
      { url: 'https://slack.com/api/users.info?user=U0BOB', key: `Bearer ${SLACK.token}`, body: null },
    ]);
  });

  test('gives commands as the name before the @ where the settings say so', async () => {
    emails = { ...EMAILS, domains: ['example.com'], principal: 'user:{name}' };
    const world = openKnowing();
    await send(world, revert);
    expect(world.calls).toMatchObject([['command', 'kvstore/12/deploy', 'revert', { actor: 'user:bob' }]]);
  });

  test('is the one under users if both know them, and Slack is not asked', async () => {
    const world = openKnowing();
    await send(world, submission('revert kvstore/12/deploy', 'x'));
    expect(world.calls).toMatchObject([['command', 'kvstore/12/deploy', 'revert', { actor: 'user:alice' }]]);
    expect(looks()).toEqual([]);
  });

  test.each<[string, object]>([
    ['has not confirmed the address', { is_email_confirmed: false }],
    ['has an address that Slack says nothing of', { is_email_confirmed: undefined }],
    ['is of another workspace', { team_id: 'T0OTHER' }],
    ['is a guest of a shared channel', { is_stranger: true }],
    ['has left', { deleted: true }],
    ['is a bot', { is_bot: true }],
    ['is another than the one asked about', { id: 'U0CAROL' }],
    ['has no address', { profile: {} }],
    ['has an address elsewhere', { profile: { email: 'bob@example.net' } }],
    ['has an address at a domain that looks like it', { profile: { email: 'bob@example.com.evil.net' } }],
    ['has an address with two of them', { profile: { email: 'bob@evil.net@example.com' } }],
    ['has an address that is no name', { profile: { email: '@example.com' } }],
    ['has an address with odd characters', { profile: { email: 'bob\\n@example.com' } }],
  ])('changes nothing if this person %s', async (_title, over) => {
    answer = answers({ ...BOB, ...over });
    const world = openKnowing();
    expect(await (await send(world, revert)).json()).toMatchObject({
      response_action: 'errors',
      errors: { reason: expect.stringMatching(/does not know who U0BOB is: people of T012AB3CD/) as string },
    });
    expect(world.calls).toEqual([]);
  });

  test.each<[string, () => Response | Promise<Response>]>([
    ['is down', () => Promise.reject(new TypeError('fetch failed'))],
    ['refuses', () => Response.json({ ok: false, error: 'missing_scope' })],
    ['lies', () => new Response('<html>')],
    ['answers nothing', () => new Promise<Response>(() => undefined)],
  ])('cannot act while Slack %s, and reads that a later try may succeed', async (_title, given) => {
    answer = given;
    const world = openKnowing();
    const startedAt = Date.now();
    expect(await (await send(world, revert)).json()).toMatchObject({
      errors: { reason: expect.stringMatching(/try again/) as string },
    });
    expect(Date.now() - startedAt).toBeLessThan(3_000);
    answer = answers(BOB);
    nowMs += 1_000;
    await send(world, revert);
    expect(world.calls).toHaveLength(1);
  });

  test('is out ten minutes after their account has ended', async () => {
    const world = openKnowing();
    await send(world, revert);
    answer = answers({ ...BOB, deleted: true });
    nowMs += 9 * 60_000;
    await send(world, revert);
    nowMs += 60_000;
    expect(await (await send(world, revert)).json()).toMatchObject({ response_action: 'errors' });
    expect(world.calls).toHaveLength(2);
  });
});

test.each(['revert kvstore', 'retire kvstore/12', 'revert kvstore/12 x', 'revert ../../x/1', ''])(
  'no command is read from %j',
  (text) => expect(parseButton(text)).toBeUndefined(),
);
