import { proxyActivities } from '@temporalio/workflow';
import type { runTwoCalls } from './worker';

const activities = proxyActivities<{ runTwoCalls: typeof runTwoCalls }>({ startToCloseTimeout: '1m' });

/** What a release of so many actions is with Temporal alone: one workflow, and one activity for each action. */
export async function bareRelease(url: string, actions: number): Promise<void> {
  for (let nth = 0; nth < actions; nth += 1) await activities.runTwoCalls(url, `run-${nth}`);
}
