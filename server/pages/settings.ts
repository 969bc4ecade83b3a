import type { Context } from 'hono';
import { decideAudit } from '../../client/about';
import { withMember } from '../../domain/principals';
import { describeAccount, describeRights } from '../../domain/sessions/account';
import { formatTime } from '../../domain/text';
import type { SettingsModel } from '../../pages/models';
import { renderSettingsPage } from '../../pages/settings';
import { getBearerToken } from '../auth';
import type { Caller } from '../auth';
import { getReadPolicy } from '../deps';
import type { PageEnv } from '../sessions/viewer';
import { createPageRow, findReader, type PageSource } from './page';
import { listSettings } from './settingsFacts';

/** The reader's own page. A reader of the whole audit sees the settings in force, too. */
export const SETTINGS_PAGE = createPageRow({ link: 'You', paths: ['/settings', '/settings.json'] }, (source) => ({
  read: (c) => readSettings(c, source),
  render: renderSettingsPage,
}));

async function readSettings(c: Context, source: PageSource): Promise<SettingsModel> {
  const reads = getReadPolicy(source);
  const session = (c as Context<PageEnv>).get('session') ?? null;
  if (session === null && getBearerToken(c) === '')
    return {
      account: null,
      token: null,
      reads,
      settings: null,
      why: 'sign in: settings are for admins of the platform',
    };
  const caller = await findReader(c, source);
  const { policy, groups } = source.config;
  const facts = { policy, groups };
  const account = session === null ? describeRights(facts, caller) : describeAccount(facts, session);
  const { door, expiresAtMs } = caller;
  const token = { door, expiresAt: expiresAtMs === null ? null : formatTime(expiresAtMs) };
  const why = await whyNotSettings(source, caller);
  return { account, token, reads, settings: why === null ? listSettings(source) : null, why };
}

/** Null if the caller may see the settings. */
async function whyNotSettings(
  { config: { policy, groups }, client }: PageSource,
  { principal, groups: joins }: Caller,
): Promise<string | null> {
  const facts = { policy, groups: withMember(groups, principal, joins) };
  const decision = await decideAudit(client, facts, { who: { principal, door: 'api' } });
  return decision.allowed ? null : 'the settings in force are for platform.admins, like the whole audit';
}
