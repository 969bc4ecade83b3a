import type { WebhookScope } from '../../domain/finder/scope';
import type { WebhookSource } from '../../settings/access';
import {
  ACCESS,
  appOf,
  FakePipelines,
  follows,
  githubDelivery,
  pushOf,
  sourceOf,
  standardDelivery,
} from '../builders/serverWorld';

const STANDARD = '/v1/webhooks/standard';
const GITHUB = '/v1/webhooks/github';
const artifact = { kind: 'executable', version: '12' };
const said = (data: object): object => ({ type: 'artifact.published', data });
const none: WebhookScope = { finders: [], pipelines: [] };

function attacked(sources: { github?: WebhookSource[]; standard?: WebhookSource[] }, pipelines = new FakePipelines()) {
  const lines: string[] = [];
  const access = { ...ACCESS, webhooks: { ...ACCESS.webhooks, ...sources } };
  return { app: appOf(pipelines, { access, log: (line) => void lines.push(line) }), lines, pipelines };
}

describe('a signed delivery', () => {
  /** A list of subscribers of `manual` has every manual pipeline, and none has anything in its `with`. */
  const manual = new FakePipelines();
  manual.index.subscriptions = async function* () {
    for (const pipeline of ['one', 'two', 'three', 'four'])
      yield { pipeline, subscribedAtMs: 0, subscriptions: [{ artifact: 'executable', with: {} }] };
  };

  test.each(['manual', 'pipeline-output', 'offer'])(
    'a source without the finder %s in its scope releases nothing in its name',
    async (finder) => {
      const { app, pipelines, lines } = attacked({}, manual);
      const response = await app.request(STANDARD, standardDelivery(said({ finder, with: {}, artifact })));
      expect(response.status).toBe(403);
      expect(await response.json()).toMatchObject({
        error: {
          code: 'not-in-scope',
          message: `the webhook source standard may not publish for the finder ${finder}`,
        },
      });
      expect(pipelines.submissions).toEqual([]);
      expect(lines).toEqual([`refused: the webhook source standard may not publish for the finder ${finder}`]);
      expect(await (await app.request('/metrics')).text()).toContain(
        'conveyor_webhook_out_of_scope_total{source="standard"} 1\n',
      );
    },
  );

  test('an event about nothing in particular matches no subscription, however vague', async () => {
    const { app, pipelines } = attacked({}, manual);
    const response = await app.request(STANDARD, standardDelivery(said({ finder: 'weather', with: {}, artifact })));
    expect([response.status, pipelines.submissions]).toEqual([204, []]);
  });
});

describe('a delivery for several sources', () => {
  const standard = [
    sourceOf({ name: 'builds', secrets: ['of builds'], scope: { ...none, finders: ['latest-build'] } }),
    sourceOf({ name: 'models', secrets: ['of models'], scope: { ...none, pipelines: ['kv-*'] } }),
  ];
  const owned = () => new FakePipelines([{ ...follows('kv', 'x', 'y'), subscriptions: [build] }]);
  const build = { artifact: 'executable', with: { target: '//kv' } };
  const published = said({ finder: 'latest-build', with: { target: '//kv' }, artifact });

  test('each says what it may, as itself, and does not take the ids of another', async () => {
    const { app, pipelines } = attacked({ standard }, owned());
    const signed = (key: string) => standardDelivery(published, { id: 'build-1', keys: [key] });
    expect((await app.request(STANDARD, signed('of models'))).status).toBe(403);
    expect((await app.request(STANDARD, signed('of builds'))).status).toBe(202);
    expect((await app.request(STANDARD, signed('of nobody'))).status).toBe(401);
    expect(pipelines.submissions.map(({ trigger }) => trigger)).toEqual([
      { kind: 'webhook', actor: 'service:builds', key: 'standard/builds:build-1' },
    ]);
  });

  test('one that may address a pipeline still has to be its owner', async () => {
    const { app } = attacked({ standard }, owned());
    const to = (pipeline: string) =>
      standardDelivery(said({ pipeline, artifacts: [{ name: 'a', version: '1' }] }), { keys: ['of models'] });
    const [listed, other] = [await app.request(STANDARD, to('kv-eu')), await app.request(STANDARD, to('web'))];
    expect([listed.status, other.status]).toEqual([403, 403]);
    expect(await listed.json()).toMatchObject({ error: { code: 'not-permitted' } });
    expect(await other.json()).toMatchObject({ error: { code: 'not-in-scope' } });
  });
});

describe('a push', () => {
  const github = [sourceOf({ name: 'acme', scope: { ...none, finders: ['commits'], repositories: ['acme/*'] } })];
  const push = (full_name: string) => githubDelivery(pushOf(1, { repository: { full_name, name: 'app' } }));
  const called = () => new FakePipelines([follows('short', 'app', 'main'), follows('full', 'acme/app', 'main')]);
  const releases = async (sources: WebhookSource[], full_name: string) => {
    const { app, pipelines } = attacked({ github: sources }, called());
    const { status } = await app.request(GITHUB, push(full_name));
    return { status, to: pipelines.submissions.map(({ pipeline }) => pipeline) };
  };

  test('a repository of the same name matches no subscription', async () => {
    expect(await releases(ACCESS.webhooks.github.slice(), 'attacker/app')).toEqual({ status: 204, to: [] });
    expect(await releases(github, 'attacker/app')).toEqual({ status: 403, to: [] });
  });

  test('reaches who leaves out the owner where the scopes leave only one', async () => {
    expect(await releases(github, 'acme/app')).toEqual({ status: 202, to: ['short', 'full'] });
    expect(await releases(ACCESS.webhooks.github.slice(), 'acme/app')).toEqual({ status: 202, to: ['full'] });
    const other = sourceOf({ name: 'other', scope: { ...none, finders: ['commits'], repositories: ['*/app'] } });
    const { app, pipelines } = attacked({ github, standard: [other] }, called());
    await app.request(GITHUB, push('acme/app'));
    expect(pipelines.submissions.map(({ pipeline }) => pipeline)).toEqual(['full']);
  });
});
