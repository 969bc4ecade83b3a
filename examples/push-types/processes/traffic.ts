import type { Fleet } from './fleet';

const CALL_EVERY_MS = 100;
const ANSWER_MS = 1_000;

/** Simulated users: each copy is called ten times a second. Without calls there are no errors, and no health data. */
export function callCopies(fleet: Fleet): void {
  setInterval(() => {
    for (const task of fleet.copies.known()) {
      const address = fleet.copies.address(task);
      if (address !== undefined) void call(`http://${address}/`);
    }
  }, CALL_EVERY_MS);
}

async function call(url: string): Promise<void> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(ANSWER_MS) });
    await response.text();
  } catch {
    // Users see that it is down, and call again.
  }
}
