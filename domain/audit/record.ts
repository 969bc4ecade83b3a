import { changesBetween } from '../changes';
import type { Door, OperationName } from '../access/operations';
import { AUDIT_LIMITS } from '../limits';
import { cutText } from '../size';

/** Events in the audit other than operations of callers: actions of the server, or requests of unknown callers. */
export type AuditEvent = 'come-in' | 'sign-in' | 'sign-out' | 'refusals' | 'configure' | 'audit';

export const AUDIT_OUTCOMES = ['accepted', 'refused', 'unknown'] as const;

/** A change, or the refusal of one. */
export interface AuditEntry {
  /** The authenticated actor; null if the caller was anonymous or not trusted. */
  readonly actor: string | null;
  readonly door: Door | 'server';
  readonly operation: OperationName | AuditEvent;
  /** An id, or a description if there is none. */
  readonly target: string;
  readonly reason: string | null;
  /**
   * The rule that allowed it, as a place in the configuration, or a description; null if the platform did not decide,
   * or refused.
   */
  readonly permitted: string | null;
  /** Unknown: the workflow did not answer and may have carried it out. */
  readonly outcome: (typeof AUDIT_OUTCOMES)[number];
  /** The result: a release, or one sentence; for a refusal, its code and message. */
  readonly result: string | null;
  /** SHA-256 in hexadecimal of a spec or a configuration; null if there was none, or none was read. */
  readonly before: string | null;
  readonly after: string | null;
  readonly changes: readonly AuditChange[];
  /** The number of further changes. */
  readonly omitted: number;
}

/** One difference, as JSON; null for an absent value. */
export interface AuditChange {
  readonly path: string;
  readonly from: string | null;
  readonly to: string | null;
}

/** An entry in its place in a chain. */
export interface AuditRecord extends AuditEntry {
  /** 1 for the first of a chain. */
  readonly seq: number;
  /** RFC 3339, UTC. */
  readonly at: string;
  /** The server that wrote it. */
  readonly server: string;
  /** The hash of the record before; empty for the first. */
  readonly prev: string;
  readonly hash: string;
}

/** An entry with only the required fields. */
export const auditEntry = (
  given: Pick<AuditEntry, 'actor' | 'door' | 'operation' | 'target' | 'outcome'> & Partial<AuditEntry>,
): AuditEntry => ({
  ...{ reason: null, permitted: null, result: null, before: null, after: null, changes: [], omitted: 0 },
  ...given,
});

/** The difference, as far as a record has room for it. */
export function auditChanges(before: unknown, after: unknown): Pick<AuditEntry, 'changes' | 'omitted'> {
  const all = changesBetween(before ?? {}, after ?? {});
  const { changes, value, path: name } = AUDIT_LIMITS;
  const shown = all.slice(0, changes.max).map(({ path, from, to }) => ({
    path: cutText(path, name.max),
    from: from === undefined ? null : cutText(JSON.stringify(from), value.max),
    to: to === undefined ? null : cutText(JSON.stringify(to), value.max),
  }));
  return { changes: shown, omitted: all.length - shown.length };
}

/** Texts come from callers, so each is cut to its maximum length. */
export const truncateEntry = (entry: AuditEntry): AuditEntry => ({
  ...entry,
  actor: cutOr(entry.actor, AUDIT_LIMITS.actor.max),
  target: cutText(entry.target, AUDIT_LIMITS.target.max),
  reason: cutOr(entry.reason, AUDIT_LIMITS.reason.max),
  result: cutOr(entry.result, AUDIT_LIMITS.result.max),
});

const cutOr = (text: string | null, bytes: number): string | null => (text === null ? null : cutText(text, bytes));
