import { auditEntry, type AuditEntry } from '../domain/audit/record';
import type { Door, OperationName } from '../domain/access/operations';
import { ConveyorError, type ErrorCode } from '../domain/errors';
import type { Verb } from '../domain/verbs';
import type { ConveyorClient } from './api';
import { CLIENT_OPERATIONS } from './operations';
import { callOperation, clientFromRows, type AnyRow, type Operations } from './operations/row';
import type { PermitListener } from './permissionGate';

/** The log of changes and refusals. */
export interface Audit {
  /** Checks that records can be written. @throws ConveyorError `audit-unwritable` */
  ready(): Promise<void>;
  /** Resolves once the entry is written or queued; never fails, because the command has already run. */
  record(entry: AuditEntry): Promise<void>;
}

/**
 * Operations that make things safer run even if they cannot be recorded: they do not wait for the disk, and are
 * recorded afterwards.
 */
export const URGENT: readonly (Verb | OperationName)[] = ['revert', 'cancel', 'pause', 'freeze', 'hold', 'report-bug'];

/**
 * A client that records changes and refusals, each as soon as its result is known. While records cannot be written, it
 * refuses operations that are not urgent: every changing operation also throws `audit-unwritable`. It wraps the guard,
 * to record its refusals and the rules by which it permits. Its caller must have authenticated the actor.
 */
export function auditClient(permitting: GuardedClientFactory, audit: Audit, door: Door): ConveyorClient {
  const reader = permitting(() => undefined);
  return {
    ...clientFromRows<Operations, AnyRow>(CLIENT_OPERATIONS, (row, name) => async (...args) => {
      if (row.audit === undefined) return callOperation(reader, name, args);
      const { actor, came, ...entry } = row.audit(...args);
      const operation = typeof row.access === 'function' ? row.access(...args) : row.access;
      let permitted: string | null = null;
      // Each operation has its own client, so this rule belongs to that operation.
      const client = permitting((rule) => void (permitted = rule));
      const about = () => ({ door, actor, operation, ...entry, permitted });
      return withAuditEntry(audit, about, () => callOperation(client, name, args), came);
    }),
    readiness: () => reader.readiness(),
    close: () => reader.close(),
  };
}

type GuardedClientFactory = (decided: PermitListener) => ConveyorClient;

type EntrySubject = Pick<AuditEntry, 'actor' | 'operation' | 'target'> & Partial<AuditEntry>;

/** Records a change or refusal. While records cannot be written, operations that are not urgent are refused. */
export async function withAuditEntry<T>(
  audit: Audit,
  about: () => EntrySubject & Pick<AuditEntry, 'door'>,
  run: () => Promise<T>,
  came: (done: T) => Partial<AuditEntry>,
): Promise<T> {
  const isUrgent = URGENT.some((one) => one === about().operation);
  if (!isUrgent) await audit.ready();
  let done: T;
  try {
    done = await run();
  } catch (error) {
    const written = audit.record(auditEntry({ ...about(), ...failureEntry(error) }));
    if (!isUrgent) await written;
    throw error;
  }
  const written = audit.record(auditEntry({ ...about(), outcome: 'accepted', ...came(done) }));
  if (!isUrgent) await written;
  return done;
}

/** An operation without an answer may have been carried out. */
function failureEntry(error: unknown): Pick<AuditEntry, 'outcome' | 'result'> {
  if (!(error instanceof ConveyorError)) return { outcome: 'unknown', result: `internal: ${String(error)}` };
  const isSilent = UNANSWERED.some((code) => code === error.code);
  return { outcome: isSilent ? 'unknown' : 'refused', result: `${error.code}: ${error.message}` };
}

const UNANSWERED: readonly ErrorCode[] = [
  'temporal-unreachable',
  'no-worker',
  'internal',
  'config-repository-unreachable',
];
