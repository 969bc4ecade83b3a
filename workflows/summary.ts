import { upsertMemo, workflowInfo } from '@temporalio/workflow';

/** The summary of a workflow for lists is in its memo. Lists need not ask each workflow, so a silent one delays nothing. */
const SUMMARY = 'summary';

/**
 * Writes the summary for lists when it has changed: each write is one event in the history. `besides` names fields that do not count as a
 * change, and are written with the next one.
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

/** The summary in the form that a start takes. */
export const summaryMemo = (summary: object): { memo: Record<string, unknown> } => ({ memo: { [SUMMARY]: summary } });
