import { upsertMemo, workflowInfo } from '@temporalio/workflow';

/** What lists show of a workflow, in its memo: nobody asks each of them, so that one which is silent keeps nobody waiting. */
const SUMMARY = 'summary';

/** Leaves what lists show where it has changed: each time is one event in the history. */
export class MemoSummary {
  private shown = JSON.stringify(workflowInfo().memo?.[SUMMARY]);

  show(summary: object): void {
    const text = JSON.stringify(summary);
    if (text === this.shown) return;
    this.shown = text;
    upsertMemo({ [SUMMARY]: summary });
  }
}

/** As starts take it. */
export const summaryMemo = (summary: object): { memo: Record<string, unknown> } => ({ memo: { [SUMMARY]: summary } });
