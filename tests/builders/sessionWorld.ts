import { Hono } from 'hono';
import type { SignOuts } from '../../client/signOuts';
import type { AuditEntry } from '../../domain/audit/record';
import { conveyorError } from '../../domain/errors';
import { answerFailure } from '../../server/failures';
import { RequestGate } from '../../server/gate';
import { Identities } from '../../server/identity';
import { createSessions } from '../../server/sessions';
import type { PageEnv } from '../../server/sessions/viewer';
import { parseRegistry } from '../../settings/registry';
import type { LinkSignIn } from '../../settings/signInLink';
import { CLIENT_SECRET, type FakeProvider } from './fakeProvider';
import { FakePipelines, serverDeps } from './serverWorld';

export const ORIGIN = 'https://conveyor.example.com';
export const LOCAL = 'http://localhost:4500';
export const [SECRET, OLD_SECRET] = ['a secret of sessions, long enough', 'the secret before it, long enough'];
export const CI_TOKEN = 'the token of CI, which is long enough';

/** The clock of servers and of their provider. */
export class Clock {
  ms = Date.now();
  readonly now = (): number => this.ms;
}

/** Temporal, as far as sign-outs are concerned: it outlives servers, and all of them see it. */
export class FakeSignOuts implements SignOuts {
  readonly runs = new Map<string, string>();
  isAway = false;
  finds = 0;

  find(workflowId: string): Promise<string | null> {
    this.finds += 1;
    return this.isAway ? Promise.reject(away()) : Promise.resolve(this.runs.get(workflowId) ?? null);
  }

  record(workflowId: string): Promise<string> {
    if (this.isAway) return Promise.reject(away());
    const run = `run-${this.runs.size}-${Math.random()}`;
    this.runs.set(workflowId, run);
    return Promise.resolve(run);
  }
}

const away = () => conveyorError('temporal-unreachable', { address: 'temporal:7233', detail: 'connection refused' });

interface Given {
  readonly clock: Clock;
  readonly signOuts: FakeSignOuts;
  readonly provider?: FakeProvider;
  /** Merged into the configuration. */
  readonly config?: object;
  readonly env?: Record<string, string>;
  readonly devLogin?: boolean;
  readonly linkSignIn?: LinkSignIn;
}

export const signInOf = ({ issuer }: FakeProvider, more: object = {}) => ({
  ...{ issuer, groups: 'groups', pages: { client: 'conveyor', secretEnv: 'OIDC_SECRET' } },
  ...more,
});

/** One server: the routes of sessions, and a page with a form. */
export function server({ clock, signOuts, provider, config = {}, env = {}, ...more }: Given) {
  const registry = parseRegistry(
    {
      sessions: { url: ORIGIN, secretEnv: ['NEW', 'OLD'] },
      reads: 'open',
      ...(provider ? { signIn: [signInOf(provider)] } : {}),
      ...config,
    },
    { NEW: SECRET, OIDC_SECRET: CLIENT_SECRET, CI: CI_TOKEN, ...env },
  );
  const records: AuditEntry[] = [];
  const [record, log] = [(entry: AuditEntry) => Promise.resolve(void records.push(entry)), [] as string[]];
  const { access, callbacks, groups, policy, issuers, configRepositories, sessions: settings } = registry;
  const deps = serverDeps(new FakePipelines(), {
    ...{ access, callbacks, groups, policy, issuers, configRepositories, sessions: settings, ...more },
    ...{ now: clock.now, identities: new Identities(() => registry.issuers, clock.now), signOuts },
    log: (line) => void log.push(line),
    audit: { record, recordAnonymous: record, ready: () => Promise.resolve() } as never,
  });
  const gate = new RequestGate({ inFlight: 4, waiting: 16, waitMs: 8_000 });
  const sessions = createSessions({ ...deps, signOuts }, gate);
  const app = new Hono<PageEnv>();
  const changes: string[] = [];
  app.route('/', sessions.routes);
  app.use('/page', sessions.viewer, sessions.forms);
  app.get('/page', (c) => c.json({ viewer: c.get('viewer'), groups: c.get('caller')?.groups ?? null }));
  app.post('/page', (c) => {
    changes.push(`${c.get('viewer')?.principal} ${c.get('form')?.get('verb')}`);
    return c.text('done');
  });
  app.onError((error, c) => answerFailure(c, error));
  return { app, deps, records, log, changes };
}

/** An app, in as much as a browser sees it. */
export interface TestServer {
  readonly app: Pick<Hono, 'request'>;
}

/** A browser with cookies of one origin. */
export class Browser {
  readonly cookies = new Map<string, string>();

  constructor(
    public at: TestServer,
    readonly origin = ORIGIN,
  ) {}

  get(path: string, headers: Record<string, string> = {}): Promise<Response> {
    return this.send(path, { headers });
  }

  /** Sends a form of a page of this origin. */
  post(path: string, fields: Record<string, string>, headers: Record<string, string | undefined> = {}) {
    const own = { origin: this.origin, 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'navigate', ...headers };
    const kept = Object.entries(own).filter((each): each is [string, string] => each[1] !== undefined);
    return this.send(path, { method: 'POST', body: new URLSearchParams(fields), headers: Object.fromEntries(kept) });
  }

  /** Goes to the provider and comes back as this person. @returns the answer of the server to the provider's answer */
  async signIn(provider: FakeProvider, person: string, to = '/page'): Promise<Response> {
    return this.get(await this.leaveFor(provider, person, to));
  }

  /** The path of the provider's answer, to which the browser does not go yet. */
  async leaveFor(provider: FakeProvider, person: string, to = '/page'): Promise<string> {
    const begun = await this.get(`/sign-in?to=${encodeURIComponent(to)}`);
    expect(begun.status).toBe(302);
    return provider.authorize(begun.headers.get('location') ?? '', person).slice(this.origin.length);
  }

  async viewer(headers: Record<string, string> = {}) {
    const answer = await this.get('/page', headers);
    expect(answer.status).toBe(200);
    return (await answer.json()) as {
      viewer: { principal: string; csrf: string; until: string } | null;
      groups: string[] | null;
    };
  }

  async principal(): Promise<string | null> {
    return (await this.viewer()).viewer?.principal ?? null;
  }

  async signOut(path = '/sign-out'): Promise<Response> {
    return this.post(path, { csrf: (await this.viewer()).viewer?.csrf ?? '' });
  }

  /** Another browser with the same cookies, as a thief of them has. */
  copy(at: TestServer = this.at): Browser {
    const copy = new Browser(at, this.origin);
    for (const [name, value] of this.cookies) copy.cookies.set(name, value);
    return copy;
  }

  private async send(path: string, init: RequestInit): Promise<Response> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers = { ...(init.headers as Record<string, string>), ...(cookie === '' ? {} : { cookie }) };
    const answer = await this.at.app.request(`${this.origin}${path}`, { ...init, headers });
    for (const line of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (/max-age=0/i.test(line)) this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    return answer;
  }
}
