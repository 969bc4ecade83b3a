import { auditClient } from '../../client/auditClient';
import { guardClient } from '../../client/guard';
import type { AuditEntry } from '../../domain/audit/record';
import { createApp } from '../../server/app';
import type { FrontClient, ServerDeps } from '../../server/deps';
import { CONFIG } from './accessWorld';
import { pageWorld } from './pageWorld';
import { specOf } from './pipelineWorld';
import { Browser, Clock, FakeSignOuts, ORIGIN, server } from './sessionWorld';

/** A server with pages, sessions, rules and an audit; people sign in under any name. */
export function buttonWorld(
  over: Partial<FrontClient> = {},
  config: object = CONFIG,
  more: Partial<Pick<ServerDeps, 'pipelinePage'>> = {},
) {
  const [clock, signOuts] = [new Clock(), new FakeSignOuts()];
  const given: (readonly [string, string, object])[] = [];
  const { deps } = server({ clock, signOuts, devLogin: true, config });
  const { client: plain, pipelinePage } = pageWorld({
    spec: () => Promise.resolve({ ...specOf(), pipeline: 'kvstore', owners: ['group:storage'] }),
    command: (...call) => {
      given.push(call);
      return Promise.resolve({ id: call[0], accepted: true, effect: 'it is so' });
    },
    ...over,
  });
  const audited: Partial<AuditEntry>[] = [];
  const audit = {
    record: (entry: AuditEntry) => Promise.resolve(void audited.push(entry)),
    ready: () => Promise.resolve(),
  };
  const facts = () => ({ policy: deps.config.policy, groups: deps.config.groups });
  const client = auditClient((decided) => guardClient(plain as never, facts, 'api', decided), audit as never, 'api');
  const app = createApp({ ...deps, client, ...(pipelinePage ? { pipelinePage } : {}), ...more });
  const signIn = async (principal: string): Promise<Browser> => {
    const browser = new Browser({ app }, ORIGIN);
    const [, csrf = ''] = /name="csrf" value="([^"]+)"/.exec(await (await browser.get('/sign-in')).text()) ?? [];
    expect((await browser.post('/sign-in', { csrf, token: `dev:${principal}` })).status).toBe(303);
    return browser;
  };
  return { app, clock, given, audited, signIn, signOuts };
}

/** The hidden fields of the form that confirms a command. */
export function readConfirmFields(page: string): Record<string, string> {
  const [form = ''] = /<form id="confirm".*?<\/form>/s.exec(page) ?? [];
  const fields = [...form.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)];
  return Object.fromEntries(fields.map(([, name = '', value = '']) => [name, value]));
}
