import { CancellationScope, condition } from '@temporalio/workflow';
import type { DeployAlarm } from '../../domain/deploy/alarm';
import type { DeployResult } from '../../domain/deploy/state';
import { deployId, releaseId } from '../../domain/ids';
import { MINUTE_MS } from '../../domain/milliseconds';
import type { Notice, PageOn } from '../../domain/notify/notice';
import {
  recordAnswer,
  changeAlarm,
  describePageReason,
  isAnswerTo,
  isOpenPage,
  openPage,
} from '../../domain/release/pages';
import type { PipelineSpec } from '../../domain/spec/pipeline';
import { formatTime } from '../../domain/text';
import type { PageView } from '../../domain/views';
import { getFailureMessage } from '../deploy/calls';
import type { AlarmNotice, PageAnswer } from '../messages';
import { pagers } from '../proxies';
import type { ReleaseSession } from './session';

/**
 * Pages the person on call about deploys that pause or revert by themselves, if no person acts on them in time. It runs beside the release, and delays
 * nothing except the end of its workflow. Only pipelines with `onCall` come here, so older histories replay.
 */

/** A release whose deploy was reverted waits for an answer for that long after its page. */
const PAGING_PATIENCE_MS = 60 * MINUTE_MS;

/** Takes the report of a deploy. */
export function takeAlarm(run: ReleaseSession, { action, alarm, answeredBy }: AlarmNotice): void {
  if (alarm === null) return endPage(run, action);
  raiseAlarm(run, action, alarm);
  if (answeredBy !== undefined) takeAnswer(run, action, answeredBy);
}

/** A deploy has ended. A revert by itself still wants a person; any other end needs none. */
export function settleAlarm(run: ReleaseSession, action: string, { reverted, reason }: DeployResult): void {
  if (run.input.spec.onCall === undefined) return;
  if (reverted?.by === 'health') raiseAlarm(run, action, { kind: 'reverted', reason });
  else endPage(run, action);
}

/** Takes the acknowledgement of a person in the service that paged them. */
export function takePageAnswer(run: ReleaseSession, { action, by, atMs }: PageAnswer): void {
  const answered = Object.entries(run.record.pages ?? {}).filter(
    ([name, page]) => (action === null || action === name) && isAnswerTo(page, atMs),
  );
  for (const [name] of answered) takeAnswer(run, name, by);
}

/** A deploy that pauses and then reverts has one page. */
function raiseAlarm(run: ReleaseSession, action: string, alarm: DeployAlarm): void {
  const { spec, number } = run.input;
  const { onCall } = spec;
  if (onCall === undefined || spec.actions[action]?.type !== 'deploy') return;
  const page = run.record.pages?.[action];
  const before = page?.number ?? 0;
  if (isOpenPage(page)) return setPage(run, action, changeAlarm(page, alarm));
  const facts = { nowMs: Date.now(), afterMs: onCall.after, number: before + 1 };
  const opened = openPage(deployId(spec.pipeline, number, action), alarm, facts);
  setPage(run, action, opened);
  run.notices(CancellationScope.nonCancellable(() => attendPage(new PageTurn(run, action, opened), onCall)));
}

function endPage(run: ReleaseSession, action: string): void {
  const page = run.record.pages?.[action];
  if (isOpenPage(page)) setPage(run, action, { ...page, state: 'over' });
}

function takeAnswer(run: ReleaseSession, action: string, by: string): void {
  const page = run.record.pages?.[action];
  if (!isOpenPage(page) || page.answeredBy !== null) return;
  setPage(run, action, recordAnswer(page, by, Date.now()));
  run.log('answered', `the page about ${page.deploy} is answered by ${by}`);
}

function setPage(run: ReleaseSession, action: string, page: PageView): void {
  run.set({ ...run.record, pages: { ...run.record.pages, [action]: page } });
}

/** One page of a release. A later page about the same deploy takes its place in the record, and then this one is over. */
class PageTurn {
  constructor(
    readonly run: ReleaseSession,
    readonly action: string,
    private readonly opened: PageView,
  ) {}

  get page(): PageView {
    const newest = this.run.record.pages?.[this.action];
    return newest?.number === this.opened.number ? newest : { ...this.opened, state: 'over' };
  }

  /** Changes nothing once a later page has taken its place. */
  set(patch: Partial<PageView>): void {
    const newest = this.run.record.pages?.[this.action];
    if (newest?.number === this.opened.number) setPage(this.run, this.action, { ...newest, ...patch });
  }

  /** Whether a person cares for it, or need not. */
  get isAttended(): boolean {
    return !isOpenPage(this.page) || this.page.answeredBy !== null;
  }

  /** Whether its deploy was reverted and has ended: then nothing but a person ends the page. */
  get isReverted(): boolean {
    return this.run.record.actions[this.action]?.endedAt != null && this.page.kind === 'reverted';
  }
}

async function attendPage(turn: PageTurn, onCall: NonNullable<PipelineSpec['onCall']>): Promise<void> {
  const summary = `page ${onCall.page} unless a person acts`;
  if (onCall.after > 0 && (await condition(() => turn.isAttended, onCall.after, { summary }))) return;
  const to = await sendPage(turn, 'on-call', { page: onCall.page });
  if (to === undefined) return;
  await condition(() => turn.isAttended || turn.isReverted);
  if (!turn.isAttended)
    await condition(() => turn.isAttended, PAGING_PATIENCE_MS, { summary: 'wait for an answer to the page' });
  if (isOpenPage(turn.page) && turn.isAttended) {
    await sendPage(turn, 'answered', { to });
    await condition(() => !isOpenPage(turn.page) || turn.isReverted);
  }
  if (!isOpenPage(turn.page)) await sendPage(turn, 'settled', { to });
}

type PagingStep = { readonly page: string } | { readonly to: string };

/** @returns the receiver that has it; undefined if none has */
async function sendPage(turn: PageTurn, on: PageOn, step: PagingStep): Promise<string | undefined> {
  const { run, page } = turn;
  try {
    const sent = await pagers.page.executeWithOptions({ summary: `${on}: ${page.deploy}` }, [
      { ...step, owners: run.policy.owners, event: toNotice(turn, on) },
    ]);
    if (on === 'on-call') recordSent(turn, sent);
    return sent.to;
  } catch (error: unknown) {
    const why = getFailureMessage(error);
    if (on === 'on-call') turn.set({ note: why, ...(turn.page.state === 'due' ? { state: 'failed' } : {}) });
    run.log('not-notified', `the page about ${page.deploy} was not sent: ${why}`);
    return undefined;
  }
}

/** It may have been answered, or be over, while it was on its way. */
function recordSent(turn: PageTurn, { to, note }: { readonly to: string; readonly note: string | null }): void {
  turn.set({ to, note, ...(turn.page.state === 'due' ? { state: 'paged' } : {}) });
  turn.run.log('paged', `${to} was paged about ${turn.page.deploy}${note === null ? '' : `: ${note}`}`);
}

function toNotice({ run, action, page }: PageTurn, on: PageOn): Notice {
  const { spec, number, artifacts } = run.input;
  const deploy = spec.actions[action];
  return {
    id: `${run.deploys.workflowId(action)}/page/${page.number}/${on}`,
    ...{ on, at: formatTime(Date.now()), pipeline: spec.pipeline, release: releaseId(spec.pipeline, number) },
    ...{ deploy: page.deploy, phase: null, artifacts, actor: page.answeredBy },
    pushType: deploy?.type === 'deploy' ? deploy.with.pushType : null,
    reason: on === 'answered' ? `by ${page.answeredBy ?? 'a person'}` : describePageReason(page),
  };
}
