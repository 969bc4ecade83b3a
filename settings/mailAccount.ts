import { z } from 'zod';
import { NOTICE_LIMITS } from '../domain/limits';

/** The mailbox of a receiver with the format `email`. */
export interface MailAccount {
  readonly from: string;
  readonly recipients: readonly string[];
  /** The name for which the key of the receiver is the password; undefined for a server that wants none. */
  readonly login?: string;
}

const mailbox = z.email({ error: 'expected an address such as storage@example.org' }).max(NOTICE_LIMITS.address.max);

export const mailFields = {
  from: mailbox.optional(),
  recipients: z.array(mailbox).min(1).max(NOTICE_LIMITS.recipients.max).optional(),
  login: z.string().min(1).max(NOTICE_LIMITS.address.max).optional(),
};

export interface GivenMail {
  readonly format?: string | undefined;
  readonly url?: string | undefined;
  readonly from?: string | undefined;
  readonly recipients?: readonly string[] | undefined;
  readonly login?: string | undefined;
  readonly keyEnv?: readonly string[] | undefined;
}

/** The mistake in the mailbox of a receiver. */
export function whyUnfitMail({ format, url, from, recipients, login, keyEnv }: GivenMail): string | undefined {
  const isMail = format === 'email';
  if (isMail !== (from !== undefined) || isMail !== (recipients !== undefined))
    return 'expected from and recipients with the format email, and no other';
  if (url !== undefined && isMail !== /^smtps?:/.test(url))
    return isMail ? 'expected a url such as smtps://mail.example.org' : 'expected a URL of http or https';
  if (!isMail && login !== undefined) return 'expected login with the format email, and no other';
  if (isMail && (login === undefined) !== (keyEnv === undefined))
    return 'expected login and keyEnv with the variable of its password, or neither';
  return undefined;
}

export const toMailAccount = ({ from, recipients, login }: GivenMail): MailAccount | undefined =>
  from === undefined || recipients === undefined
    ? undefined
    : { from, recipients, ...(login === undefined ? {} : { login }) };
