import { z } from 'zod';
import { NOTICE_LIMITS } from '../domain/limits';
import { PRINCIPAL } from '../domain/principals';
import type { Env } from './env';
import { readSecrets, secretVariables } from './secrets';

/** The buttons in messages of Slack: `slack` of conveyor.config.yaml. */
export interface SlackSettings {
  /** The signing secrets of the app; without any, no click is accepted. */
  readonly secrets: readonly string[];
  readonly secretEnvs: readonly string[];
  /** The token of the app's bot, which opens dialogs; null if this process lacks it. */
  readonly token: string | null;
  /** The principal of each user id of Slack. */
  readonly users: Readonly<Record<string, string>>;
  /** How the principals of all other users follow from their addresses; null if these are strangers. */
  readonly emails: SlackEmails | null;
}

/** Users of one workspace are known by the address that Slack has confirmed. */
export interface SlackEmails {
  /** The id of the workspace: others may give their users any address. */
  readonly team: string;
  readonly domains: readonly string[];
  /** `{email}` is the address, `{name}` its part before the @. */
  readonly principal: PrincipalTemplate;
}

const TEMPLATES = ['user:{email}', 'user:{name}'] as const;
type PrincipalTemplate = (typeof TEMPLATES)[number];

const person = z
  .string()
  .regex(PRINCIPAL, { error: 'expected a principal such as user:alice', abort: true })
  .refine((name) => name.startsWith('user:'), { error: 'a person clicks: name a user' });

const emails = z
  .strictObject({
    team: z.string().regex(/^T[A-Z0-9]{2,20}$/, { error: 'expected the id of a workspace, such as T012AB3CD' }),
    domains: z
      .array(z.string().regex(/^[a-z0-9-]+(\.[a-z0-9-]+)+$/, { error: 'expected a domain such as example.com' }))
      .min(1)
      .max(NOTICE_LIMITS.slackDomains.max),
    principal: z.enum(TEMPLATES).default('user:{email}'),
  })
  .refine(({ domains, principal }) => principal === 'user:{email}' || domains.length === 1, {
    error: 'one name at two domains may be two people: use user:{email}',
    path: ['principal'],
  });

/** The key of conveyor.config.yaml that this file handles. */
export const slackFields = {
  slack: z
    .strictObject({
      secretEnv: secretVariables,
      tokenEnv: secretVariables,
      users: z
        .record(
          z.string().regex(/^[UW][A-Z0-9]{2,20}$/, { error: 'expected the id of a user, such as U012AB3CD' }),
          person,
        )
        .optional(),
      emails: emails.optional(),
    })
    .refine((slack) => slack.users !== undefined || slack.emails !== undefined, {
      error: 'says who clicks: users by their ids, or emails',
    })
    .refine(({ users = {} }) => Object.keys(users).length <= NOTICE_LIMITS.slackUsers.max, {
      error: `${NOTICE_LIMITS.slackUsers.max} users at most`,
      path: ['users'],
    })
    .optional(),
};

interface SlackConfig {
  readonly slack?: z.output<typeof slackFields.slack>;
}

/** Null if the file has none. @throws ConveyorError `config-invalid` for a weak secret */
export function toSlack({ slack }: SlackConfig, env: Env, file: string): SlackSettings | null {
  if (slack === undefined) return null;
  const [token = null] = readSecrets(slack.tokenEnv, env, file);
  return {
    secrets: readSecrets(slack.secretEnv, env, file),
    secretEnvs: slack.secretEnv,
    token,
    users: slack.users ?? {},
    emails: slack.emails ?? null,
  };
}
