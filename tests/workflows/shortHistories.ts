import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '@temporalio/client';

/** A bundle of workflows that continue as new as if the server proposed it, but much earlier. */
export function shortHistories(): string {
  const bundle = readFileSync(process.env['CONVEYOR_TEST_BUNDLE'] ?? '', 'utf8');
  const short = bundle.replace(/(\(0,\w+\.workflowInfo\)\(\))\.continueAsNewSuggested/g, '($1.historyLength > 30)');
  const file = join(mkdtempSync(join(tmpdir(), 'short-')), 'bundle.js');
  writeFileSync(file, short);
  return file;
}

/** Whether a workflow has left a history behind. */
export async function isContinued(client: Client, workflowId: string): Promise<boolean> {
  const { events } = await client.workflow.getHandle(workflowId).fetchHistory();
  return Boolean(events?.[0]?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId);
}
