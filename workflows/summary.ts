import { upsertMemo, workflowInfo } from '@temporalio/workflow';

/** What lists show of a workflow, in its memo: nobody asks each of them, so that one which is silent keeps nobody waiting. */
const SUMMARY = 'summary';

/**
 * Leaves what lists show where it has changed: each time is one event in the history. `besides` names what is no change of its own, and
 * comes along with the next.
 */
export class MemoSummary {
  private shown: string;

  constructor(private readonly besides: readonly string[] = []) {
    this.shown = this.compared(workflowInfo().memo?.[SUMMARY] as object | undefined);
  }

  show(summary: object): void {
    const text = this.compared(summary);
    if (text === this.shown) return;
    this.shown = text;
    upsertMemo({ [SUMMARY]: summary });
  }

  private compared(summary: object | undefined): string {
    return JSON.stringify(Object.entries(summary ?? {}).filter(([key]) => !this.besides.includes(key)));
  }
}

/** As starts take it. */
export const summaryMemo = (summary: object): { memo: Record<string, unknown> } => ({ memo: { [SUMMARY]: summary } });
