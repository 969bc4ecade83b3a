import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { HostPort, RunResult } from '../../push-types/hosts/port';
import { UnreachableHostError } from '../../push-types/hosts/port';

/** A host in memory: what the script of the push type does on a real one, and the faults of hosts. */
export class FakeHost implements HostPort {
  releases = new Map<string, string>();
  current = '';
  stamp = '';
  before = '';
  sequence = 0;
  invocation = '';
  isActive = false;
  /** The version that the running process has loaded. */
  serving = '';
  starts = 0;
  /** Faults. */
  isSilent = false;
  doesHang = false;
  hasFullDisk = false;
  doesSudoAsk = false;
  keyChanged = false;
  private incoming = '';
  /** The two lines of the record in the input. */
  input = '';
  /** The verbs that ran, in order. */
  readonly verbs: string[] = [];
  /** Called before each verb; throws to break the connection there. */
  onVerb: (verb: string) => void = () => undefined;

  constructor(
    readonly name: string,
    /** Versions whose processes never answer. */
    private readonly isDead: (version: string) => boolean,
  ) {}

  async run(
    argv: readonly string[],
    { timeoutMs, stdin = '' }: { timeoutMs: number; stdin?: string },
  ): Promise<RunResult> {
    if (this.keyChanged) throw new UnreachableHostError('its host key is not the one in known_hosts');
    if (this.isSilent) throw new UnreachableHostError('connect ETIMEDOUT');
    if (this.doesHang) {
      await new Promise((resolve) => setTimeout(resolve, Math.min(timeoutMs, 2_000)).unref());
      throw new UnreachableHostError(`the command did not end within ${timeoutMs} ms`);
    }
    const [, , , , verb = '', , ...args] = argv;
    this.input = stdin.split('\n', 2).join('\n');
    this.verbs.push(verb);
    this.onVerb(verb);
    try {
      const stdout = (VERBS[verb] ?? (() => fail(`there is no verb ${verb}`, 64)))(this, args);
      return { code: 0, stdout, stderr: '' };
    } catch (error) {
      if (error instanceof Refusal) return { code: error.code, stdout: '', stderr: error.message };
      throw error;
    }
  }

  upload(file: string): Promise<void> {
    this.verbs.push('upload');
    if (this.hasFullDisk)
      return Promise.reject(new Error('the host did not take the package: No space left on device'));
    this.incoming = `sha256:${createHash('sha256').update(readFileSync(file)).digest('hex')}`;
    return Promise.resolve();
  }

  close(): void {}

  start(): void {
    this.starts += 1;
    this.invocation = createHash('md5').update(`${this.name} ${this.starts}`).digest('hex');
    this.serving = this.current;
    this.isActive = !this.isDead(this.serving);
  }

  unpack(version: string, digest: string): void {
    if (this.incoming !== digest) fail(`the package has the digest ${this.incoming}, not ${digest}`, 77);
    this.releases.set(version, digest);
  }

  passFence(sequence: string): void {
    if (Number(sequence) < this.sequence) fail('the command is older than one that ran here', 76);
    this.sequence = Number(sequence);
  }

  passSudo(privilege: string): void {
    if (privilege === 'sudo' && this.doesSudoAsk) fail('sudo: a password is required', 1);
  }
}

class Refusal extends Error {
  constructor(
    message: string,
    readonly code: number,
  ) {
    super(message);
  }
}
const fail = (message: string, code: number): never => {
  throw new Refusal(message, code);
};

const VERBS: Readonly<Record<string, (host: FakeHost, args: string[]) => string>> = {
  look: (host, [, , , extent = '']) => {
    const [stamp = '', hosts = ''] = host.stamp.split('\n');
    const answer = host.isActive ? `{"version":"${host.serving}"}\n200` : 'connection refused\n000';
    const fields = {
      ...{ current: host.current, stamp, before: host.before, free: '1000000' },
      ...(extent === 'whole' && { hosts }),
      ...{ ActiveState: host.isActive ? 'active' : 'failed', SubState: host.isActive ? 'running' : 'failed' },
      ...{ InvocationID: host.invocation, NRestarts: '0', answer: Buffer.from(answer).toString('base64') },
    };
    return Object.entries(fields)
      .map(([key, value]) => `${key}=${value}`)
      .join('\n');
  },
  find: (host, [version = '', digest = '']) =>
    `there=${host.releases.has(version) && ['', host.releases.get(version)].includes(digest) ? 'yes' : 'no'}`,
  prepare: () => '',
  unpack: (host, [version = '', digest = '']) => {
    host.unpack(version, digest);
    return '';
  },
  switch: (host, [sequence = '', version = '']) => {
    host.passFence(sequence);
    if (!host.releases.has(version)) fail(`there is no release ${version} on the host`, 79);
    Object.assign(host, { before: host.invocation || 'none', stamp: host.input, current: version });
    return '';
  },
  stamp: (host, [sequence = '']) => {
    host.passFence(sequence);
    host.stamp = host.input;
    return '';
  },
  restart: (host, [sequence = '', privilege = '']) => {
    host.passFence(sequence);
    host.passSudo(privilege);
    host.start();
    return '';
  },
  prune: (host, [keep = '']) => {
    const old = [...host.releases.keys()].filter((version) => version !== host.current);
    for (const version of old.slice(0, Math.max(0, old.length - Number(keep) + 1))) host.releases.delete(version);
    return '';
  },
  remove: (host, [sequence = '', privilege = '']) => {
    host.passFence(sequence);
    host.passSudo(privilege);
    Object.assign(host, { isActive: false, current: '', stamp: '', before: '', invocation: '' });
    return '';
  },
};

/** A folder of packages, each with its digest beside it; `close` deletes it. */
export class FakePackages {
  readonly folder = mkdtempSync(join(tmpdir(), 'conveyor-packages-'));
  readonly cache = join(this.folder, 'cache');
  readonly from = join(this.folder, '{version}.tar');

  constructor(versions: readonly string[]) {
    mkdirSync(this.cache);
    for (const version of versions) this.add(version, packTar([{ path: 'VERSION', text: version }]));
  }

  add(version: string, bytes: Buffer): string {
    const digest = createHash('sha256').update(bytes).digest('hex');
    writeFileSync(join(this.folder, `${version}.tar`), bytes);
    writeFileSync(join(this.folder, `${version}.tar.sha256`), `${digest}  ${version}.tar\n`);
    return `sha256:${digest}`;
  }

  close(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

export interface PackedEntry {
  readonly path: string;
  readonly type?: string;
  readonly link?: string;
  readonly text?: string;
  readonly mode?: number;
}

/** A tar archive with any entries, also those that no sane program writes. */
export function packTar(entries: readonly PackedEntry[]): Buffer {
  const blocks = entries.flatMap(({ path, type = '0', link = '', text = '', mode = 0o644 }) => {
    const header = Buffer.alloc(512);
    const write = (value: string, at: number): void => void header.write(value, at, 'utf8');
    const octal = (value: number, length: number): string => `${value.toString(8).padStart(length - 1, '0')}\0`;
    write(path, 0);
    write(octal(mode, 8), 100);
    write(octal(0, 8), 108);
    write(octal(0, 8), 116);
    write(octal(Buffer.byteLength(text), 12), 124);
    write(octal(0, 12), 136);
    write('        ', 148);
    write(type, 156);
    write(link, 157);
    write('ustar\x0000', 257);
    write(
      octal(
        header.reduce((sum, byte) => sum + byte, 0),
        7,
      ),
      148,
    );
    const body = Buffer.alloc(Math.ceil(Buffer.byteLength(text) / 512) * 512);
    body.write(text);
    return [header, body];
  });
  return Buffer.concat([...blocks, Buffer.alloc(1024)]);
}
