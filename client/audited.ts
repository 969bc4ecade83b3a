import { createHash } from 'node:crypto';
import { canonicalJson } from '../domain/audit/chain';
import { auditChanges, auditEntry, type AuditEntry } from '../domain/audit/record';
import type { Door, OperationName } from '../domain/access/operations';
import { releaseId } from '../domain/ids';
import { ConveyorError, type ErrorCode } from '../domain/errors';
import type { PipelineSpec } from '../domain/spec/pipeline';
import type { Verb } from '../domain/verbs';
import type { ConveyorClient, PipelineApplied } from './api';
import { reads } from './guard';
import type { Decided } from './permissionGate';

/** Where changes and refusals are written down. */
export interface Audit {
  /** Whether something can be written. @throws ConveyorError `audit-unwritable` */
  ready(): Promise<void>;
  /** Resolves once it is on record, or will be; never fails, since the command was carried out. */
  record(entry: AuditEntry): Promise<void>;
}

/** What makes things safer is done whether or not it can be written down: it waits for no disk, and is on record afterwards. */
export const URGENT: readonly (Verb | OperationName)[] = ['revert', 'cancel', 'pause', 'freeze', 'hold', 'report-bug'];

/**
 * A client that puts on record what it changes, and what is refused, once it is known which of them it was. While nothing can be written,
 * whatever is not urgent is refused before it is done: every operation that changes something also throws `audit-unwritable`.
 * It goes around the guard, whose refusals it records, and which says by which rule it lets something through. The door has to know that the actor is who they say.
 */
export function audited(permitting: Permitting, audit: Audit, door: Door): ConveyorClient {
  const on = recording(permitting, audit, door);
  return {
    ...reads(permitting(() => undefined)),
    apply: (spec, actor) =>
      on({ actor, operation: 'apply', target: spec.pipeline }, (client) => client.apply(spec, actor), appliedAs(spec)),
    importPipeline: (document, actor) =>
      on(
        { actor, operation: 'import', target: document.pipeline },
        (client) => client.importPipeline(document, actor),
        appliedAs(document.spec),
      ),
    release: (pipeline, artifacts, trigger) =>
      on(
        { actor: trigger.actor, operation: 'release', target: pipeline, ...versionChanges(artifacts) },
        (client) => client.release(pipeline, artifacts, trigger),
        startedEntry,
      ),
    submit: (pipeline, artifacts, trigger) =>
      on(
        { actor: trigger.actor, operation: 'submit', target: pipeline, ...versionChanges(artifacts) },
        (client) => client.submit(pipeline, artifacts, trigger),
        startedEntry,
      ),
    push: (pipeline, action, artifacts, push) =>
      on(
        { actor: push.actor, operation: 'push', target: pipeline, ...versionChanges(artifacts), reason: push.reason },
        (client) => client.push(pipeline, action, artifacts, push),
        startedEntry,
      ),
    rerun: (pipeline, number, rerun) =>
      on(
        {
          ...{ actor: rerun.actor, operation: 'rerun', target: releaseId(pipeline, number) },
          reason: rerun.reason ?? null,
        },
        (client) => client.rerun(pipeline, number, rerun),
        startedEntry,
      ),
    ...auditedBugs(on),
    command: (id, verb, input) => {
      const {
        actor = null,
        reason = null,
        action,
        actor: _actor,
        reason: _reason,
        permitted: _permitted,
        vouched: _vouched,
        ...how
      } = input;
      const target = action === undefined ? id : `${id}/${action}`;
      return on(
        { actor, operation: verb, target, reason, ...auditChanges({}, how) },
        (client) => client.command(id, verb, input),
        (receipt) => ({
          ...{ target: action === undefined ? receipt.id : target, result: receipt.effect },
        }),
      );
    },
  };
}

/** Of a report what has the bug; of a closing which bug it is. */
const auditedBugs = (on: Recording): Pick<ConveyorClient, 'reportBug' | 'closeBug'> => ({
  reportBug: (report, actor) => {
    const { target, reason, from, to } = report;
    const changes = auditChanges({}, { from, ...(to === null ? {} : { to }) });
    return on(
      { actor, operation: 'report-bug', target, reason, ...changes },
      (client) => client.reportBug(report, actor),
      ({ id }) => ({ result: id }),
    );
  },
  closeBug: (close, actor) => {
    const { id, to, reason } = close;
    return on(
      { actor, operation: 'close-bug', target: id, reason, ...auditChanges({}, to === null ? {} : { to }) },
      (client) => client.closeBug(close, actor),
      () => ({ result: to === null ? 'it was not a bug' : `fixed in ${to}` }),
    );
  },
});

type Permitting = (decided: Decided) => ConveyorClient;

type Recording = <T>(
  about: EntrySubject,
  run: (client: ConveyorClient) => Promise<T>,
  came: (done: T) => Partial<AuditEntry>,
) => Promise<T>;

/** Each operation has a client of its own, so this sees only that operation. */
const recording =
  (permitting: Permitting, audit: Audit, door: Door): Recording =>
  (about, run, came) => {
    let permitted: string | null = null;
    const client = permitting((rule) => void (permitted = rule));
    return withAuditEntry(
      audit,
      () => ({ door, ...about, permitted }),
      () => run(client),
      came,
    );
  };

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

const appliedAs =
  (spec: PipelineSpec) =>
  ({ previous, created }: PipelineApplied): Partial<AuditEntry> => ({
    result: created ? 'created' : 'changed',
    before: previous === null ? null : canonicalDigest(previous),
    after: canonicalDigest(spec),
    ...(previous === null ? {} : auditChanges(previous, spec)),
  });

/** SHA-256 of the same text for the same value. */
export const canonicalDigest = (value: unknown): string =>
  createHash('sha256').update(canonicalJson(value)).digest('hex');

const versionChanges = (
  artifacts: readonly { readonly name: string; readonly version: string }[],
): Partial<AuditEntry> => auditChanges({}, Object.fromEntries(artifacts.map(({ name, version }) => [name, version])));

function startedEntry({
  id,
  duplicate,
}: {
  readonly id: string | null;
  readonly duplicate: boolean;
}): Partial<AuditEntry> {
  if (id === null) return { result: 'kept; no release yet' };
  return { result: duplicate ? `${id}, which there was already` : id };
}
