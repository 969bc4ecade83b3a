import {
  ApplicationFailure,
  CancellationScope,
  condition,
  getExternalWorkflowHandle,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import { defineSearchAttributeKey, type SignalDefinition } from '@temporalio/common';
import type { OfferSignal } from '../../activities/offerBoards';
import { isReplacedNotice } from '../../domain/broughtVersionShapes';
import { SYSTEM } from '../../domain/deploy/control';
import { workflowIds } from '../../domain/ids';
import { trimCommands } from '../../domain/commandTrim';
import { STATE_LIMITS } from '../../domain/limits';
import { enqueueReady, recordPick, withdraw } from '../../domain/pipeline/admission';
import type { OvertakenRelease } from '../../domain/pipeline/overtaking';
import type { Admission } from '../../domain/release/admission';
import { recordDeploy, recordRelease } from '../../domain/pipeline/recordOutcome';
import { fitState } from '../../domain/pipeline/stateSize';
import { effectOfPipeline, takePipeline, whyNotPipeline } from '../../domain/pipeline/control';
import { isThawing } from '../../domain/pipeline/freeze';
import { listDeclaredOffers } from '../../domain/offers/ofPipeline';
import { sameJson } from '../../domain/json';
import type { Obstacle } from '../../domain/pipeline/obstacles';
import { toPolicy } from '../../domain/pipeline/refusal';
import { isActionOfRelease, isOver, isReady, isResult } from '../../domain/pipeline/shapes';
import { recordReplacement } from '../../domain/pipeline/replacement';
import { restoreState, type PipelineState, type ReadyAction } from '../../domain/pipeline/state';
import {
  followsWithdrawal,
  isWithdrawalNotice,
  queueUndeploy,
  type WithdrawalNotice,
} from '../../domain/pipeline/undeploy';
import { pipelineDetails, pipelineStatus, buildListSummary } from '../../domain/pipeline/view';
import type { Proofs } from '../../domain/proof';
import { neverStartedMeasures } from '../../domain/metrics';
import { mayCommand } from '../../domain/principals';
import { PIPELINE_VERBS, type CommandRecord, type PipelineVerb } from '../../domain/verbs';
import { commandRecord, onSignal, openInbox, TEMPORAL_CANCEL } from '../inbox';
import {
  actionOverSignal,
  actionReadySignal,
  admissionSignal,
  deployOverSignal,
  deployReadySignal,
  frozenSignal,
  lookSignal,
  offerWithdrawnSignal,
  overtakenSignal,
  pickedSignal,
  pipelineQuery,
  policySignal,
  releaseOverSignal,
  replacedSignal,
  statusQuery,
  waitingSignal,
  type ActionOver,
} from '../messages';
import { showDetails } from '../details';
import { measure } from '../measure';
import { declareOffersSignal, endUseSignal } from '../offers';
import { offerMessengers } from '../proxies';
import { MemoSummary } from '../summary';
import { retag } from '../tags';
import { BackgroundTasks } from '../waitFor';

const STATE_TAG = defineSearchAttributeKey('ConveyorState', 'KEYWORD');

/**
 * A pipeline's state and its inbox. It has no state before the first `apply`; until then, all other requests are
 * refused.
 */
export class PipelineRun {
  changed = true;
  /** The time at which it last saw that its releases still run; ms. */
  lookedAtMs = Date.now();
  /** Looks at releases that may have ended without a signal. */
  readonly looks = new BackgroundTasks();
  /** Looks at the calendar. */
  readonly lookups = new BackgroundTasks();
  private readonly reported = new Map<string, string>();
  /** A change of these fields alone is not worth an event. */
  private readonly summary = new MemoSummary(['deployedAt', 'outcomes', 'stopped']);
  /** Messages on their way that no step waits for. */
  private readonly outgoing = new BackgroundTasks();
  private notices = 0;
  /** The time since which notices on their way have kept this history from ending; ms. */
  heldUpSinceMs: number | undefined;
  private readonly followed = new Set<number>();
  /** The names of offers in the last message to the workflow of its offers. */
  private declared: readonly string[];
  /** The value of its search attribute; `active` if it has none. */
  tagged = workflowInfo().typedSearchAttributes.get(STATE_TAG) ?? 'active';

  state: PipelineState | null;

  /** @param answer registers the requests of programs, among the other handlers */
  constructor(carried: PipelineState | null, answer: (run: PipelineRun) => void) {
    this.state = carried && fitState(restoreState(carried));
    this.declared = carried ? listDeclaredOffers(carried) : [];
    showDetails(() => (this.state ? pipelineDetails(this.state, Date.now()) : ''));
    setHandler(statusQuery, () => this.state && pipelineStatus(this.state, Date.now()));
    setHandler(pipelineQuery, () => this.state);
    answer(this);
    for (const signal of [deployReadySignal, actionReadySignal])
      onSignal(signal, (ready) => this.receive(isReady(ready), (state, now) => enqueueReady(state, ready, now)));
    for (const signal of [deployOverSignal, actionOverSignal])
      onSignal(signal, (over) => this.receive(isOver(over), (state, now) => recordActionOver(state, over, now)));
    onSignal(pickedSignal, (pick) => this.receive(isActionOfRelease(pick), (state) => recordPick(state, pick)));
    onSignal(releaseOverSignal, (result) =>
      this.receive(isResult(result), (state, now) => recordRelease(state, result, now)),
    );
    onSignal(replacedSignal, (notice) =>
      this.receive(isReplacedNotice(notice), (state, now) => recordReplacement(state, notice, now)),
    );
    onSignal(offerWithdrawnSignal, (notice) => this.meetWithdrawal(notice), isWithdrawalNotice);
    onSignal(lookSignal, () => this.lookNow());
    openInbox<PipelineVerb>({
      verbs: PIPELINE_VERBS,
      permit: (actor) =>
        mayCommand(toPolicy(this.known()), actor)
          ? undefined
          : `${actor} is not an owner of ${this.known().spec.pipeline}`,
      whyNot: (verb, input) => whyNotPipeline(this.known(), verb, input, Date.now()),
      take: (verb, input) => {
        this.set((state, now) => takePipeline(state, verb, input, now));
        if (verb === 'freeze' || verb === 'unfreeze') this.reportFrozen();
        if (verb === 'end-use') this.toOffers(endUseSignal, input.user ?? '');
        return effectOfPipeline(verb, this.known());
      },
      record: (command) => this.record(command),
      proofs: () => this.state?.proofs,
      believe: (proofs) => this.believe(proofs),
      unknownSignal: () => undefined,
    });
  }

  /** Temporal reports the end of every release that this run has started, regardless of the cause. */
  follow(release: number, end: Promise<unknown>): void {
    this.followed.add(release);
    const ended = (): void => {
      if (this.isRunning(release)) this.lookNow();
    };
    void end.then(ended, ended);
  }

  /**
   * Whether this run has started all releases that run. Releases from before it report their ends only by themselves.
   */
  followsAll(): boolean {
    const running = this.state?.active.filter(({ state }) => state === 'running') ?? [];
    return running.every(({ number }) => this.followed.has(number));
  }

  private isRunning(release: number): boolean {
    return this.state?.active.some(({ number, state }) => number === release && state === 'running') ?? false;
  }

  /** A release has ended without a report. */
  private lookNow(): void {
    this.lookedAtMs = -Infinity;
    this.changed = true;
  }

  /** Waits for the answer to a look, or until other work is due; the loop handles the answer when it comes. */
  async look(looks: BackgroundTasks, answered: Promise<void>): Promise<void> {
    let isLate = false;
    looks.add(answered);
    // Runs once the look has left `looks`, so that the loop may begin another.
    void answered.then(() => void (this.changed ||= isLate));
    await condition(() => looks.size === 0 || this.changed);
    isLate = looks.size > 0;
  }

  /** Takes over the first spec, or another one. */
  adopt(state: PipelineState): void {
    this.state = fitState(state);
    this.changed = true;
  }

  /** Applies an event. The loop decides again, even while it still acts on its last decision. */
  set(step: (state: PipelineState, nowMs: number) => PipelineState): void {
    this.decided(step);
    this.changed = true;
  }

  /** Applies a signal unless it is malformed: any user of Temporal can send one. */
  private receive(isWellFormed: boolean, step: (state: PipelineState, nowMs: number) => PipelineState): void {
    if (isWellFormed) this.set(step);
  }

  /** Applies a decision of the loop itself, which does not make it decide again. */
  decided(step: (state: PipelineState, nowMs: number) => PipelineState): void {
    const before = this.state;
    if (before === null) return;
    this.state = fitState(step(before, Date.now()), before);
    measure(...neverStartedMeasures(before.history, this.state.history));
  }

  /** Sends a release its admission. If the release is gone, its admission is withdrawn. */
  async sendDecision(release: number, message: { action: string; admission: Admission }): Promise<void> {
    const { action } = message;
    await this.signal(release, (id) => getExternalWorkflowHandle(id).signal(admissionSignal, message)).catch(() =>
      this.set((state) => withdraw(state, { release, action })),
    );
  }

  /** Asks a deploying release to make way for another. */
  async overtake({ release, by, why }: OvertakenRelease): Promise<void> {
    await this.signal(release, (id) => getExternalWorkflowHandle(id).signal(overtakenSignal, { by, why })).catch(
      () => undefined,
    );
  }

  /** Sends a release the reason why one of its actions waits, once for each reason. */
  async reportObstacle({ release, action }: ReadyAction, { why, untilMs }: Obstacle): Promise<void> {
    const key = `${release}/${action}`;
    const report = `${why} ${untilMs}`;
    if (this.reported.get(key) === report) return;
    this.reported.set(key, report);
    const message = { action, why, ...(untilMs === undefined ? {} : { untilMs }) };
    await this.signal(release, (id) => getExternalWorkflowHandle(id).signal(waitingSignal, message)).catch(
      () => undefined,
    );
  }

  /** Sends a release that has just started the messages that the others received meanwhile. */
  catchUp(release: number, since: PipelineState): void {
    const { frozen, spec, groups } = this.known();
    const deliver = (send: (workflowId: string) => Promise<void>) => this.inPassing(release, send);
    if (frozen !== since.frozen) deliver((id) => getExternalWorkflowHandle(id).signal(frozenSignal, { by: frozen }));
    if (spec !== since.spec)
      deliver((id) => getExternalWorkflowHandle(id).signal(policySignal, toPolicy({ spec, groups })));
  }

  /**
   * Temporal's own cancel request is recorded but has no effect: a pipeline is held or frozen instead, and only releases are
   * cancelled.
   */
  cancelRequested(): void {
    const why = 'a pipeline is not cancelled; hold or freeze it';
    this.record(commandRecord('cancel', TEMPORAL_CANCEL, why));
  }

  /** Also called by handlers, which run in the scope that a cancel request cancels. */
  private signal(release: number, send: (workflowId: string) => Promise<void>): Promise<void> {
    return CancellationScope.nonCancellable(() => send(workflowIds.release(this.known().spec.pipeline, release)));
  }

  known(): PipelineState {
    if (this.state) return this.state;
    throw ApplicationFailure.nonRetryable('it was never applied', 'unknown-pipeline');
  }

  /** Sends to every running release; one that has ended needs no message. */
  toRunning(send: (workflowId: string) => Promise<void>): void {
    for (const { number, state } of this.known().active) if (state === 'running') this.inPassing(number, send);
  }

  /** Updates the summary in lists and the search attribute, once for all changes since the last step. */
  summarise(): void {
    if (this.state === null) return;
    const summary = buildListSummary(this.state);
    this.summary.show(summary);
    if (summary.state === this.tagged) return;
    this.tagged = summary.state;
    retag({ ConveyorState: summary.state });
  }

  /**
   * Resolves when all messages on their way have arrived, including those that join them meanwhile. A history that ended earlier would lose them
   * unsent.
   */
  async delivered(): Promise<void> {
    do await this.outgoing.drain();
    while (this.outgoing.size > 0);
  }

  /**
   * Whether notices are on their way. No history carries them over, so silent receivers keep the next history from beginning, for about an
   * hour.
   */
  get isNotifying(): boolean {
    return this.notices > 0;
  }

  notifying(notice: Promise<unknown>): void {
    this.notices += 1;
    void notice
      .catch(() => undefined)
      .then(() => {
        this.notices -= 1;
        this.changed = true;
      });
  }

  /** Sends the workflow of its offers the names of those that its file still has. That workflow begins with the first offer. */
  declareOffers(): void {
    if (this.state === null || !this.hasUndeclared()) return;
    const declared = listDeclaredOffers(this.state);
    this.declared = declared;
    this.toOffers(declareOffersSignal, declared);
  }

  /** Whether its file has other offers than the workflow of its offers knows. */
  hasUndeclared(): boolean {
    return this.state !== null && !sameJson(listDeclaredOffers(this.state), this.declared);
  }

  /** To a workflow that was ended from outside, an activity sends it. */
  private toOffers<T>(signal: SignalDefinition<[T]>, message: T): void {
    const { pipeline } = this.known().spec;
    const send = (): Promise<void> =>
      getExternalWorkflowHandle(workflowIds.offers(pipeline))
        .signal(signal, message)
        .catch(() => offerMessengers.signalOffers(pipeline, signal.name as OfferSignal, message));
    this.outgoing.add(CancellationScope.nonCancellable(send).catch(() => undefined));
  }

  /** Any user of Temporal can send the notice, so the offers are asked whether it is true. */
  private meetWithdrawal(notice: WithdrawalNotice): void {
    if (this.state === null || !followsWithdrawal(this.state, notice)) return;
    const { from, offer, action } = notice;
    const user = `${this.state.spec.pipeline}/${action}`;
    const undeployIf = (isTrue: boolean): void => {
      if (!isTrue || !followsWithdrawal(this.known(), notice)) return;
      const command = { actor: SYSTEM, reason: `${from} withdraws ${offer}` };
      this.set((state, now) => queueUndeploy(state, command, now));
    };
    const ask = () => offerMessengers.isWithdrawn(from, { user, offer }).then(undeployIf);
    this.outgoing.add(CancellationScope.nonCancellable(ask).catch(() => undefined));
  }

  private inPassing(release: number, send: (workflowId: string) => Promise<void>): void {
    this.outgoing.add(this.signal(release, send).catch(() => undefined));
  }

  /** Sends the freeze, or its end, to the running releases. */
  reportFrozen(): void {
    const { frozen } = this.known();
    this.toRunning((id) => getExternalWorkflowHandle(id).signal(frozenSignal, { by: frozen }));
  }

  /** A freeze with an end lifts itself at that time. */
  thaw(): void {
    if (this.state === null || !isThawing(this.state, Date.now())) return;
    const { until = '' } = this.state.frozen ?? {};
    this.set((state) => ({ ...state, frozen: null }));
    this.reportFrozen();
    this.record(commandRecord('unfreeze', { actor: SYSTEM, reason: `it was frozen until ${until}` }));
  }

  believe(proofs: Proofs): void {
    this.decided((state) => ({ ...state, proofs }));
  }

  record(command: CommandRecord): void {
    this.set((state) => ({
      ...state,
      commands: trimCommands([...state.commands, command], STATE_LIMITS.commands.max),
    }));
  }
}

/**
 * The end of a deploy is recorded before the next one is admitted, because it may hold the pipeline, or mark the same artifact as
 * bad.
 */
export function recordActionOver(
  state: PipelineState,
  { settled: deploy, ...over }: ActionOver,
  nowMs: number,
): PipelineState {
  return withdraw(deploy ? recordDeploy(state, over.release, deploy, nowMs) : state, over);
}
