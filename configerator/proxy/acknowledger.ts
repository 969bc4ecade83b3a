import { Loop } from './loop';
import type { HostAcknowledgement, ConfigStore } from '../store/port';
import type { HostPackages } from './packages';
import { describeRefusals, type PathEntry } from './paths';

interface Options {
  readonly host: string;
  readonly repository: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly isVerified?: boolean;
  readonly store: ConfigStore;
  readonly packages?: HostPackages | undefined;
  readonly log: (line: string) => void;
  readonly settleMs?: number;
  readonly ttlSeconds?: number;
}

const SETTLE_MS = 1000;
const TTL_SECONDS = 60;
const AT_ONCE = 8;

/** Reports this host's values to the store: a moment after they arrive, and again before the lease expires. */
export class Acknowledger {
  private readonly entries = new Set<PathEntry>();
  /** Entries that the store has not acknowledged yet. */
  private readonly due = new Set<PathEntry>();
  private readonly repeating: NodeJS.Timeout;
  private readonly settling = new Map<PathEntry, NodeJS.Timeout>();
  private readonly saying = new Loop(
    () => this.due.size > 0 && !this.isClosed,
    () => this.sendDue(),
    (error) => this.recordRefused((error as Error).message),
  );
  private isClosed = false;
  /** Why the store accepts no acknowledgements; undefined while it does. */
  trouble: string | undefined;

  constructor(private readonly options: Options) {
    const ttlMs = (options.ttlSeconds ?? TTL_SECONDS) * 1000;
    this.repeating = setInterval(() => this.repeat(), ttlMs / 4).unref();
  }

  /** Applications have `waitMs` to refuse a value before it counts as theirs. */
  schedule(entry: PathEntry, waitMs = this.options.settleMs ?? SETTLE_MS): void {
    this.entries.add(entry);
    clearTimeout(this.settling.get(entry));
    const timer = setTimeout(() => {
      this.settling.delete(entry);
      this.due.add(entry);
      this.saying.wake();
    }, waitMs);
    this.settling.set(entry, timer);
  }

  /** Retries failed acknowledgements. */
  retry(): void {
    this.saying.wake();
  }

  async close(): Promise<void> {
    this.isClosed = true;
    clearInterval(this.repeating);
    for (const timer of this.settling.values()) clearTimeout(timer);
    await this.saying.awaitStop();
  }

  private repeat(): void {
    for (const entry of this.entries) if (!this.settling.has(entry)) this.due.add(entry);
    this.saying.wake();
  }

  private recordAccepted(): void {
    if (this.trouble !== undefined) this.options.log('the store takes acknowledgements again');
    this.trouble = undefined;
  }

  private recordRefused(why: string): void {
    if (this.trouble === undefined) this.options.log(`the store does not take what this host reports: ${why}`);
    this.trouble = why;
  }

  /** A failed entry stays due until the next attempt. */
  private async sendDue(): Promise<void> {
    const some = [...this.due].slice(0, AT_ONCE);
    for (const entry of some) this.due.delete(entry);
    const done = await Promise.allSettled(some.map((entry) => this.sendOne(entry)));
    const failed = some.filter((_, index) => done[index]?.status === 'rejected');
    for (const entry of failed) this.due.add(entry);
    const trouble = done.find((one) => one.status === 'rejected');
    if (trouble?.status === 'rejected') throw trouble.reason;
    this.recordAccepted();
  }

  private sendOne(entry: PathEntry): Promise<void> {
    const { host, repository, labels, isVerified, store, packages, ttlSeconds = TTL_SECONDS } = this.options;
    const { path, answer, since } = entry;
    const refused = describeRefusals(entry);
    const what: HostAcknowledgement = {
      ...{ host, path, version: answer.version, revision: answer.override, commit: answer.commit },
      sequence: answer.sequence,
      ...packages?.getAcknowledgement(path, answer.version),
      ...(refused === undefined ? {} : { refused }),
      ...(labels ? { labels } : {}),
      ...(isVerified ? { verified: true } : {}),
      at: since,
    };
    return store.acknowledge(repository, what, ttlSeconds);
  }
}
