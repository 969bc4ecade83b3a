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
}

const person = z
  .string()
  .regex(PRINCIPAL, { error: 'expected a principal such as user:alice', abort: true })
  .refine((name) => name.startsWith('user:'), { error: 'a person clicks: name a user' });

/** The key of conveyor.config.yaml that this file handles. */
export const slackFields = {
  slack: z
    .strictObject({
      secretEnv: secretVariables,
      tokenEnv: secretVariables,
      users: z.record(
        z.string().regex(/^[UW][A-Z0-9]{2,20}$/, { error: 'expected the id of a user, such as U012AB3CD' }),
        person,
      ),
    })
    .refine(({ users }) => Object.keys(users).length <= NOTICE_LIMITS.slackUsers.max, {
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
    users: slack.users,
  };
}
