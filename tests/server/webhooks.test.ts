import { conveyorError } from '../../domain/errors';
import { applySubmission } from '../../domain/pipeline/submissions';
import type { FrontClient, FrontConfig } from '../../server/deps';
import { pipelineOf } from '../builders/pipelineWorld';
import {
  ACCESS,
  appOf,
  commit,
  FakePipelines,
  follows,
  githubDelivery,
  NOW_MS,
  pushOf,
  SECRET,
  sourceOf,
  standardDelivery,
  type GithubOptions,
  type StandardOptions,
} from '../builders/serverWorld';

const GITHUB = '/v1/webhooks/github';
const STANDARD = '/v1/webhooks/standard';

const withSecrets = (...secrets: string[]): FrontConfig['access'] => ({
  ...ACCESS,
  webhooks: {
    github: [sourceOf({ name: 'github', secrets, secretEnvs: ['G'] })],
    standard: [sourceOf({ name: 'standard', actor: 'service:webhook', secrets, secretEnvs: ['S'] })],
  },
});

describe('a push that GitHub delivers', () => {
  test('starts a release of every pipeline that follows the branch, and says which one first', async () => {
    const pipelines = new FakePipelines([
      follows('kvstore', 'acme/kvstore', 'main'),
      follows('as-code', 'acme/kvstore', 'main', 'code'),
      follows('other-branch', 'acme/kvstore', 'release'),
      follows('other-repository', 'acme/website', 'main'),
    ]);
    const response = await appOf(pipelines).request(GITHUB, githubDelivery(pushOf(1), { delivery: 'd-1' }));
    expect(response.status).toBe(202);
    expect(response.headers.get('location')).toBe('/v1/releases/kvstore/1');
    expect(await response.json()).toEqual({
      releases: [
        { id: 'kvstore/1', duplicate: false },
        { id: 'as-code/1', duplicate: false },
      ],
      awaiting: [],
      refused: [],
      left: 0,
    });
    expect(pipelines.submissions[1]).toEqual({
      pipeline: 'as-code',
      trigger: { kind: 'webhook', actor: 'service:github', key: expect.stringMatching(/^github:/) as string },
      artifacts: [
        {
          name: 'code',
          kind: 'source',
          version: commit(1),
          builtFrom: { repository: 'acme/kvstore', revision: commit(1) },
          metadata: { repository: 'acme/kvstore', branch: 'main', before: commit(0) },
        },
      ],
    });
  });

  test('is the same delivery under another id, which is not signed, also for a server that has started again', async () => {
    const pipelines = new FakePipelines();
    for (const delivery of ['d-1', 'd-2'])
      await appOf(pipelines).request(GITHUB, githubDelivery(pushOf(1), { delivery }));
    const keys = pipelines.submissions.map(({ trigger }) => trigger.key);
    expect(keys).toEqual([expect.stringMatching(/^github:[0-9a-f]{64}$/), keys[0]]);
  });

  test.each([
    ['three days ago', 3 * 24 * 3_600 - 1, 202],
    ['longer ago', 3 * 24 * 3_600 + 3_600, 401],
  ])('may be delivered again when it is of %s: %s', async (_when, seconds, status) => {
    const repository = { full_name: 'acme/kvstore', pushed_at: NOW_MS / 1000 - seconds };
    const pipelines = new FakePipelines();
    const response = await appOf(pipelines).request(GITHUB, githubDelivery(pushOf(1, { repository })));
    expect([response.status, pipelines.submissions.length]).toEqual([status, status === 202 ? 1 : 0]);
  });

  test('gets the same answer when it is delivered again, also a thousand times at once, and makes no second release', async () => {
    const pipelines = new FakePipelines();
    const app = appOf(pipelines);
    const send = async () => app.request(GITHUB, githubDelivery(pushOf(1), { delivery: 'd-1' }));
    const answers = await Promise.all(Array.from({ length: 1000 }, send));
    answers.push(await send());
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]));
    expect(new Set(answers.map(({ headers }) => headers.get('location')))).toEqual(new Set(['/v1/releases/kvstore/1']));
    expect(await answers.at(-1)!.json()).toMatchObject({ releases: [{ id: 'kvstore/1', duplicate: true }] });
    expect(pipelines.submissions).toHaveLength(1);
  });

  test('a commit that another delivery brought is the same release', async () => {
    const pipelines = new FakePipelines();
    const app = appOf(pipelines);
    for (const delivery of ['d-1', 'd-2']) await app.request(GITHUB, githubDelivery(pushOf(1), { delivery }));
    const third = await app.request(GITHUB, githubDelivery(pushOf(1), { delivery: 'd-3' }));
    expect(await third.json()).toMatchObject({ releases: [{ id: 'kvstore/1', duplicate: true }] });
    expect(third.headers.get('location')).toBe('/v1/releases/kvstore/1');
  });

  test('may come as a form, as hooks are set up by default', async () => {
    const form = new URLSearchParams({ payload: JSON.stringify(pushOf(1)) }).toString();
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    expect((await appOf().request(GITHUB, githubDelivery(form, { headers }))).status).toBe(202);
    expect((await appOf().request(GITHUB, githubDelivery(form))).status).toBe(202);
  });

  test('means what was signed, whatever the header says that it is: a message of a commit is no form', async () => {
    const forged = `&payload=${encodeURIComponent(JSON.stringify(pushOf(66)))}&`;
    const wip = { ...pushOf(2), ref: 'refs/heads/wip', head_commit: { message: forged } };
    const pipelines = new FakePipelines();
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    expect((await appOf(pipelines).request(GITHUB, githubDelivery(wip, { headers }))).status).toBe(204);
    expect(pipelines.submissions).toEqual([]);
  });

  test.each<[what: string, payload: object | string, options: GithubOptions, status: number, says?: RegExp]>([
    ['signed with another secret', pushOf(1), { secret: 'guess' }, 401, /does not match the body/],
    [
      'whose body was changed afterwards',
      pushOf(1),
      { headers: { 'x-hub-signature-256': `sha256=${'0'.repeat(64)}` } },
      401,
    ],
    ['without a signature', pushOf(1), { headers: { 'x-hub-signature-256': undefined } }, 401, /is missing/],
    ['with a signature of another form', pushOf(1), { headers: { 'x-hub-signature-256': 'sha1=00' } }, 401, /64 hex/],
    ['that is not JSON, and not signed either', 'not json', { secret: 'guess' }, 401],
    ['that is not JSON', 'not json', {}, 400, /not JSON/],
    ['that is no push', { hello: 1 }, {}, 400, /ref: .*after: .*repository: /],
    ['without an event', pushOf(1), { headers: { 'x-github-event': undefined } }, 400, /X-GitHub-Event/],
    ['larger than 1 MiB', pushOf(1, { commits: 'x'.repeat(1_048_577) }), {}, 413, /1 MiB/],
    ['just below 1 MiB', pushOf(1, { commits: 'x'.repeat(1_000_000) }), {}, 202],
    ['to a branch nobody follows', pushOf(1, { ref: 'refs/heads/wip' }), {}, 204],
    ['of a tag', pushOf(1, { ref: 'refs/tags/main' }), {}, 204],
    ['that deletes the branch', pushOf(1, { deleted: true, after: '0'.repeat(40) }), {}, 204],
    ['to a repository nobody follows', pushOf(1, { repository: { name: 'x', full_name: 'acme/x' } }), {}, 204],
  ])('%#: one %s is answered as such', async (_what, payload, options, status, says = /(?:)/) => {
    const pipelines = new FakePipelines();
    const response = await appOf(pipelines).request(GITHUB, githubDelivery(payload, options));
    expect(response.status).toBe(status);
    expect(await response.text()).toMatch(says);
    expect(pipelines.submissions).toHaveLength(status === 202 ? 1 : 0);
  });

  test.each(['ping', 'issues', 'registry_package'])('an event %s is none of ours: 204', async (event) =>
    expect((await appOf().request(GITHUB, githubDelivery({ zen: 'Keep it simple' }, { event }))).status).toBe(204),
  );

  test('is believed with the old and with the new secret while one replaces the other', async () => {
    const app = appOf(new FakePipelines(), { access: withSecrets('new', SECRET) });
    for (const secret of ['new', SECRET])
      expect((await app.request(GITHUB, githubDelivery(pushOf(1), { secret }))).status).toBe(202);
    expect((await app.request(GITHUB, githubDelivery(pushOf(1), { secret: 'older' }))).status).toBe(401);
  });

  test('is not believed by a server without a secret, which says what to set', async () => {
    const response = await appOf(new FakePipelines(), { access: withSecrets() }).request(
      GITHUB,
      githubDelivery(pushOf(1), { secret: '' }),
    );
    expect(response.status).toBe(503);
    expect(response.headers.get('retry-after')).toBe('5');
    expect(await response.json()).toMatchObject({
      error: { code: 'webhook-closed', hint: expect.stringMatching('set G') },
    });
  });

  test('lists the subscribers once for a burst, and again some seconds later', async () => {
    const pipelines = new FakePipelines();
    let nowMs = NOW_MS;
    const app = appOf(pipelines, { now: () => nowMs });
    await Promise.all([1, 2, 3, 4].map(async (n) => app.request(GITHUB, githubDelivery(pushOf(n)))));
    expect({ submissions: pipelines.submissions.length, listings: pipelines.listings }).toEqual({
      submissions: 4,
      listings: 1,
    });
    pipelines.subscribers.push(follows('late', 'acme/kvstore', 'main'));
    nowMs += 5_000;
    await app.request(GITHUB, githubDelivery(pushOf(5)));
    expect(pipelines.submissions.at(-1)).toMatchObject({ pipeline: 'late' });
  });
});

describe('a Standard Webhooks delivery', () => {
  const artifact = { kind: 'executable', version: 'kv:12' };
  const published = (data: object): object => ({ type: 'artifact.published', timestamp: '2026-11-20T12:00:00Z', data });
  const toSubscribers = published({ finder: 'latest-build', with: { target: '//kv:server' }, artifact });
  const subscribed = (): FakePipelines =>
    new FakePipelines([
      {
        pipeline: 'kv',
        subscribedAtMs: 0,
        subscriptions: [{ artifact: 'executable', with: { target: '//kv:server' } }],
      },
      { pipeline: 'web', subscribedAtMs: 0, subscriptions: [{ artifact: 'executable', with: { target: '//web' } }] },
    ]);

  test('reaches the subscribers of a publication', async () => {
    const pipelines = subscribed();
    const response = await appOf(pipelines).request(STANDARD, standardDelivery(toSubscribers, { id: 'msg-1' }));
    expect([response.status, response.headers.get('location')]).toEqual([202, '/v1/releases/kv/1']);
    expect(pipelines.submissions).toEqual([
      {
        pipeline: 'kv',
        artifacts: [{ name: 'executable', ...artifact, metadata: {} }],
        trigger: { kind: 'webhook', actor: 'service:webhook', key: 'standard:msg-1' },
      },
    ]);
  });

  test('under the id of another one is refused, and that keeps its answer', async () => {
    const pipelines = subscribed();
    const app = appOf(pipelines);
    const of = (version: string) =>
      published({ finder: 'latest-build', with: { target: '//kv:server' }, artifact: { version } });
    const send = (version: string) => app.request(STANDARD, standardDelivery(of(version), { id: 'one' }));
    expect((await send('1')).status).toBe(202);
    const other = await send('2');
    expect(other.status).toBe(409);
    expect(await other.json()).toMatchObject({
      error: { code: 'key-reused', message: expect.stringContaining('standard:one') },
    });
    expect((await send('1')).status).toBe(202);
    expect(pipelines.submissions).toHaveLength(1);
  });

  test('that comes before the one that it follows is released after that, though its commit has an older date', async () => {
    let state = pipelineOf(['deploy'], { artifacts: { executable: { finder: 'latest-build' } } });
    const submit: FrontClient['submit'] = (pipeline, artifacts, trigger) => {
      const { state: next, ...answer } = applySubmission(state, artifacts, trigger, NOW_MS);
      state = next;
      return Promise.resolve({ ...answer, id: `${pipeline}/${answer.number}` });
    };
    const app = appOf(subscribed(), { client: { ...subscribed().client, submit } });
    for (const [version, before, committed] of [
      ['a', 'z', 12],
      ['c', 'b', 10],
      ['b', 'a', 13],
    ] as const) {
      const metadata = { before, committedAt: `2026-11-20T${committed}:00:00Z`, pushedAt: '2026-11-20T13:00:00Z' };
      const data = { finder: 'latest-build', with: { target: '//kv:server' }, artifact: { version, metadata } };
      expect((await app.request(STANDARD, standardDelivery(published(data), { id: version }))).status).toBe(202);
    }
    expect(state).toMatchObject({ nextNumber: 4, inputs: { executable: { version: 'c' } } });
  });

  test('does not say when something was pushed, since that never goes back', async () => {
    const pipelines = subscribed();
    const metadata = { pushedAt: '2199-01-01T00:00:00Z', sequence: '7' };
    const data = { finder: 'latest-build', with: { target: '//kv:server' }, artifact: { ...artifact, metadata } };
    await appOf(pipelines).request(STANDARD, standardDelivery(published(data)));
    expect(pipelines.submissions[0]?.artifacts[0]?.metadata).toEqual({ sequence: '7' });
  });

  test('may be addressed to one pipeline by who owns it, and waits there for what is missing', async () => {
    const pipelines = new FakePipelines();
    const client = { ...pipelines.client, submit: () => Promise.resolve({ id: null, number: null, duplicate: false }) };
    const payload = published({ pipeline: 'kvstore', artifacts: [{ name: 'source', version: '12' }] });
    const response = await appOf(pipelines, { client }).request(STANDARD, standardDelivery(payload));
    expect([response.status, response.headers.get('location')]).toEqual([202, '/v1/pipelines/kvstore']);
    expect(await response.json()).toEqual({
      releases: [],
      awaiting: [{ pipeline: 'kvstore', artifacts: ['source', 'config'] }],
      refused: [],
      left: 0,
    });
  });

  test.each<[what: string, of: 'spec' | 'submit']>([
    ['that there is not', 'spec'],
    ['that ends at that moment', 'submit'],
  ])('addressed to a pipeline %s is none of ours: 204', async (_, of) => {
    const pipelines = new FakePipelines();
    const unknown = () => Promise.reject(conveyorError('unknown-pipeline', { pipeline: 'nothing' }));
    const payload = published({ pipeline: 'nothing', artifacts: [{ name: 'source', version: '12' }] });
    const app = appOf(pipelines, { client: { ...pipelines.client, submit: unknown, [of]: unknown } });
    expect((await app.request(STANDARD, standardDelivery(payload))).status).toBe(204);
  });

  test("is refused when it is addressed to another's pipeline", async () => {
    const pipelines = new FakePipelines();
    const client = { ...pipelines.client, spec: () => Promise.resolve({ owners: ['user:alice'] } as never) };
    const payload = published({ pipeline: 'kvstore', artifacts: [{ name: 'source', version: '12' }] });
    const response = await appOf(pipelines, { client }).request(STANDARD, standardDelivery(payload));
    expect(response.status).toBe(403);
    expect(pipelines.submissions).toEqual([]);
  });

  const KEY = Buffer.from('some thirty-two bytes of a secret');
  const WHSEC = `whsec_${KEY.toString('base64')}`;

  test.each<[what: string, options: StandardOptions, secrets: string[], status: number, says?: RegExp]>([
    ['signed with the secret as it stands', {}, [SECRET], 202],
    ['signed with a whsec_ secret', { keys: [KEY] }, [WHSEC], 202],
    [
      'signed with a whsec_ secret that the server has without its prefix',
      { keys: [KEY] },
      [KEY.toString('base64')],
      202,
    ],
    ['signed with several secrets of which we know one', { keys: ['other', SECRET] }, [SECRET], 202],
    ['signed with one of several that we know', { keys: ['new'] }, [SECRET, 'new'], 202],
    ['signed with another secret', { keys: ['guess'] }, [SECRET], 401, /no v1 signature .* matches the body/],
    ['signed with nothing, to a server whose secret holds nothing', { keys: [''] }, ['whsec_'], 401],
    ['signed for another id', { id: 'a', headers: { 'webhook-id': 'b' } }, [SECRET], 401],
    ['from just now, by a clock that is a little slow', { atMs: NOW_MS - 290_000 }, [SECRET], 202],
    ['from six minutes ago', { atMs: NOW_MS - 360_000 }, [SECRET], 401, /360 s away/],
    ['from six minutes ahead', { atMs: NOW_MS + 360_000 }, [SECRET], 401, /360 s away/],
    [
      'whose timestamp was renewed',
      { atMs: NOW_MS - 60_000, headers: { 'webhook-timestamp': String(NOW_MS / 1000) } },
      [SECRET],
      401,
    ],
    ['whose timestamp is not a number', { headers: { 'webhook-timestamp': 'now' } }, [SECRET], 401, /not a number/],
    ['without an id', { headers: { 'webhook-id': undefined } }, [SECRET], 401, /webhook-id is missing/],
    [
      'without a signature',
      { headers: { 'webhook-signature': undefined } },
      [SECRET],
      401,
      /webhook-signature is missing/,
    ],
    ['with a signature of another version only', { headers: { 'webhook-signature': 'v1a,AAAA' } }, [SECRET], 401],
  ])('%#: one %s is answered as such', async (_what, options, secrets, status, says = /(?:)/) => {
    const app = appOf(subscribed(), { access: withSecrets(...secrets) });
    const response = await app.request(STANDARD, standardDelivery(toSubscribers, options));
    expect(response.status).toBe(status);
    expect(await response.text()).toMatch(says);
  });

  test.each<[what: string, payload: object | string, status: number]>([
    ['of another type', { type: 'user.created', data: { id: 1 } }, 204],
    ['that nobody subscribes to', published({ finder: 'latest-build', with: { target: '//x' }, artifact }), 204],
    ['of a finder that nobody uses', published({ finder: 'weather', artifact }), 204],
    ['that is not JSON', 'x', 400],
    ['without a type', { data: {} }, 400],
    ['without a version', published({ finder: 'latest-build', artifact: { kind: 'executable' } }), 400],
    ['that says both', published({ finder: 'latest-build', artifact, pipeline: 'kv', artifacts: [] }), 400],
  ])('%#: one %s is answered as such', async (_what, payload, status) =>
    expect((await appOf(subscribed()).request(STANDARD, standardDelivery(payload))).status).toBe(status),
  );
});

describe('when something goes wrong on the way to the pipelines', () => {
  const both = () =>
    new FakePipelines([follows('one', 'acme/kvstore', 'main'), follows('two', 'acme/kvstore', 'main')]);
  const knownBad = conveyorError('known-bad', { artifact: 'source@1', pipeline: 'two', since: 'it was reverted' });
  const down = conveyorError('temporal-unreachable', { address: 'x:1', detail: 'refused' });
  const failing = (pipelines: FakePipelines, error: Error, which: string) => ({
    ...pipelines.client,
    submit: (...args: Parameters<typeof pipelines.client.submit>) =>
      args[0] === which ? Promise.reject(error) : pipelines.client.submit(...args),
  });

  test('a pipeline that refuses does not keep it from the others', async () => {
    const pipelines = both();
    const app = appOf(pipelines, { client: failing(pipelines, knownBad, 'two') });
    const response = await app.request(GITHUB, githubDelivery(pushOf(1)));
    expect(response.status).toBe(202);
    expect(await response.json()).toMatchObject({
      releases: [{ id: 'one/1' }],
      refused: [{ pipeline: 'two', code: 'known-bad' }],
    });
  });

  test('the only pipeline that is concerned may refuse, and says why', async () => {
    const pipelines = new FakePipelines([follows('two', 'acme/kvstore', 'main')]);
    const app = appOf(pipelines, { client: failing(pipelines, knownBad, 'two') });
    expect((await app.request(GITHUB, githubDelivery(pushOf(1)))).status).toBe(409);
  });

  test('a delivery that may be tried again is 503, and delivered again it is done once and for all', async () => {
    const pipelines = both();
    let client = failing(pipelines, down, 'two');
    const app = appOf(pipelines, { client: { ...client, submit: (...args) => client.submit(...args) } });
    const first = await app.request(GITHUB, githubDelivery(pushOf(1), { delivery: 'd-1' }));
    expect([first.status, first.headers.get('retry-after')]).toEqual([503, '5']);
    client = pipelines.client as typeof client;
    const second = await app.request(GITHUB, githubDelivery(pushOf(1), { delivery: 'd-1' }));
    expect(second.status).toBe(202);
    expect(await second.json()).toMatchObject({
      releases: [
        { id: 'one/1', duplicate: true },
        { id: 'two/1', duplicate: false },
      ],
    });
  });

  test('more pipelines than there is time for are left to the sweep of their finder, and the answer says so', async () => {
    let nowMs = NOW_MS;
    const pipelines = new FakePipelines(
      Array.from({ length: 40 }, (_, n) => follows(`p-${n}`, 'acme/kvstore', 'main')),
    );
    const client = {
      ...pipelines.client,
      submit: (...args: Parameters<typeof pipelines.client.submit>) => {
        nowMs += 1_000;
        return pipelines.client.submit(...args);
      },
    };
    const response = await appOf(pipelines, { client, now: () => nowMs }).request(GITHUB, githubDelivery(pushOf(1)));
    const { releases, left } = (await response.json()) as { releases: unknown[]; left: number };
    expect(response.status).toBe(202);
    expect(left).toBeGreaterThan(20);
    expect(releases.length + left).toBe(40);
  });
});
