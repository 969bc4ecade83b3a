import { dirname, resolve } from 'node:path';
import { z } from 'zod';
import { conveyorError } from '../../domain/errors';
import { isAllowedHost } from '../../domain/notifyHost';
import { duration } from '../../domain/spec/scalars';
import type { Env } from '../env';
import { readSecrets, secretVariables } from '../secrets';
import { DAY_MS } from '../../domain/milliseconds';

/** The front end's record of changes and refusals: `audit` of conveyor.config.yaml. */
export interface AuditSettings {
  /** Absolute; its older files and its notes are in the same folder. */
  readonly file: string;
  /** How long files are kept after their last record, in ms. */
  readonly keepMs: number;
  /** The receiver of each record as a CloudEvent; null for none. */
  readonly events: { readonly url: string; readonly secrets: readonly string[] } | null;
}

/** The key of conveyor.config.yaml that this file handles. */
export const auditFields = {
  audit: z
    .strictObject({
      file: z
        .string()
        .regex(/^[^\0]{1,1000}\.jsonl$/, { error: 'expected a file such as /var/lib/conveyor/audit.jsonl' }),
      keep: duration.default(400 * DAY_MS),
      events: z
        .strictObject({
          url: z.url({ protocol: /^https?$/, error: 'expected a URL such as https://siem.example.org/events' }),
          keyEnv: secretVariables.optional(),
        })
        .optional(),
    })
    .refine(({ keep }) => keep >= DAY_MS, { path: ['keep'], error: 'a day at least: files hold a day each' })
    .optional(),
};

interface AuditConfig {
  readonly audit?: z.output<typeof auditFields.audit>;
  readonly egress?: { readonly allow: readonly string[] } | undefined;
}

/** @throws ConveyorError `config-invalid` for events to a host that egress.allow does not allow */
export function toAudit({ audit, egress }: AuditConfig, env: Env, file: string): AuditSettings | null {
  if (audit === undefined) return null;
  const { events } = audit;
  const host = events && new URL(events.url).hostname;
  if (host !== undefined && !isAllowedHost(host, egress?.allow ?? null)) {
    const detail = `audit.events goes to ${host}, which egress.allow does not list`;
    throw conveyorError('config-invalid', { file, detail });
  }
  return {
    file: resolve(dirname(file), audit.file),
    keepMs: audit.keep,
    events: events === undefined ? null : { url: events.url, secrets: readSecrets(events.keyEnv ?? [], env, file) },
  };
}
