import { setTimeout as delay } from 'node:timers/promises';

/** Each look costs the server and the worker some work, and they share two cores with the tests. */
const LOOK_EVERY_MS = 150;
const PATIENCE_MS = 120_000;

/**
 * Calls `look` repeatedly until it returns something other than undefined or false, and returns that. If the time is
 * up, the error names the awaited state and the last result.
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
