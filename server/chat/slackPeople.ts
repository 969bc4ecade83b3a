import { z } from 'zod';
import { NOTICE_LIMITS } from '../../domain/limits';
import { MINUTE_MS } from '../../domain/milliseconds';
import { principalFrom } from '../../settings/signIn';
import type { SlackEmails, SlackSettings } from '../../settings/slack';
import { callSlack, type SlackFetch } from './slackApi';

/** Slack waits for three seconds altogether. */
const LOOK_WITHIN_MS = 1_000;
/** A person whose account ends is out within that time. */
const KNOWN_FOR_MS = 10 * MINUTE_MS;

/** The relevant part of the answer of `users.info`. */
const userSchema = z.object({
  user: z.object({
    id: z.string(),
    team_id: z.string(),
    deleted: z.boolean().optional(),
    is_bot: z.boolean().optional(),
    is_stranger: z.boolean().optional(),
    is_email_confirmed: z.boolean().optional(),
    profile: z.object({ email: z.string().nullish() }),
  }),
});

/** The principal of a user of Slack, or why there is none. */
type SlackPerson = { readonly principal: string } | { readonly why: string };

/** Finds the principals of users of Slack: by the settings, or by the address that Slack has confirmed. */
export class SlackPeople {
  private readonly known = new Map<string, { readonly principal: string; readonly atMs: number }>();

  constructor(private readonly deps: SlackFetch & { now(): number }) {}

  async find({ users, emails, token }: SlackSettings, user: string): Promise<SlackPerson> {
    if (Object.hasOwn(users, user)) return { principal: users[user] ?? '' };
    if (emails === null || token === null) return { why: describeStranger(user) };
    const before = this.known.get(user);
    if (before !== undefined && this.deps.now() - before.atMs < KNOWN_FOR_MS) return before;
    this.known.delete(user);
    const call = { method: 'users.info', token, query: { user }, timeoutMs: LOOK_WITHIN_MS };
    const answer = userSchema.safeParse(await callSlack(this.deps, call));
    if (!answer.success) return { why: `Slack does not say just now who ${user} is: try again` };
    const email = findAddress(answer.data.user, user, emails);
    const principal = email && principalFrom(emails.principal, { email, name: email.slice(0, email.indexOf('@')) });
    if (principal === undefined) return { why: describeUnknownAddress(user, emails) };
    this.keep(user, principal);
    return { principal };
  }

  private keep(user: string, principal: string): void {
    const [oldest] = this.known.keys();
    if (oldest !== undefined && this.known.size >= NOTICE_LIMITS.slackPeople.max) this.known.delete(oldest);
    this.known.set(user, { principal, atMs: this.deps.now() });
  }
}

/** The address of a member of the workspace, if Slack has confirmed it. People of a shared channel belong to other workspaces, which give them any address. */
function findAddress(
  found: z.output<typeof userSchema>['user'],
  user: string,
  { team, domains }: SlackEmails,
): string | undefined {
  const isMember = found.id === user && found.team_id === team && found.is_stranger !== true;
  if (!isMember || found.deleted === true || found.is_bot === true || found.is_email_confirmed !== true)
    return undefined;
  const address = found.profile.email?.toLowerCase() ?? '';
  const [, domain = ''] = /^[^@]+@([^@]+)$/.exec(address) ?? [];
  return domains.includes(domain) ? address : undefined;
}

const describeStranger = (user: string): string =>
  `Conveyor does not know who ${user} is: an admin adds the id to slack.users of conveyor.config.yaml`;

const describeUnknownAddress = (user: string, { team, domains }: SlackEmails): string =>
  `Conveyor does not know who ${user} is: people of ${team} with a confirmed address at ${domains.join(' or ')} are known`;
