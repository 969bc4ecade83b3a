import { SLOWROLL_LIMITS } from '../../../sdk';
import { TROUBLE_CAUSES, type ReportPackage, type TroubleCause } from '../protocol';
import type { HostRecords } from './hostRecords';

/** A host that tries again, as `GET /hosts` shows it. */
export interface HostTrouble {
  readonly cause: TroubleCause;
  /** The time of its first report, in ms since the epoch by the clock of this server: those of hosts may be wrong. */
  readonly since: number;
  /** The words of the agent; undefined after a restart of this process, and for hosts beyond a limit. */
  readonly reason?: string;
}

/** Hosts on which work on a package did not succeed and is tried again. Causes and times are in the records of hosts; texts are kept for some of them. */
export class HostTroubles {
  private readonly texts = new Map<string, string>();

  constructor(private readonly now: () => number) {}

  /** Takes over the trouble of a report, or its end. */
  note(packageName: string, index: number, records: HostRecords, trouble: ReportPackage['trouble']): void {
    const key = nameText(packageName, index);
    // A later text comes last: the oldest one leaves first.
    this.texts.delete(key);
    const isNew = records.trouble[index] === 0;
    records.trouble[index] = trouble === undefined ? 0 : numberCause(trouble.cause);
    if (trouble === undefined) records.troubledAt[index] = 0;
    else if (isNew) records.troubledAt[index] = Math.floor(this.now() / SECOND);
    if (trouble !== undefined) this.texts.set(key, trouble.reason);
    const [oldest] = this.texts.keys();
    if (this.texts.size > SLOWROLL_LIMITS.troubleTexts.max && oldest !== undefined) this.texts.delete(oldest);
  }

  find(packageName: string, index: number, records: HostRecords): HostTrouble | undefined {
    const number = records.trouble[index] ?? 0;
    if (number === 0) return undefined;
    const reason = this.texts.get(nameText(packageName, index));
    const since = (records.troubledAt[index] ?? 0) * SECOND;
    return { cause: nameCause(number), since, ...(reason !== undefined && { reason }) };
  }
}

const SECOND = 1000;

const nameText = (packageName: string, index: number): string => `${packageName} ${index}`;

/** The number of a cause in records and tags; 0 is no trouble. */
const numberCause = (cause: TroubleCause): number => TROUBLE_CAUSES.indexOf(cause) + 1;

/** The cause of a number that is not 0. */
const nameCause = (number: number): TroubleCause => TROUBLE_CAUSES[number - 1] ?? 'other';

/** How many hosts have which trouble. */
export type CauseCounts = Partial<Record<TroubleCause, number>>;

/** Counts a host that is in trouble. */
export function countCause(counts: CauseCounts, number: number): void {
  const cause = nameCause(number);
  counts[cause] = (counts[cause] ?? 0) + 1;
}
