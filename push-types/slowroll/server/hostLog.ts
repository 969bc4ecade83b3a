import { createReadStream, existsSync } from 'node:fs';
import { open, rename, rm, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import { SLOWROLL_LIMITS } from '../../../sdk';
import type { FleetHosts, HostLabels } from './fleetHosts';

const storedLabels = z.record(z.string(), z.string());

interface HostLogOptions {
  /** A file with more outdated lines is written anew. */
  readonly mostOutdated?: number;
  /** Called before each step of that. A crash before any of them loses nothing. */
  readonly onStep?: (step: 'write' | 'synchronize' | 'rename' | 'synchronize the folder' | 'close') => void;
  readonly log?: (line: string) => void;
}

const LINES_AT_ONCE = 10_000;

/**
 * The hosts that have joined, in their order, as a file of lines: `<host><tab><labels as JSON>`. A later line of a host replaces its labels. Hosts send their labels
 * once, so a line is on the disk before its host gets an answer; lines that come together are flushed together. With too many outdated lines, the file is written
 * anew, beside the old one, with one line a host.
 */
export class HostLog {
  private waiting: string[] = [];
  /** The last flush; it never rejects. */
  private before: Promise<void> = Promise.resolve();
  /** The flush that has not begun yet. */
  private next: Promise<void> | undefined;
  /** So many outdated lines are borne. */
  private patience: number;

  private constructor(
    private readonly path: string,
    private readonly hosts: FleetHosts,
    private readonly options: HostLogOptions,
    private file: FileHandle,
    private lines: number,
  ) {
    this.patience = this.mostOutdated;
  }

  /** Reads the hosts into the fleet, and opens the file for more. @throws Error for a file that it did not write */
  static async open(path: string, hosts: FleetHosts, options: HostLogOptions = {}): Promise<HostLog> {
    // A crash has left it, unfinished.
    await rm(namePart(path), { force: true });
    const lines = existsSync(path) ? await readLoggedHosts(path, hosts) : 0;
    const file = await open(path, 'a', 0o600);
    // After a loss of power the last line may be half of one.
    await file.appendFile('\n');
    const log = new HostLog(path, hosts, options, file, lines);
    await log.compactIfLong();
    return log;
  }

  /** Resolves once the host is on the disk. @throws the error of the disk */
  note(host: string, labels: HostLabels): Promise<void> {
    this.waiting.push(writeLine(host, labels));
    this.next ??= this.before.then(() => {
      this.next = undefined;
      const flushed = this.flush();
      // The hosts of this flush do not wait until the file is short again; those of the next one do.
      this.before = flushed.then(
        () => this.compactIfLong(),
        () => undefined,
      );
      return flushed;
    });
    return this.next;
  }

  async close(): Promise<void> {
    await this.next;
    await this.before;
    await this.file.close();
  }

  private get mostOutdated(): number {
    return this.options.mostOutdated ?? SLOWROLL_LIMITS.outdatedHosts.max;
  }

  private async flush(): Promise<void> {
    const lines = this.waiting;
    this.waiting = [];
    await this.file.appendFile(lines.join(''));
    await this.file.datasync();
    this.lines += lines.length;
  }

  /** On a disk without room for both files, the old one stays, and a later line tries again. */
  private async compactIfLong(): Promise<void> {
    const outdated = this.lines - this.hosts.table.count;
    if (outdated <= this.patience) return;
    try {
      await this.compact();
      this.patience = this.mostOutdated;
    } catch (error) {
      this.patience = outdated + this.mostOutdated;
      this.options.log?.(`${this.path} has ${outdated} outdated lines, and cannot be written anew: ${String(error)}`);
    }
  }

  private async compact(): Promise<void> {
    const { path, options } = this;
    const old = this.file;
    const fresh = await open(namePart(path), 'w', 0o600);
    try {
      options.onStep?.('write');
      const lines = await this.writeAll(fresh);
      options.onStep?.('synchronize');
      await fresh.datasync();
      options.onStep?.('rename');
      await rename(namePart(path), path);
      [this.file, this.lines] = [fresh, lines];
    } catch (error) {
      await fresh.close();
      await rm(namePart(path), { force: true });
      throw error;
    }
    try {
      options.onStep?.('synchronize the folder');
      const folder = await open(dirname(path), 'r');
      await folder.sync().finally(() => folder.close());
    } finally {
      options.onStep?.('close');
      await old.close();
    }
  }

  /** @returns the number of lines */
  private async writeAll(file: FileHandle): Promise<number> {
    const { table } = this.hosts;
    let lines: string[] = [];
    let index = 0;
    for (; index < table.count; index += 1) {
      lines.push(writeLine(table.nameHost(index), this.hosts.readLabels(index)));
      if (lines.length < LINES_AT_ONCE) continue;
      await file.appendFile(lines.join(''));
      lines = [];
    }
    await file.appendFile(lines.join(''));
    return index;
  }
}

const namePart = (path: string): string => `${path}.part`;

const writeLine = (host: string, labels: HostLabels): string => `${host}\t${JSON.stringify(labels)}\n`;

/** @returns the number of lines */
async function readLoggedHosts(path: string, hosts: FleetHosts): Promise<number> {
  const known = new Map<string, HostLabels>();
  let count = 0;
  for await (const line of createInterface({ input: createReadStream(path, 'utf8'), crlfDelay: Infinity })) {
    if (line !== '') count += 1;
    const [host = '', text = ''] = line.split('\t');
    // A host whose line is broken never got an answer.
    const labels = known.get(text) ?? parseLabels(text);
    if (labels === undefined) continue;
    known.set(text, labels);
    hosts.join(host, labels);
  }
  if (count > 0 && hosts.table.count === 0) throw new Error(`${path} has ${count} lines and no host`);
  return count;
}

function parseLabels(text: string): HostLabels | undefined {
  try {
    return storedLabels.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}
