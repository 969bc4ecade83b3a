import {
  ActivityFailure,
  allHandlersFinished,
  ApplicationFailure,
  CancellationScope,
  condition,
  continueAsNew,
  defineQuery,
  defineUpdate,
  proxyActivities,
  setHandler,
  setWorkflowOptions,
  workflowInfo,
} from '@temporalio/workflow';
import {
  bugWords,
  markBugClosed,
  isInForce,
  nextSearch,
  NO_BUGS,
  postponeSearch,
  addBugReport,
  recordSearch,
  whyNotClose,
  whyNotReport,
  type Bug,
  type BugRecords,
  type BugClose,
  type BugReport,
  type SearchDue,
} from '../domain/bug';
import { list, formatMarkdown, sections } from '../../../domain/markdown';
import { whyNotBelieved, withProof, type Proven } from '../../../domain/proof';
import { showDetails } from '../../../workflows/details';
import { FOREVER } from '../../../workflows/proxies';
import { buildVersioningOptions } from '../../../workflows/versioning';

import type { BugActivities } from '../activities/bugs';

/**
 * A search reads all releases, which may take long, and asks graphs that may be down for even longer. After a few tries the other bugs get their
 * turn, and this one is tried again later.
 */
const bugSearchers = (heartbeatTimeoutMs: number) =>
  proxyActivities<BugActivities>({
    startToCloseTimeout: '1h',
    heartbeatTimeout: heartbeatTimeoutMs,
    retry: { ...FOREVER, maximumAttempts: 5 },
  });

export interface BugsOrder {
  readonly heartbeatTimeoutMs: number;
  readonly records?: BugRecords;
}

/** The caller. */
interface BugCaller extends Proven {
  readonly actor: string;
}
export type ReportInput = BugReport & BugCaller;
export type CloseInput = BugClose & BugCaller;

const bugsQuery = defineQuery<BugRecords>('bugs');
const reportUpdate = defineUpdate<Bug, [ReportInput]>('report-bug');
const closeUpdate = defineUpdate<Bug, [CloseInput]>('close-bug');

/**
 * Keeps the reported bugs of all pipelines: it numbers them, and has each searched for twice. Once a report is answered, every deploy that
 * begins is checked against it. A Temporal cancel request does not end this workflow.
 */
export async function bugs(order: BugsOrder): Promise<void> {
  const scope = CancellationScope.current();
  scope.cancelRequested.catch(() => undefined);
  return CancellationScope.nonCancellable(() => new BugRun(order).keep());
}
setWorkflowOptions(buildVersioningOptions('bugs'), bugs);

class BugRun {
  private records: BugRecords;

  constructor(private readonly order: BugsOrder) {
    this.records = order.records ?? NO_BUGS;
    showDetails(() => describe(this.records));
    setHandler(bugsQuery, () => this.records);
    setHandler(reportUpdate, (input) => this.report(input), {
      validator: (input) => this.refuse('report-bug', input, whyNotReport(this.records, input, input.actor)),
    });
    setHandler(closeUpdate, (input) => this.close(input), {
      validator: (input) => this.refuse('close-bug', input, whyNotClose(this.records, input, input.actor)),
    });
  }

  async keep(): Promise<never> {
    for (;;) {
      const due = nextSearch(this.records);
      if (workflowInfo().continueAsNewSuggested && allHandlersFinished())
        await continueAsNew<typeof bugs>({ ...this.order, records: this.records });
      if (due === undefined || due.atMs > Date.now()) await this.untilDue(due);
      else await this.search(due);
    }
  }

  /** Returns early if another search becomes due first. */
  private async untilDue(due: SearchDue | undefined): Promise<void> {
    const isChanged = () => nextSearch(this.records) !== due;
    if (due === undefined) await condition(isChanged);
    else await condition(isChanged, due.atMs - Date.now(), { summary: `until ${due.id} is searched for again` });
  }

  private async search(due: SearchDue): Promise<void> {
    const bug = this.records.bugs.find(({ id }) => id === due.id);
    if (bug === undefined) return;
    const { heartbeatTimeoutMs } = this.order;
    try {
      const found = await bugSearchers(heartbeatTimeoutMs).searchBug.executeWithOptions(
        { summary: `${bug.id}: what contains ${bug.target}` },
        [{ bug, again: due.again, heartbeatTimeoutMs }],
      );
      this.records = recordSearch(this.records, due, found);
    } catch (error) {
      if (!(error instanceof ActivityFailure)) throw error;
      this.records = postponeSearch(this.records, due, Date.now());
    }
  }

  private report({ actor, proof, ...report }: ReportInput): Bug {
    const done = addBugReport(this.believed(proof), report, actor, Date.now());
    this.records = done.records;
    return done.bug;
  }

  private close({ actor, proof, ...close }: CloseInput): Bug {
    this.records = markBugClosed(this.believed(proof), close, actor, Date.now());
    const bug = this.records.bugs.find(({ id }) => id === close.id);
    if (bug) return bug;
    throw ApplicationFailure.nonRetryable(`there is no ${close.id}`, 'bug-refused');
  }

  private believed(proof: Proven['proof']): BugRecords {
    return proof ? { ...this.records, proofs: withProof(this.records.proofs ?? [], proof) } : this.records;
  }

  private refuse(operation: string, { proof }: Proven, whyNot: string | undefined): void {
    const why = whyNotBelieved(this.records.proofs ?? [], operation, proof) ?? whyNot;
    if (why !== undefined) throw ApplicationFailure.nonRetryable(why, 'bug-refused');
  }
}

function describe({ bugs: all }: BugRecords): string {
  const inForce = all.filter(isInForce);
  return sections(
    formatMarkdown`**${String(inForce.length)}** bugs are in force: no release with any of them deploys.`,
    list(
      'In force:',
      inForce.slice(-10).map((bug) => formatMarkdown`${bugWords(bug)}`),
    ),
  );
}
