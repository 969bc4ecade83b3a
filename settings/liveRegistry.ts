import { statSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { ConveyorError } from '../domain/errors';
import type { Env } from './env';
import { readConfig, type LoadedConfig, type Registry } from './registry';

const RELOAD_INTERVAL_MS = 2_000;

export interface LiveOptions {
  readonly file?: string;
  /** Parts that the process cannot exchange while it runs: a change takes effect at the next start. */
  readonly atStart?: readonly (keyof Registry)[];
  now?(): number;
}

/** The state of the file. */
export interface ConfigState {
  /** Why its present content is not in use; null if it is. */
  readonly problem: string | null;
  /** When the configuration in use was read, in ms since the epoch. */
  readonly readAtMs: number;
}

/**
 * The present configuration: the file is checked every two seconds and read again after a change. If it is invalid, the
 * last valid one stays in use until the file is fixed; `log` reports both.
 */
export class LiveRegistry {
  private readonly first: Registry;
  private read: LoadedConfig;
  private seen: string;
  private state: ConfigState;
  private readonly listeners: ((registry: Registry) => void)[] = [];

  /** @throws ConveyorError `config-invalid` at the start */
  constructor(
    private readonly env: Env,
    private readonly log: (line: string) => void,
    private readonly options: LiveOptions = {},
  ) {
    this.read = readConfig(options.file, env);
    this.first = this.read.registry;
    this.seen = readStamp(this.first.file);
    this.state = { problem: null, readAtMs: this.now() };
    // The timer does not keep a draining process alive.
    setInterval(() => this.look(), RELOAD_INTERVAL_MS).unref();
  }

  current(): Registry {
    return this.read.registry;
  }

  /** A registry that callers may keep: each read of a part returns its current value. */
  view(): Registry {
    return new Proxy(this.first, { get: (_first, part) => this.current()[part as keyof Registry] });
  }

  /** SHA-256 of the text in use, in hexadecimal. */
  digest(): string {
    return this.read.digest;
  }

  getState(): ConfigState {
    return this.state;
  }

  /** Calls the listener with each new configuration in use. */
  onChange(listener: (registry: Registry) => void): void {
    this.listeners.push(listener);
  }

  /** Reads the file again if it has changed. */
  look(): void {
    const { file } = this.first;
    const stamp = readStamp(file);
    if (stamp === this.seen) return;
    const next = this.attempt(file);
    // The file may be in the middle of a write.
    if (readStamp(file) !== stamp) return;
    this.seen = stamp;
    if (typeof next === 'string') {
      this.state = { ...this.state, problem: next };
      this.log(`${next}; the previous configuration stays in use until it is fixed`);
      return;
    }
    this.take(next);
  }

  private attempt(file: string): LoadedConfig | string {
    try {
      const next = readConfig(file, this.env);
      // An editor may first write an empty file, which would permit everything to everyone.
      return next.isEmpty ? `${file} is empty` : next;
    } catch (error) {
      if (error instanceof ConveyorError) return error.message;
      throw error;
    }
  }

  private take({ registry, ...rest }: LoadedConfig): void {
    const { atStart = [] } = this.options;
    const kept = Object.fromEntries(atStart.map((part) => [part, this.first[part]]));
    const later = atStart.filter((part) => !isDeepStrictEqual(registry[part], this.first[part]));
    this.read = { ...rest, registry: { ...registry, ...kept } };
    this.state = { problem: null, readAtMs: this.now() };
    this.log(`${registry.file} was read again`);
    if (later.length > 0) this.log(`its changes of ${later.join(' and ')} take effect at the next start`);
    for (const warning of registry.warnings) this.log(warning);
    for (const listener of this.listeners) listener(this.current());
  }

  private now(): number {
    return this.options.now?.() ?? Date.now();
  }
}

/** Editors replace a file: its times and size may stay the same, but its inode does not. */
function readStamp(file: string): string {
  const { mtimeMs = 0, size = 0, ino = 0 } = statSync(file, { throwIfNoEntry: false }) ?? {};
  return `${mtimeMs} ${size} ${ino}`;
}
