import { createReadStream, existsSync } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import type { FleetHosts, HostLabels } from './fleetHosts';

const storedLabels = z.record(z.string(), z.string());

/**
 * The hosts that have joined, in their order, as a file of lines: `<host><tab><labels as JSON>`. A later line of a host replaces its labels. Hosts send their labels
 * once, so a line is on the disk before its host gets an answer; lines that come together are flushed together.
 */
export class HostLog {
  private waiting: string[] = [];
  /** The last flush; it never rejects. */
  private before: Promise<void> = Promise.resolve();
  /** The flush that has not begun yet. */
  private next: Promise<void> | undefined;

  private constructor(private readonly file: FileHandle) {}

  /** Reads the hosts into the fleet, and opens the file for more. @throws Error for a file that it did not write */
  static async open(path: string, hosts: FleetHosts): Promise<HostLog> {
    if (existsSync(path)) await readLoggedHosts(path, hosts);
    const file = await open(path, 'a', 0o600);
    // After a loss of power the last line may be half of one.
    await file.appendFile('\n');
    return new HostLog(file);
  }

  /** Resolves once the host is on the disk. @throws the error of the disk */
  note(host: string, labels: HostLabels): Promise<void> {
    this.waiting.push(`${host}\t${JSON.stringify(labels)}\n`);
    this.next ??= this.before.then(() => {
      this.next = undefined;
      const flushed = this.flush();
      this.before = flushed.catch(() => undefined);
      return flushed;
    });
    return this.next;
  }

  async close(): Promise<void> {
    await this.next;
    await this.before;
    await this.file.close();
  }

  private async flush(): Promise<void> {
    const lines = this.waiting.join('');
    this.waiting = [];
    await this.file.appendFile(lines);
    await this.file.datasync();
  }
}

async function readLoggedHosts(path: string, hosts: FleetHosts): Promise<void> {
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
}

function parseLabels(text: string): HostLabels | undefined {
  try {
    return storedLabels.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}
