import type { SignOutInput } from '../../workflows/signOut';
import { workflowIds } from '../../domain/ids';
import type { Stack } from '../system/stack';
import type { Save } from './recordModel';

/** As a server starts it, for a shorter time. */
export async function recordSignOut(stack: Stack, save: Save): Promise<void> {
  const workflowId = workflowIds.signOutEverywhere('user:alice');
  const args: [SignOutInput] = [{ keptMs: 1_000 }];
  await stack.temporal.workflow.execute('signOut', { workflowId, taskQueue: stack.taskQueue, args });
  await save(stack, 'sign-out', workflowId);
}
