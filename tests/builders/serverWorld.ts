import { createHmac, randomUUID } from 'node:crypto';
import type { Artifact } from '../../domain/artifact';
import type { PipelineSubscriptions } from '../../domain/pipeline/pipelineIndex';
import type { Trigger } from '../../domain/views';
import type { WhereView } from '../../domain/where/view';
import { createApp } from '../../server/app';
import type { WebhookSource } from '../../settings/access';
import { DEFAULT_LIMITS, type FrontClient, type FrontConfig, type ServerDeps } from '../../server/deps';

export const SECRET = 'the secret';
export const TOKEN = 'the-token';
export const NOW_MS = Date.parse('2026-11-20T12:00:00Z');

/** The submissions to a fake pipeline. */
export interface Submitted {
  readonly pipeline: string;
  readonly artifacts: readonly Artifact[];
  readonly trigger: Trigger;
}

const foundNowhere = (asked: string): WhereView => ({
  ...{ kind: 'where', asked, revision: null, candidates: [], releases: [], total: 0, underWay: 0, succeeded: 0 },
  searched: { retentionMs: null, older: null, archive: null, repositories: [] },
});

/** Pipelines in memory that number their releases and recognise keys and artifacts, as the real ones do. */
export class FakePipelines {
  readonly submissions: Submitted[] = [];
  readonly calls: (readonly unknown[])[] = [];
  listings = 0;
  private readonly numbers = new Map<string, number>();
  private readonly keys = new Map<string, number>();

  constructor(readonly subscribers: PipelineSubscriptions[] = [follows('kvstore', 'acme/kvstore', 'main')]) {}

  /** Operations other than those of a front end fail a test that uses them. */
  readonly client: FrontClient = {
    submit: (pipeline, artifacts, trigger) => {
      this.submissions.push({ pipeline, artifacts, trigger });
      const versions = artifacts.map(({ name, version }) => `${name}@${version}`).join();
      const known = this.keys.get(`${pipeline} ${trigger.key}`) ?? this.keys.get(`${pipeline} ${versions}`);
      const number = known ?? (this.numbers.get(pipeline) ?? 0) + 1;
      this.numbers.set(pipeline, Math.max(number, this.numbers.get(pipeline) ?? 0));
      for (const key of [trigger.key, versions]) this.keys.set(`${pipeline} ${key}`, number);
      return Promise.resolve({ id: `${pipeline}/${number}`, number, duplicate: known !== undefined });
    },
    release: (...call) => {
      this.calls.push(['release', ...call]);
      const [pipeline, , { key }] = call;
      const duplicate =
        this.calls.filter(([, , , trigger]) => key !== null && (trigger as Trigger).key === key).length > 1;
      return Promise.resolve({ id: `${pipeline}/7`, number: 7, duplicate });
    },
    push: (...call) => {
      this.calls.push(['push', ...call]);
      return Promise.resolve({ id: `${call[0]}/9`, number: 9, duplicate: false, approvals: 1 });
    },
    apply: (...call) => {
      this.calls.push(['apply', ...call]);
      return Promise.resolve({ created: true, previous: null });
    },
    importPipeline: (...call) => {
      this.calls.push(['importPipeline', ...call]);
      return Promise.resolve({ created: true, previous: null });
    },
    exportPipeline: (pipeline) => Promise.resolve({ kind: 'conveyor.pipeline', pipeline } as never),
    logs: (...call) => {
      this.calls.push(['logs', ...call]);
      return Promise.resolve({ id: call[0], attempt: call[1] ?? 1, ended: true, runs: [] });
    },
    rerun: (...call) => {
      this.calls.push(['rerun', ...call]);
      return Promise.resolve({ id: `${call[0]}/8`, number: 8, duplicate: false });
    },
    command: (...call) => {
      this.calls.push(['command', ...call]);
      return Promise.resolve({ id: call[0], accepted: true, effect: 'it is so' });
    },
    status: (id) => Promise.resolve({ id, kind: 'pipeline', inputs: [] } as never),
    spec: () => Promise.resolve({ owners: ['service:webhook'], artifacts: { source: {}, config: {} } } as never),
    history: (pipeline) => Promise.resolve([{ id: `${pipeline}/7` }] as never),
    reportBug: (report, actor) => {
      this.calls.push(['reportBug', report, actor]);
      return Promise.resolve({ id: 'bug/7', ...report } as never);
    },
    closeBug: (close, actor) => {
      this.calls.push(['closeBug', close, actor]);
      return Promise.resolve({ id: close.id } as never);
    },
    listBugs: () => Promise.resolve([{ id: 'bug/7', target: '//lib:rpc' } as never]),
    lookNow: (run) => {
      this.calls.push(['lookNow', run]);
      return Promise.resolve('looks');
    },
    readiness: () =>
      Promise.resolve((['temporal', 'worker'] as const).map((name) => ({ name, ok: true, detail: 'answers' }))),
    listReleases: (query) => {
      this.calls.push(['listReleases', query]);
      return Promise.resolve([]);
    },
    listDeploys: (query) => {
      this.calls.push(['listDeploys', query]);
      return Promise.resolve([]);
    },
    freshness: () => Promise.resolve({ at: '2026-12-27T06:00:00.000Z', weekly: 0.5, tickets: null, pipelines: [] }),
    where: (query) => {
      this.calls.push(['where', query]);
      return Promise.resolve(foundNowhere(query.revision));
    },
    listFinders: () => Promise.resolve([{ id: 'commits', kind: 'finder', state: 'answers' } as never]),
    listOffers: () => Promise.resolve({ offers: [], more: 0, unread: [], unasked: 0 }),
    offers: (id) => Promise.resolve({ id, kind: 'offers', offers: [], changes: [] }),
    listPipelines: (query) => {
      this.calls.push(['listPipelines', query]);
      return Promise.resolve([]);
    },
  };

  readonly index: ServerDeps['index'] = {
    subscriptions: (finder) => {
      this.listings += 1;
      const found = finder === 'commits' || finder === 'latest-build' ? this.subscribers : [];
      return (async function* () {
        yield* found;
      })();
    },
  };
}

export const follows = (
  pipeline: string,
  repository: string,
  branch: string,
  artifact = 'source',
): PipelineSubscriptions => ({
  pipeline,
  subscribedAtMs: 0,
  subscriptions: [{ artifact, with: { repository, branch } }],
});

export const sourceOf = (over: Partial<WebhookSource> & Pick<WebhookSource, 'name'>): WebhookSource => ({
  ...{ actor: `service:${over.name}`, secrets: [SECRET], secretEnvs: [], scope: null },
  ...over,
});

export const ACCESS: FrontConfig['access'] = {
  tokens: [{ principal: 'service:ci', token: TOKEN }],
  reads: null,
  webhooks: {
    github: [sourceOf({ name: 'github', actor: 'service:github', secretEnvs: ['G'] })],
    standard: [sourceOf({ name: 'standard', actor: 'service:webhook', secretEnvs: ['S'] })],
  },
  pagers: {},
  unset: [],
};

type Given = Partial<ServerDeps> & Partial<FrontConfig>;

export const appOf = (pipelines = new FakePipelines(), given: Given = {}): ReturnType<typeof createApp> =>
  createApp(serverDeps(pipelines, given));

export function serverDeps(
  pipelines = new FakePipelines(),
  {
    access = ACCESS,
    callbacks = null,
    groups = {},
    policy = null,
    issuers = [],
    configRepositories = [],
    slack = null,
    sessions = { url: null, secrets: [], unset: [] },
    ...over
  }: Given = {},
): ServerDeps {
  return {
    client: pipelines.client,
    index: pipelines.index,
    pipelinePage: () => Promise.resolve({ pipelines: [], next: null, total: 0 }),
    config: { access, callbacks, groups, policy, issuers, configRepositories, sessions, slack },
    copies: '/nowhere',
    reads: 'open',
    limits: DEFAULT_LIMITS,
    now: () => NOW_MS,
    log: () => undefined,
    isDraining: () => false,
    ...over,
  };
}

export const commit = (n: number): string => `c${n.toString(16).padStart(39, '0')}`;

export const pushOf = (n: number, over: object = {}): object => ({
  ref: 'refs/heads/main',
  before: commit(0),
  after: commit(n),
  deleted: false,
  repository: { id: 1, name: 'kvstore', full_name: 'acme/kvstore', private: true },
  pusher: { name: 'alice' },
  head_commit: { id: commit(n), message: 'Make it faster' },
  ...over,
});

export interface GithubOptions {
  readonly event?: string;
  readonly delivery?: string;
  readonly secret?: string;
  readonly headers?: Readonly<Record<string, string | undefined>>;
}

/** A delivery as GitHub sends it; a header that is undefined is left out. */
export function githubDelivery(payload: object | string, options: GithubOptions = {}): RequestInit {
  const body = typeof payload === 'string' ? payload : JSON.stringify(payload);
  return {
    method: 'POST',
    body,
    headers: withoutMissing({
      'content-type': 'application/json',
      'x-github-event': options.event ?? 'push',
      'x-github-delivery': options.delivery ?? randomUUID(),
      'x-hub-signature-256': `sha256=${createHmac('sha256', options.secret ?? SECRET)
        .update(body)
        .digest('hex')}`,
      ...options.headers,
    }),
  };
}

export interface StandardOptions {
  readonly id?: string;
  readonly atMs?: number;
  readonly keys?: readonly (string | Buffer)[];
  readonly headers?: Readonly<Record<string, string | undefined>>;
}

/** A Standard Webhooks delivery, signed with each of the keys. */
export function standardDelivery(payload: object | string, options: StandardOptions = {}): RequestInit {
  const body = typeof payload === 'string' ? payload : JSON.stringify(payload);
  const id = options.id ?? randomUUID();
  const timestamp = String(Math.floor((options.atMs ?? NOW_MS) / 1000));
  const signatures = (options.keys ?? [SECRET]).map(
    (key) => `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`,
  );
  return {
    method: 'POST',
    body,
    headers: withoutMissing({
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': timestamp,
      'webhook-signature': signatures.join(' '),
      ...options.headers,
    }),
  };
}

const withoutMissing = (headers: Readonly<Record<string, string | undefined>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
