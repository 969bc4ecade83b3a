import { statSync } from 'node:fs';
import { ConveyorError } from '../domain/errors';
import type { Env } from './env';
import { readConfig, type Registry } from './registry';

const LOOK_EVERY_MS = 2_000;

/**
 * The configuration as its file says now: it is looked at every two seconds, and read again when it has changed. One that is not valid
 * takes nothing away: the last good one counts until the file is mended, and `say` hears of both.
 */
export class LiveRegistry {
  private read: ReturnType<typeof readConfig>;
  private seen: string;
  private invalid: string | null = null;
  private readonly listeners: ((registry: Registry) => void)[] = [];

  /** @throws ConveyorError `config-invalid` at the start */
  constructor(
    private readonly env: Env,
    private readonly say: (line: string) => void,
    file?: string,
  ) {
    this.read = readConfig(file, env);
    this.seen = stampOf(this.read.registry.file);
    // Whoever drains does not wait for it.
    setInterval(() => this.look(), LOOK_EVERY_MS).unref();
  }

  current(): Registry {
    return this.read.registry;
  }

  /** SHA-256 of the text that counts now, in hexadecimal. */
  digest(): string {
    return this.read.digest;
  }

  /** Why what the file says does not count; null when it does. */
  problem(): string | null {
    return this.invalid;
  }

  /** Hears of each that counts from now on. */
  onChange(listener: (registry: Registry) => void): void {
    this.listeners.push(listener);
  }

  /** Reads the file again if it has changed. */
  look(): void {
    const { file } = this.current();
    const stamp = stampOf(file);
    if (stamp === this.seen) return;
    this.seen = stamp;
    try {
      this.read = readConfig(file, this.env);
    } catch (error) {
      if (!(error instanceof ConveyorError)) throw error;
      this.invalid = error.message;
      this.say(`${error.message}; what it said before counts until it is mended`);
      return;
    }
    this.invalid = null;
    this.say(`${file} was read again`);
    for (const warning of this.current().warnings) this.say(warning);
    for (const listener of this.listeners) listener(this.current());
  }
}

/** Editors write a file anew, so that its times and its size may be the same: its inode is not. */
function stampOf(file: string): string {
  const { mtimeMs = 0, size = 0, ino = 0 } = statSync(file, { throwIfNoEntry: false }) ?? {};
  return `${mtimeMs} ${size} ${ino}`;
}
