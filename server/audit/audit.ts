import { Flood, summaryText } from '../../domain/audit/flood';
import { auditEntry, type AuditEntry } from '../../domain/audit/record';
import { conveyorError } from '../../domain/errors';
import type { Audit } from '../../client/auditClient';
import type { AuditSettings } from '../../settings/audit/settings';
import {
  readAudit,
  verifyAudit,
  type AuditPage,
  type AuditQuery,
  type ChainVerification,
} from '../../settings/audit/files';
import { RequestGate } from '../gate';
import type { AuditEvents } from './events';
import { AuditLog, type LogOptions } from './log';

const MB = 1_048_576;

/** Anyone can cause refusals, so their files are limited to a gigabyte in all. */
const REFUSAL_FILES = { maxBytes: 16 * MB, maxFiles: 64 };

type ServerAuditOptions = Pick<LogOptions, 'server' | 'now' | 'log'> &
  Pick<AuditSettings, 'file' | 'keepMs'> & {
    /** Sends the records to an external receiver. */
    readonly events?: Pick<AuditEvents, 'state'>;
  };

/** The progress of the records. */
export interface AuditState {
  /** Records that could not be written at once, since the start. */
  readonly unwritten: number;
  /** Records that wait for the disk now, and the wait of the oldest. */
  readonly waiting: number;
  readonly lagMs: number;
  /** Records dropped for lack of room, since the start. */
  readonly lost: number;
  /** The lag of the receiver, if there is one: the age of the next record that it must accept, and its failed attempts. */
  readonly events: { readonly lagMs: number; readonly failures: number } | null;
}

/** Writes changes and refusals to separate logs, so that a flood of refusals cannot displace changes. */
export class ServerAudit implements Audit {
  private readonly changes: AuditLog;
  private readonly refusals: AuditLog;
  /** Known callers have their own quota, which anonymous requests cannot exhaust. */
  private readonly floods = { known: new Flood(), strangers: new Flood() };
  /** Files may be many and large: reading them must not delay requests. */
  private readonly readers = new RequestGate({ inFlight: 2, waiting: 16, waitMs: 8_000 });
  private failures = 0;
  private configuring = Promise.resolve();

  constructor(private readonly options: ServerAuditOptions) {
    this.changes = new AuditLog({ ...options, chain: 'changes', maxBytes: 64 * MB });
    this.refusals = new AuditLog({ ...options, chain: 'refusals', ...REFUSAL_FILES });
  }

  async ready(): Promise<void> {
    // Both chains begin together, so that verification notices a missing one. A disk that accepts no refusals delays no change.
    void this.refusals.ready().catch(() => undefined);
    await this.changes.ready().catch((error: unknown) => {
      throw conveyorError('audit-unwritable', { detail: errorMessage(error) });
    });
  }

  async record(entry: AuditEntry): Promise<void> {
    if (entry.outcome === 'refused') await this.recordRefusal(entry, entry.actor);
    else await this.append(this.changes, entry);
  }

  /** Records a request of an unknown caller under its source address. */
  recordAnonymous(entry: AuditEntry, source: string): Promise<void> {
    return this.recordRefusal(entry, null, source);
  }

  /** Records a changed configuration; calls run one after the other. */
  recordConfiguration(digest: string): Promise<void> {
    this.configuring = this.configuring.catch(() => undefined).then(() => this.compare(digest));
    return this.configuring;
  }

  private async compare(digest: string): Promise<void> {
    const { records } = await this.read({ operation: 'configure', limit: 1 });
    const before = records[0]?.after ?? null;
    if (before === digest) return;
    const result = before === null ? 'the first on record' : 'changed';
    const about = { actor: null, door: 'server', operation: 'configure', target: 'conveyor.config.yaml' } as const;
    await this.record(auditEntry({ ...about, outcome: 'accepted', before, after: digest, result }));
  }

  /** @throws ConveyorError `overloaded` */
  read(query: AuditQuery): Promise<AuditPage> {
    return this.readers.run(() => readAudit(this.options.file, query));
  }

  verify(): Promise<readonly ChainVerification[]> {
    return this.readers.run(async () => {
      // A server that has just started may not have begun both.
      await Promise.all([this.changes.ready(), this.refusals.ready()]).catch(() => undefined);
      return verifyAudit(this.options.file);
    });
  }

  state(): AuditState {
    const [changes, refusals] = [this.changes.backlog(), this.refusals.backlog()];
    const since = [changes, refusals].flatMap(({ sinceMs }) => (sinceMs === null ? [] : [sinceMs]));
    return {
      unwritten: this.failures,
      waiting: changes.waiting + refusals.waiting,
      lost: changes.lost + refusals.lost,
      lagMs: this.getAgeMs(since.length === 0 ? null : Math.min(...since)),
      events: this.eventsState(),
    };
  }

  /** Writes the counted refusals of a minute once it is over. */
  async sumUp(isLast = false): Promise<void> {
    for (const [who, flood] of Object.entries(this.floods)) {
      const summary = flood.summary(this.options.now(), isLast);
      if (summary === undefined) continue;
      const entry = auditEntry({
        ...{ actor: null, door: 'server', operation: 'refusals', target: who, outcome: 'refused' },
        result: summaryText(summary),
      });
      await this.append(this.refusals, entry);
    }
  }

  async close(): Promise<void> {
    await this.configuring.catch(() => undefined);
    await this.sumUp(true);
    await Promise.all([this.changes.close(), this.refusals.close()]);
  }

  private eventsState(): AuditState['events'] {
    const state = this.options.events?.state();
    return state === undefined ? null : { lagMs: this.getAgeMs(state.sinceMs), failures: state.failures };
  }

  private getAgeMs(atMs: number | null): number {
    return atMs === null ? 0 : Math.max(0, this.options.now() - atMs);
  }

  private async recordRefusal(entry: AuditEntry, actor: string | null, source = 'nobody'): Promise<void> {
    await this.sumUp();
    const flood = actor === null ? this.floods.strangers : this.floods.known;
    if (flood.admits(actor ?? source, this.options.now())) await this.append(this.refusals, entry);
  }

  /** Never fails, because the command has already run. The operator finds the error in the log, and the record is retried. */
  private async append(log: AuditLog, entry: AuditEntry): Promise<void> {
    await log.append(entry).catch((error: unknown) => {
      this.failures += 1;
      this.options.log(`audit: this is not on record yet: ${entry.operation} ${entry.target}: ${errorMessage(error)}`);
    });
  }
}

const errorMessage = (error: unknown): string => (error instanceof Error ? error.message : String(error));
