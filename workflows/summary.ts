import { upsertMemo, workflowInfo } from '@temporalio/workflow';

/** What lists show of a workflow, in its memo: nobody asks each of them, so that one which is silent keeps nobody waiting. */
const SUMMARY = 'summary';

/** Leaves what lists show where it has changed: each time is one event in the history. */
export class Summary {
  private said = JSON.stringify(workflowInfo().memo?.[SUMMARY]);

  say(summary: object): void {
    const text = JSON.stringify(summary);
    if (text === this.said) return;
    this.said = text;
    upsertMemo({ [SUMMARY]: summary });
  }
}

/** As starts take it. */
export const summaryMemo = (summary: object): { memo: Record<string, unknown> } => ({ memo: { [SUMMARY]: summary } });
