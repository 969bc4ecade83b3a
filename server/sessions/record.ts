import type { Context } from 'hono';
import { auditEntry, type AuditEntry } from '../../domain/audit/record';
import { ConveyorError } from '../../domain/errors';
import type { ServerDeps } from '../deps';
import { remoteAddress } from '../strangers';

type SessionAudit = Pick<ServerDeps, 'audit'>;

/** Records sign-ins, refused ones, and sign-outs. */
export class SessionRecords {
  constructor(private readonly deps: SessionAudit) {}

  /** A sign-in that cannot be recorded is refused; a sign-out never is. @throws ConveyorError `audit-unwritable` */
  async ready(): Promise<void> {
    await this.deps.audit?.ready();
  }

  async signedIn(c: Context, actor: string, by: string): Promise<void> {
    await this.deps.audit?.record(
      auditEntry({ ...describeRequest(c), operation: 'sign-in', actor, outcome: 'accepted', result: `by ${by}` }),
    );
  }

  /** The answer does not wait for the record. */
  refused(c: Context, error: unknown): void {
    if (!(error instanceof ConveyorError)) return;
    const entry = auditEntry({
      ...{ ...describeRequest(c), operation: 'sign-in', actor: null, outcome: 'refused' },
      result: `${error.code}: ${error.message}`,
    });
    void this.deps.audit?.recordAnonymous(entry, remoteAddress(c));
  }

  /** The answer does not wait for the record. */
  signedOut(c: Context, actor: string, end: Pick<AuditEntry, 'outcome' | 'result'>): void {
    void this.deps.audit?.record(auditEntry({ ...describeRequest(c), operation: 'sign-out', actor, ...end }));
  }
}

const describeRequest = (c: Context) =>
  ({ door: 'api', target: `${c.req.method} ${c.req.path}`, reason: `from ${remoteAddress(c)}` }) as const;
