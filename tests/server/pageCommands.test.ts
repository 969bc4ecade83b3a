import { conveyorError } from '../../domain/errors';
import type { DeployStatus } from '../../domain/views';
import { CONFIG } from '../builders/accessWorld';
import { PAGE_ATTACKS } from '../builders/attackTexts';
import { buttonWorld, readConfirmFields } from '../builders/buttonWorld';
import { pageWorld, running } from '../builders/pageWorld';
import type { Browser } from '../builders/sessionWorld';

const DEPLOY = '/releases/kvstore/13/deploy';
const REASON = 'customers see errors';

/** Every form that the pages of the sample offer, with the fields of its command. */
const FORMS: readonly (readonly [page: string, verb: string, target: string, query: string, input: object])[] = [
  [DEPLOY, 'pause', 'kvstore/13/deploy', '', {}],
  [DEPLOY, 'cancel', 'kvstore/13/deploy', '', {}],
  [DEPLOY, 'revert', 'kvstore/13/deploy', '', {}],
  [DEPLOY, 'skip-phase', 'kvstore/13/deploy', 'phase=half', { phase: 'half' }],
  [DEPLOY, 'skip-bake', 'kvstore/13/deploy', 'phase=half', { phase: 'half' }],
  [DEPLOY, 'skip-health-check', 'kvstore/13/deploy', '', {}],
  ['/releases/kvstore/13', 'pick', 'kvstore/13/approve', 'approve=true', { approve: true }],
  ['/releases/kvstore/13', 'pick', 'kvstore/13/approve', 'approve=false', { approve: false }],
  ['/pipelines/kvstore', 'unhold', 'kvstore', '', {}],
  ['/pipelines/kvstore', 'freeze', 'kvstore', '', {}],
  ['/pipelines/kvstore', 'undeploy', 'kvstore', '', {}],
  [
    ...(['/pipelines/kvstore', 'allow-artifact', 'kvstore', 'artifact=executable@kv:11'] as const),
    { artifact: 'executable@kv:11' },
  ],
  ['/pipelines/kvstore', 'end-use', 'kvstore', 'user=shop/deploy', { user: 'shop/deploy' }],
];

const toPath = (verb: string, target: string): string =>
  `/${target.includes('/') ? 'releases' : 'pipelines'}/${target}/commands/${verb}`;

async function confirm(
  browser: Browser,
  [, verb, target, query]: (typeof FORMS)[number],
  more: Record<string, string> = {},
) {
  const path = toPath(verb, target);
  const page = await (await browser.get(`${path}?${query}`)).text();
  return browser.post(path, { ...readConfirmFields(page), reason: REASON, ...more });
}

describe('a form of a page', () => {
  test.each(FORMS)('on %s lets an owner %s %s %s, as the API does', async (...form) => {
    const [page, verb, target, query, input] = form;
    const { signIn, given, audited } = buttonWorld();
    const alice = await signIn('user:alice');
    expect(await (await alice.get(page)).text()).toContain(`action="${toPath(verb, target)}"`);
    const preview = await alice.get(`${toPath(verb, target)}?${query}`);
    expect([preview.status, given]).toEqual([200, []]);
    const done = await confirm(alice, form);
    expect([done.status, done.headers.get('location')]).toEqual([
      303,
      expect.stringMatching(new RegExp(`^/(pipelines|releases)/${target}\\?done=.`)),
    ]);
    expect(given).toEqual([[target, verb, expect.objectContaining({ ...input, actor: 'user:alice', reason: REASON })]]);
    expect(audited.at(-1)).toMatchObject({
      ...{ door: 'api', operation: verb, actor: 'user:alice', reason: REASON, outcome: 'accepted', result: 'it is so' },
    });
  });

  test('leads back to a page with its effect, however many readers have just looked', async () => {
    const state: { now: DeployStatus } = { now: running() };
    const command = (id: string) => {
      state.now = { ...running(), summary: 'reverting: customers see errors' };
      return Promise.resolve({ id, accepted: true as const, effect: 'all goes back' });
    };
    const plain = pageWorld();
    const status = (id: string) => (id === state.now.id ? Promise.resolve(state.now) : plain.client.status(id));
    const alice = await buttonWorld({ status, command }).signIn('user:alice');
    await confirm(alice, [DEPLOY, 'revert', 'kvstore/13/deploy', '', {}]);
    expect(await (await alice.get(DEPLOY)).text()).toContain('reverting: customers see errors');
  });

  test.each(FORMS)('on %s refuses a stranger who wants to %s %s %s, and names the rule', async (...form) => {
    const [page, verb, target, query] = form;
    const { signIn, given, audited } = buttonWorld();
    const wendy = await signIn('user:wendy');
    expect(await (await wendy.get(page)).text()).not.toContain(`action="${toPath(verb, target)}"`);
    const preview = await wendy.get(`${toPath(verb, target)}?${query}`);
    expect(preview.status).toBe(403);
    const text = await preview.text();
    expect(text).toMatch(/Refused\..*(group:storage|group:sre)/s);
    expect(text).toContain('conveyor can user:wendy');
    const csrf = await readCsrf(wendy);
    const sent = await wendy.post(toPath(verb, target), {
      csrf,
      seen: '',
      reason: REASON,
      ...Object.fromEntries(new URLSearchParams(query)),
    });
    expect([sent.status, given]).toEqual([403, []]);
    expect(audited.at(-1)).toMatchObject({ operation: verb, actor: 'user:wendy', outcome: 'refused', reason: REASON });
  });

  test.each(FORMS)('on %s does nothing for %s %s %s without its token, or from elsewhere', async (...form) => {
    const [, verb, target, query] = form;
    const { signIn, given } = buttonWorld();
    const alice = await signIn('user:alice');
    const path = toPath(verb, target);
    const page = await (await alice.get(`${path}?${query}`)).text();
    const fields: Record<string, string> = { ...readConfirmFields(page), reason: REASON };
    const sends: readonly (readonly [Record<string, string>, Record<string, string | undefined>])[] = [
      [{ ...fields, csrf: '' }, {}],
      [{ ...fields, csrf: `${fields['csrf'] ?? ''}x` }, {}],
      [fields, { origin: 'https://evil.example' }],
      [fields, { 'sec-fetch-site': 'cross-site' }],
      [fields, { origin: undefined, 'sec-fetch-site': undefined }],
      [fields, { 'content-type': 'text/plain' }],
    ];
    for (const [body, headers] of sends) {
      const refused = await alice.post(path, body, headers);
      expect([refused.status, refused.headers.get('content-type')]).toEqual([403, 'text/html; charset=UTF-8']);
    }
    expect(given).toEqual([]);
  });
});

async function readCsrf(browser: Browser): Promise<string> {
  const page = await (await browser.get('/')).text();
  return /name="csrf" value="([^"]+)"/.exec(page)?.[1] ?? '';
}

const REVERT = FORMS[2]!;

describe('a page about a command', () => {
  test('says in numbers what would happen', async () => {
    const alice = await buttonWorld().signIn('user:alice');
    const page = await (await alice.get(`${DEPLOY}/commands/revert`)).text();
    expect(page).toContain('It stops 2 phases.');
    expect(page).toContain('It takes 7 tasks back to kv:12, in about 6s.');
    expect(page.replace(/<\/?span>/g, '')).toContain('conveyor revert kvstore/13/deploy --reason');
  });

  test('leads back to the page, which says what happened to the person who did it alone', async () => {
    const { signIn } = buttonWorld();
    const [alice, bob] = [await signIn('user:alice'), await signIn('user:bob')];
    const at = (await confirm(alice, REVERT)).headers.get('location') ?? '';
    expect(await (await alice.get(at)).text()).toMatch(/Done\.<\/b> <bdi>kvstore\/13\/deploy: it is so/);
    expect(await (await bob.get(at)).text()).not.toContain('Done.');
    expect(await (await alice.get(`${DEPLOY}?done=forged`)).text()).not.toContain('Done.');
  });

  test('needs a reason, and keeps what a person has typed', async () => {
    const { signIn, given } = buttonWorld();
    const alice = await signIn('user:alice');
    const missing = await confirm(alice, REVERT, { reason: '  ', notBad: 'true' });
    expect([missing.status, given]).toEqual([400, []]);
    expect(await missing.text()).toMatch(/Refused\..*name="notBad" value="true" checked/s);
    const long = await confirm(alice, REVERT, { reason: 'é'.repeat(600) });
    expect([long.status, given]).toEqual([413, []]);
    expect(await long.text()).toContain('é'.repeat(600));
  });

  test('sends its inputs', async () => {
    const { signIn, given } = buttonWorld();
    const alice = await signIn('user:alice');
    await confirm(alice, REVERT, { notBad: 'true' });
    await confirm(alice, FORMS[5]!, { check: 'latency', for: 'deploy' });
    expect(given.map(([, , input]) => input)).toMatchObject([{ notBad: true }, { check: 'latency', for: 'deploy' }]);
  });

  test('does nothing once the effect is another one, and shows that', async () => {
    let now: DeployStatus = running();
    const base = buttonWorld();
    const world = buttonWorld({ status: (id) => (id === now.id ? Promise.resolve(now) : readStatus(base, id)) });
    const alice = await world.signIn('user:alice');
    const fields = readConfirmFields(await (await alice.get(`${DEPLOY}/commands/skip-bake?phase=half`)).text());
    now = { ...now, phases: now.phases.map((one) => (one.name === 'half' ? { ...one, name: 'rest' } : one)) };
    world.clock.ms += 2_000;
    const stale = await alice.post(`${DEPLOY}/commands/skip-bake`, { ...fields, reason: REASON });
    expect([stale.status, world.given]).toEqual([409, []]);
    const page = await stale.text();
    expect(page).toMatch(/its effect is another one since you opened the form.*customers see errors/s);
    expect(
      (await alice.post(`${DEPLOY}/commands/skip-bake`, { ...readConfirmFields(page), reason: REASON })).status,
    ).toBe(303);
  });

  test('shows the refusal of the workflow in place', async () => {
    const refusal = conveyorError('invalid-state', { verb: 'revert', id: 'kvstore/13/deploy', why: 'it has ended' });
    const alice = await buttonWorld({ command: () => Promise.reject(refusal) }).signIn('user:alice');
    const refused = await confirm(alice, REVERT);
    expect([refused.status, await refused.text()]).toEqual([409, expect.stringMatching(/Refused\..*it has ended/s)]);
  });

  test('says that a command is not accepted now, and knows no other verbs and ids', async () => {
    const alice = await buttonWorld().signIn('user:alice');
    const refused = await alice.get(`${DEPLOY}/commands/resume`);
    expect([refused.status, await refused.text()]).toEqual([409, expect.stringContaining('does not accept this now')]);
    expect((await alice.get(`${DEPLOY}/commands/explode`)).status).toBe(404);
    expect((await alice.get('/releases/kvstore%2F13/1/commands/revert')).status).toBe(400);
  });

  test('leads a reader without a session to the sign-in, and takes no form of a program', async () => {
    const { app, given } = buttonWorld();
    const asked = await app.request(`https://conveyor.example.com${DEPLOY}/commands/revert`);
    expect([asked.status, asked.headers.get('location')]).toEqual([
      303,
      `/sign-in?to=${encodeURIComponent(`${DEPLOY}/commands/revert`)}`,
    ]);
    const headers = { authorization: 'Bearer dev:user:alice', 'content-type': 'application/x-www-form-urlencoded' };
    const sent = await app.request(`https://conveyor.example.com${DEPLOY}/commands/revert`, {
      ...{ method: 'POST', headers, body: `reason=${REASON}` },
    });
    expect([sent.status, given]).toEqual([403, []]);
    const page = await (await app.request(`https://conveyor.example.com${DEPLOY}`)).text();
    expect(page).toContain('to give commands here');
    expect(page).not.toContain('/commands/');
  });
});

const readStatus = async ({ app }: ReturnType<typeof buttonWorld>, id: string) =>
  (await (
    await app.request(`https://conveyor.example.com/${id.includes('/') ? 'releases' : 'pipelines'}/${id}.json`)
  ).json()) as never;

test.each(PAGE_ATTACKS)('a reason such as %j stays a text, or is refused', async (attack) => {
  const { signIn, given } = buttonWorld();
  const alice = await signIn('user:alice');
  const answer = await confirm(alice, REVERT, { reason: attack, notBad: 'true' });
  const page =
    answer.status === 303 ? await (await alice.get(answer.headers.get('location') ?? '')).text() : await answer.text();
  expect(page).not.toMatch(/<script>|<img|<svg onload|<\/textarea><b>|[\u202e\u001b]/);
  expect(given.map(([, , input]) => (input as { reason: string }).reason)).toEqual(
    answer.status === 303 ? [attack] : [],
  );
});

test.each(PAGE_ATTACKS)('an address with %j brings no text of a stranger into a page', async (attack) => {
  const alice = await buttonWorld().signIn('user:alice');
  const query = new URLSearchParams({ artifact: attack, user: attack, phase: attack, done: attack });
  const page = await (await alice.get(`/pipelines/kvstore/commands/allow-artifact?${query}`)).text();
  expect(page).not.toMatch(/alert\(|gnp|\[2J|<\/textarea>|[\u202e\u001b]/);
});

describe('the part of the first page for its reader', () => {
  const forYou = async (principal: string): Promise<string> => {
    const browser = await buttonWorld().signIn(principal);
    return /<section id="for-you".*?<\/section>/s.exec(await (await browser.get('/')).text())?.[0] ?? '';
  };

  test('has what the reader may answer: a pick, and a pipeline that is held', async () => {
    const mine = await forYou('user:alice');
    expect(mine).toContain('href="/releases/kvstore/13"');
    expect(mine).toContain('href="/pipelines/kvstore"');
  });

  test('has nothing for a person without rights, and is not there without a session', async () => {
    expect(await forYou('user:wendy')).toContain('Nothing waits for you.');
    const { app } = buttonWorld();
    expect(await (await app.request('https://conveyor.example.com/')).text()).not.toContain('For you');
  });
});

describe('a page that a browser keeps open', () => {
  const LIVE = { accept: 'text/event-stream', 'sec-fetch-mode': 'cors', 'sec-fetch-site': 'same-origin' };

  test('has the hash of its model, which its stream says too', async () => {
    const alice = await buttonWorld().signIn('user:alice');
    const page = await (await alice.get(DEPLOY)).text();
    const [, model = ''] = /name="conveyor-live" content="([^"]+)"/.exec(page) ?? [];
    const stream = await alice.get(DEPLOY, LIVE);
    expect([stream.status, stream.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8']);
    const reader = stream.body!.getReader();
    const first = Buffer.from((await reader.read()).value as Uint8Array).toString('utf8');
    expect(first).toContain(JSON.stringify({ model, spreadMs: 5 }));
    await reader.cancel();
  });

  test('is closed once its session is signed out, and is not opened for a stranger where reading needs a sign-in', async () => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
    const { signIn, app } = buttonWorld({}, { ...CONFIG, reads: 'authenticated' });
    const alice = await signIn('user:alice');
    const reader = (await alice.get(DEPLOY, LIVE)).body!.getReader();
    await reader.read();
    await alice.post('/sign-out', { csrf: await readCsrf(alice) });
    await jest.advanceTimersByTimeAsync(1_000);
    expect((await reader.read()).done).toBe(true);
    jest.useRealTimers();
    expect((await app.request(`https://conveyor.example.com${DEPLOY}`, { headers: LIVE })).status).toBe(401);
  });

  test('that does not exist has no stream', async () => {
    const alice = await buttonWorld().signIn('user:alice');
    expect((await alice.get('/pipelines/nowhere', LIVE)).status).toBe(404);
  });
});
