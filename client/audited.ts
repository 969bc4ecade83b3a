import { auditEntry, type AuditEntry } from '../domain/audit/record';
import type { Door, OperationName } from '../domain/access/operations';
import { ConveyorError, type ErrorCode } from '../domain/errors';
import type { Verb } from '../domain/verbs';
import type { ConveyorClient } from './api';
import { CLIENT_OPERATIONS } from './operations';
import { callOperation, clientFromRows, type AnyRow, type Operations } from './operations/row';
import type { Decided } from './permissionGate';

/** Where changes and refusals are written down. */
export interface Audit {
  /** Whether something can be written. @throws ConveyorError `audit-unwritable` */
  ready(): Promise<void>;
  /** Resolves once it is on record, or will be; never fails, since the command was carried out. */
  record(entry: AuditEntry): Promise<void>;
}

/** Operations that make things safer run even if they cannot be recorded: it waits for no disk, and is on record afterwards. */
export const URGENT: readonly (Verb | OperationName)[] = ['revert', 'cancel', 'pause', 'freeze', 'hold', 'report-bug'];

/**
 * A client that puts on record what it changes, and what is refused, once it is known which of them it was. While nothing can be written,
 * whatever is not urgent is refused before it is done: every operation that changes something also throws `audit-unwritable`.
 * It goes around the guard, whose refusals it records, and which says by which rule it lets something through. The door has to know that the actor is who they say.
 */
export function audited(permitting: Permitting, audit: Audit, door: Door): ConveyorClient {
  const reader = permitting(() => undefined);
  return {
    ...clientFromRows<Operations, AnyRow>(CLIENT_OPERATIONS, (row, name) => async (...args) => {
      if (row.audit === undefined) return callOperation(reader, name, args);
      const { actor, came, ...entry } = row.audit(...args);
      const operation = typeof row.access === 'function' ? row.access(...args) : row.access;
      let permitted: string | null = null;
      // Each operation has a client of its own, so this sees only that operation.
      const client = permitting((rule) => void (permitted = rule));
      const about = () => ({ door, actor, operation, ...entry, permitted });
      return withAuditEntry(audit, about, () => callOperation(client, name, args), came);
    }),
    readiness: () => reader.readiness(),
    close: () => reader.close(),
  };
}

type Permitting = (decided: Decided) => ConveyorClient;

type EntrySubject = Pick<AuditEntry, 'actor' | 'operation' | 'target'> & Partial<AuditEntry>;

/** Puts on record what is done or refused; what is not urgent is refused while nothing can be written. */
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

/** Who was asked and did not answer may have done it. */
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
