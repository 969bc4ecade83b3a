import { proxyActivities } from '@temporalio/workflow';
import type { ask, runTwoCalls } from './worker';

/**
 * A release of that many actions with Temporal alone: one workflow, and one activity for each action. With a separate `taskQueue`, activities are not
 * started eagerly with the task that schedules them. Ours also have separate queues, so that looks take no slot of effects.
 */
export async function bareRelease(url: string, actions: number, taskQueue?: string): Promise<void> {
  const activities = proxyActivities<{ runTwoCalls: typeof runTwoCalls }>({
    startToCloseTimeout: '1m',
    ...(taskQueue === undefined ? {} : { taskQueue }),
  });
  for (let nth = 0; nth < actions; nth += 1) await activities.runTwoCalls(url, `run-${nth}`);
}

/** One call after the other, each in its own activity. */
export async function bareCalls(urls: readonly string[]): Promise<void> {
  const activities = proxyActivities<{ ask: typeof ask }>({ startToCloseTimeout: '1m', retry: { maximumAttempts: 1 } });
  for (const url of urls) await activities.ask(url);
}
