import { statSync } from 'node:fs';
import { ConveyorError } from '../domain/errors';
import type { Env } from './env';
import { loadRegistry, type Registry } from './registry';

const LOOK_EVERY_MS = 2_000;

/**
 * The configuration as its file says now: it is looked at every two seconds, and read again when it has changed. One that is not valid
 * takes nothing away: the last good one counts until the file is mended, and `say` hears of both.
 */
export class LiveRegistry {
  private registry: Registry;
  private seen: string;
  private invalid: string | null = null;

  /** @throws ConveyorError `config-invalid` at the start */
  constructor(
    private readonly env: Env,
    private readonly say: (line: string) => void,
    private readonly onChange: (registry: Registry) => void = () => undefined,
    file?: string,
  ) {
    this.registry = loadRegistry(file, env);
    this.seen = stampOf(this.registry.file);
    // Whoever drains does not wait for it.
    setInterval(() => this.look(), LOOK_EVERY_MS).unref();
  }

  current(): Registry {
    return this.registry;
  }

  /** Why what the file says does not count; null when it does. */
  problem(): string | null {
    return this.invalid;
  }

  /** Reads the file again if it has changed. */
  look(): void {
    const { file } = this.registry;
    const stamp = stampOf(file);
    if (stamp === this.seen) return;
    this.seen = stamp;
    try {
      this.registry = loadRegistry(file, this.env);
    } catch (error) {
      if (!(error instanceof ConveyorError)) throw error;
      this.invalid = error.message;
      this.say(`${error.message}; what it said before counts until it is mended`);
      return;
    }
    this.invalid = null;
    this.say(`${file} was read again`);
    for (const warning of this.registry.warnings) this.say(warning);
    this.onChange(this.registry);
  }
}

/** Editors write a file anew, so that its times and its size may be the same: its inode is not. */
function stampOf(file: string): string {
  const { mtimeMs = 0, size = 0, ino = 0 } = statSync(file, { throwIfNoEntry: false }) ?? {};
  return `${mtimeMs} ${size} ${ino}`;
}
