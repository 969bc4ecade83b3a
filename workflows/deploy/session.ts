import { condition, getExternalWorkflowHandle, patched, workflowInfo } from '@temporalio/workflow';
import type { Authority } from '../../activities/authority';
import type { DeployCall } from '../../activities/pushCalls';
import { deployDetails } from '../../domain/deploy/details';
import { toRollbackRights } from '../../domain/deploy/heldUnits';
import { HEALTH_DATA, pushTypeWords } from '../../domain/deploy/outcome';
import { withOverrides } from '../../domain/deploy/overrides';
import { change, newDeploy, note, type DeployInput, type DeployRecord } from '../../domain/deploy/state';
import { pauseDeploy, stillPaused, endPause } from '../../domain/deploy/pauseRecord';
import { isLeft, findStop, tryAutoRevert, type AutoRevert, type Stop, type Unhealthy } from '../../domain/deploy/stop';
import { stateTag } from '../../domain/deploy/stateTag';
import { deployStatus, deploySummary } from '../../domain/deploy/view';
import { workflowIds } from '../../domain/ids';
import type { Policy } from '../../domain/principals';
import { toOpenTimes } from '../../domain/release/openTimes';
import type { DeployState, Pause, PausedGroup } from '../../domain/views';
import { showDetails } from '../details';
import { deployPausedSignal } from '../messages';
import { MemoSummary } from '../summary';
import { retag } from '../tags';
import { BackgroundTasks, waitFor, type WaitOutcome } from '../waitFor';
import { Update } from './update';
import { DeployWindow } from './window';

/**
 * Before 0.3, a rollback failed like any deploy: it waited for a person, or went back to the version that it was to
 * undo.
 */
const COMES_THROUGH = 'a rollback is tried until it comes through';

/** Before 0.3, the list in the Web UI showed a paused deploy as if it was under way. */
const TAGS_PAUSES = 'its state shows that it is paused';

/**
 * One deploy under way: its record, and how its steps wait. Handlers (messages.ts) fold commands into the record. The
 * steps (updates, bake, pause, revert) read it when they wake.
 */
export class DeploySession {
  record: DeployRecord;
  readonly workflowId = workflowInfo().workflowId;
  /** Null if updates may start at any time. */
  readonly window: DeployWindow | null;
  readonly update = new Update();
  // Fields with news from other workflows; only messages.ts writes them.
  policy: Policy;
  /** It holds the lock of its service. A deploy that continued as new already does. */
  isHolding: boolean;
  /** The release no longer needs the canary that it kept. */
  keepOver = false;
  /** The number of canaries that have left the service since this deploy took the lock. */
  canariesLeft = 0;
  /** An emergency waits until this deploy, which is over, has undone its steps. */
  hurried = false;
  private lastStep: Promise<unknown> = Promise.resolve();
  private scripts = 0;
  private readonly background = new BackgroundTasks();
  private readonly summary = new MemoSummary();

  constructor(
    readonly input: DeployInput,
    carried: DeployRecord | undefined,
  ) {
    this.record = carried ?? newDeploy(Date.now());
    this.isHolding = carried !== undefined;
    this.policy = input.policy;
    showDetails(() => deployDetails(deployStatus(this.record, input, Date.now())));
    const times = input.rollback || input.emergency ? undefined : toOpenTimes(input);
    this.window = times ? new DeployWindow(times, () => this.record.control.skipWindow !== undefined) : null;
  }

  /** Identifies the caller to the push type. */
  get call(): DeployCall {
    const { pipeline, release, spec, actor } = this.input;
    const { workflowId: deployId, record } = this;
    const { service, fence } = record;
    const inPages = record.fleet?.inPages ? { inPages: true } : {};
    const held = { ...inPages, ...(fence === undefined ? {} : { fence }) };
    const common = { pushType: spec.pushType, pipeline, release, deployId, service, actor, config: spec.config };
    return { ...common, ...held, ...this.behalf };
  }

  /** The owners on whose behalf activities act. A rollback restores an earlier state, which needs no permission. */
  get behalf(): Authority {
    const { rollback, emergency, restores } = this.input;
    const byAdmin = emergency?.byAdmin ? ({ byAdmin: true } as const) : {};
    return { owners: this.policy.owners, ...toRollbackRights(rollback, restores?.imported), ...byAdmin };
  }

  get lockId(): string {
    return workflowIds.serviceLock(this.input.spec.pushType, this.record.service ?? '');
  }

  get paused(): Pause | null {
    return this.record.control.paused;
  }

  /** The reason why the phases end early, if there is one. */
  stop(): Stop | null {
    return findStop(this.record);
  }

  readonly isStopping = (): boolean => this.stop() !== null;

  /** Interrupts all waits of the step under way. */
  readonly isLeft = (): boolean => isLeft(this.record);

  /** No update may start now, for a reason other than a pause, and updates in the fleet are paused. A revert waits for no window. */
  get isClosed(): boolean {
    return this.record.stage !== 'reverting' && this.window?.haltsUpdates === true;
  }

  get isHalted(): boolean {
    return this.paused !== null || this.isClosed;
  }

  /** Reverts, rollbacks and emergencies never queue behind watches or forward updates. */
  get isUrgent(): boolean {
    const { rollback, emergency } = this.input;
    return rollback || emergency !== undefined || this.stop()?.kind === 'revert' || this.record.stage === 'reverting';
  }

  /** A rollback undoes a bad version: like a revert it waits for as little as possible, and only a person ends it. */
  persists(): boolean {
    return this.input.rollback && patched(COMES_THROUGH);
  }

  /** Replaces the record by the result of `step`, and shows it in lists. */
  set(step: (record: DeployRecord, nowMs: number) => DeployRecord): void {
    const wasPaused = this.paused !== null;
    this.record = withOverrides(step(this.record, Date.now()), this.input.spec);
    if (!wasPaused && this.paused !== null) this.reportPause(this.paused);
    if (wasPaused !== (this.paused !== null)) this.tagPause();
    // The state has its own search attribute, because it changes more often.
    this.summary.show({ ...deploySummary(this.record, this.input), state: null });
  }

  patch(patch: Partial<DeployRecord>): void {
    this.set((record, now) => change(record, now, patch));
  }

  note(kind: string, text: string): void {
    this.set((record, now) => note(record, now, kind, text));
  }

  /** Enters a stage, with one event for the search attributes of both the stage and the phase. */
  enter(stage: DeployState): void {
    if (this.record.stage === stage) return;
    this.patch({ stage, windowUntil: null });
    const phase = this.record.phases[this.record.cursor];
    const state = this.paused !== null && patched(TAGS_PAUSES) ? stateTag(this.record) : stage;
    retag({ ConveyorState: state, ...(phase ? { ConveyorPhase: phase.name } : {}) });
  }

  pause(by: Exclude<Pause['by'], 'operator'>, reason: string): void {
    this.set((record, now) => pauseDeploy(record, now, by, reason));
  }

  /** Pauses until a dependency works again: the push type, unless another one is named. */
  pauseOn(reason: string, more: Pick<Pause, 'on' | 'until'> = {}): void {
    const on = pushTypeWords(this.input.spec.pushType);
    this.set((record, now) => pauseDeploy(record, now, 'dependency', reason, { on, ...more }));
  }

  unpause(text: string): void {
    this.set((record, now) => endPause(record, now, text));
  }

  /** Records that a resume found no healthy verdict. */
  stayPaused(reason: string): void {
    this.set((record, now) => stillPaused(record, now, reason));
  }

  tryAutoRevert(unhealthy: Unhealthy): AutoRevert {
    const { canary } = this.input;
    const tried = tryAutoRevert(this.record, { canary, rollback: this.persists() }, unhealthy, Date.now());
    if (tried.kind === 'reverting') this.set(() => tried.record);
    return tried;
  }

  /** @returns true if it is paused; false if it reverts. */
  revertOrPause(unhealthy: Unhealthy, by: Exclude<Pause['by'], 'operator'> = 'health'): boolean {
    const tried = this.tryAutoRevert(unhealthy);
    // The judgement needs health data, so health data is the dependency that may be missing.
    if (tried.kind === 'kept' && by === 'dependency') this.pauseOn(tried.reason, { on: HEALTH_DATA });
    else if (tried.kind === 'kept') this.pause(by, tried.reason);
    return tried.kind === 'kept';
  }

  /** Some units wait for their health while the deploy continues. People are notified once. */
  reportGroups(groups: readonly PausedGroup[]): void {
    const [first] = groups;
    if (first === undefined) return;
    const names = groups.map(({ group }) => group).join(', ');
    this.reportPause({ actor: null, reason: `${names} paused by health: ${first.reason}` }, ` (${first.group})`);
  }

  /** A step before or after a phase has begun. Its undo waits until it has ended, even if it is given up. */
  stepBegan<T>(step: Promise<T>): Promise<T> {
    this.lastStep = step.catch(() => undefined);
    return step;
  }

  /** Resolves when the step that began last has ended. */
  stepOver(): Promise<unknown> {
    return this.lastStep;
  }

  /** Counts one more script. @returns the number of scripts in this history. */
  countScript(): number {
    this.scripts += 1;
    return this.scripts;
  }

  waitFor<T>(
    start: () => Promise<T>,
    wake: () => boolean = this.isLeft,
    timeout?: { afterMs: number; summary: string },
  ): Promise<WaitOutcome<T>> {
    return waitFor(this.background, start, wake, timeout);
  }

  /** Waits for a condition, at most as long as given; false if the time was up first. */
  until(wake: () => boolean, timeout?: { afterMs: number; summary: string }): Promise<boolean> {
    return timeout ? condition(wake, timeout.afterMs, { summary: timeout.summary }) : condition(wake).then(() => true);
  }

  drained(): Promise<void> {
    return this.background.drained();
  }

  private tagPause(): void {
    if (patched(TAGS_PAUSES)) retag({ ConveyorState: stateTag(this.record) });
  }

  private reportPause({ actor, reason }: Pick<Pause, 'actor' | 'reason'>, part = ''): void {
    const { pipeline, release, action, tellsPauses } = this.input;
    if (!tellsPauses) return;
    const name = this.record.phases[this.record.cursor]?.name;
    const phase = name === undefined ? null : `${name}${part}`;
    void getExternalWorkflowHandle(workflowIds.release(pipeline, release))
      .signal(deployPausedSignal, { action, phase, actor, reason })
      .catch(() => undefined);
  }
}
