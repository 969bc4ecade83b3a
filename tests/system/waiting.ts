import { setTimeout as delay } from 'node:timers/promises';

/** Each look costs the server and the worker some work, and the tests share two cores with them. */
const LOOK_EVERY_MS = 150;
const PATIENCE_MS = 120_000;

/**
 * Looks again and again until `look` answers something other than undefined or false, and answers that. Says what it
 * waited for, and what it met last, when the time is up.
 */
export async function eventually<T>(
  what: string,
  look: () => Promise<T | undefined | false>,
  withinMs: number = PATIENCE_MS,
): Promise<T> {
  const deadline = Date.now() + withinMs;
  let trouble: unknown = 'it was not so yet';
  while (Date.now() < deadline) {
    try {
      const seen = await look();
      if (seen !== undefined && seen !== false) return seen;
      trouble = 'it was not so yet';
    } catch (error) {
      trouble = error;
    }
    await delay(LOOK_EVERY_MS);
  }
  throw new Error(`waited ${withinMs / 1000} s until ${what}: ${String(trouble)}`);
}
