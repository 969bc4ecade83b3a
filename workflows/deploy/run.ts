import {
  condition,
  getExternalWorkflowHandle,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { Behalf } from '../../activities/behalf';
import type { DeployCall } from '../../activities/pushCalls';
import type { RevertRequest } from '../../activities/reverts';
import {
  effectOf,
  forgive,
  freeze,
  isReverting,
  reverting,
  take,
  whyNot,
  whyNotOvertaken,
  type Overtaken,
} from '../../domain/deploy/control';
import { deployDetails } from '../../domain/deploy/details';
import { withOverrides } from '../../domain/deploy/overrides';
import {
  change,
  newDeploy,
  note,
  pausedBy,
  situationOf,
  stillPaused,
  unpaused,
  type DeployInput,
  type DeployRecord,
} from '../../domain/deploy/state';
import { reachedParts, reachedWithoutPast } from '../../domain/deploy/planRevert';
import { unitNames } from '../../domain/deploy/unavailable';
import { deployStatus, deploySummary } from '../../domain/deploy/view';
import { openTimesOf } from '../../domain/release/openTimes';
import { frozenWords } from '../../domain/pipeline/freeze';
import { withReason } from '../../domain/text';
import { workflowIds } from '../../domain/ids';
import { keptCommands } from '../../domain/keptCommands';
import { mayCommand, type Policy } from '../../domain/principals';
import { commandText, DEPLOY_VERBS, type CommandInput, type CommandRecord, type DeployVerb } from '../../domain/verbs';
import type { DeployState, Pause, PausedGroup } from '../../domain/views';
import { commandRecord, onSignal, openInbox, TEMPORAL_CANCEL } from '../inbox';
import { guestLeftSignal } from '../lock';
import {
  canaryKeepOverSignal,
  deployPausedSignal,
  frozenSignal,
  overtakenSignal,
  policySignal,
  statusQuery,
  type Frozen,
} from '../messages';
import { retag } from '../tags';
import { Summary } from '../summary';
import { DeployWindow } from './window';
import { Leftovers, waitFor, type Waited } from '../waiting';

/** Why a deploy leaves its phases before they are through. */
export type Stop =
  | { readonly kind: 'cancel' | 'overtaken' }
  /** `by` is `health`, or the person who asked. */
  | { readonly kind: 'revert'; readonly by: string; readonly reason: string };

/**
 * One deploy under way: its record, its inbox and how its steps wait. Handlers fold commands into the record; the
 * steps (updates, bake, pause, revert) read it when they wake.
 */
export class DeployRun {
  record: DeployRecord;
  readonly workflowId = workflowInfo().workflowId;
  /** Null where updates may start at any time. */
  readonly window: DeployWindow | null;
  /** The update that the push type has not taken yet. */
  unsent: string | null = null;
  /** The release lets go of a canary that it kept. */
  keepOver = false;
  /** How many canaries have left the service since this deploy holds it. */
  guestsLeft = 0;
  /** The step before or after a phase that was begun last, until it has ended; also one that was given up. */
  lastStep: Promise<unknown> = Promise.resolve();
  /** How many scripts it has begun, in this history. */
  scripts = 0;
  /** An emergency waits until this deploy, which is over, has undone what it did. */
  hurried = false;
  /** Whether the push type takes prefetches, as far as is known. */
  prefetches = true;
  /** The update whose criterion is met while some of its tasks are still to be updated. */
  rest: string | null = null;
  /** Lockstep: where the traffic goes since this deploy shifted it last, as far as is known. */
  shifted: string | null = null;
  policy: Policy;
  private unhealthy: Stop | null = null;
  private readonly leftovers = new Leftovers();
  private readonly summary = new Summary();

  constructor(
    readonly input: DeployInput,
    carried: DeployRecord | undefined,
  ) {
    this.record = carried ?? newDeploy(Date.now());
    this.policy = input.policy;
    const times = input.rollback || input.emergency ? undefined : openTimesOf(input);
    this.window = times ? new DeployWindow(times, () => this.record.control.skipWindow !== undefined) : null;
    const { pipeline } = input;
    setHandler(statusQuery, () => deployStatus(this.record, input, Date.now()));
    onSignal(policySignal, (policy) => void (this.policy = policy));
    onSignal(frozenSignal, (frozen) => this.freeze(frozen));
    onSignal(canaryKeepOverSignal, () => void (this.keepOver = true));
    onSignal(guestLeftSignal, () => void (this.guestsLeft += 1));
    onSignal(overtakenSignal, (overtaken) => this.overtaken(overtaken));
    openInbox<DeployVerb>({
      verbs: DEPLOY_VERBS,
      permit: (actor) => (mayCommand(this.policy, actor) ? undefined : `${actor} is not an owner of ${pipeline}`),
      whyNot: (verb, input) => whyNot(this.situation(), verb, input),
      take: (verb, command) => this.take(verb, command),
      record: (command) => this.recordCommand(command),
      proofs: () => this.record.proofs,
      believe: (proofs) => this.patch({ proofs }),
      unknownSignal: (name) => this.note('ignored', `ignored the unknown signal ${name}`),
    });
  }

  /** Who calls, for the push type. */
  get call(): DeployCall {
    const { pipeline, release, spec, actor } = this.input;
    const { workflowId: deployId, record } = this;
    const { service, fence } = record;
    const inPages = record.fleet?.inPages ? { inPages: true } : {};
    const held = { ...inPages, ...(fence === undefined ? {} : { fence }) };
    const common = { pushType: spec.pushType, pipeline, release, deployId, service, actor, config: spec.config };
    return { ...common, ...held, ...this.behalf };
  }

  /** For whom activities touch the world; a rollback brings back what was, which nobody has to be allowed. */
  get behalf(): Behalf {
    const { rollback, emergency } = this.input;
    const byAdmin = emergency?.byAdmin ? ({ byAdmin: true } as const) : {};
    return { owners: this.policy.owners, ...(rollback ? { back: true } : {}), ...byAdmin };
  }

  get lockId(): string {
    return workflowIds.serviceLock(this.input.spec.pushType, this.record.service ?? '');
  }

  /** Replaces the record by what `step` makes of it, and shows it in the Web UI. */
  set(step: (record: DeployRecord, nowMs: number) => DeployRecord): void {
    const { paused } = this.record.control;
    this.record = withOverrides(step(this.record, Date.now()), this.input.spec);
    if (paused === null && this.paused !== null) this.tellPause(this.paused);
    setCurrentDetails(deployDetails(deployStatus(this.record, this.input, Date.now())));
    // The state is a search attribute, which changes more often.
    this.summary.say({ ...deploySummary(this.record, this.input), state: null });
  }

  patch(patch: Partial<DeployRecord>): void {
    this.set((record, now) => change(record, now, patch));
  }

  note(kind: string, text: string): void {
    this.set((record, now) => note(record, now, kind, text));
  }

  /** Enters a stage; one search attribute event, also for the phase. */
  enter(stage: DeployState): void {
    if (this.record.stage === stage) return;
    this.patch({ stage, windowUntil: null });
    const phase = this.record.phases[this.record.cursor];
    retag({ ConveyorState: stage, ...(phase ? { ConveyorPhase: phase.name } : {}) });
  }

  pause(by: Exclude<Pause['by'], 'operator'>, reason: string): void {
    this.set((record, now) => pausedBy(record, now, by, reason));
  }

  /** Some units wait for their health while the deploy goes on: somebody should know, once. */
  tellGroups(groups: readonly PausedGroup[]): void {
    const [first] = groups;
    if (first === undefined) return;
    const names = groups.map(({ group }) => group).join(', ');
    this.tellPause({ actor: null, reason: `${names} paused by health: ${first.reason}` }, ` (${first.group})`);
  }

  unpause(text: string): void {
    this.set((record, now) => unpaused(record, now, text));
  }

  /** A resume that found no healthy verdict. */
  stayPaused(reason: string): void {
    this.set((record, now) => stillPaused(record, now, reason));
  }

  get paused(): Pause | null {
    return this.record.control.paused;
  }

  /**
   * An unhealthy verdict: reverts, unless a person said not to or nothing is known to go back to (docs/design/deploy.md#revert).
   * @returns undefined when it reverts, else what to say instead.
   */
  condemn(reason: string): string | undefined {
    if (this.record.control.noRevert) return reason;
    // A canary goes back to what its units run then.
    const lost = this.input.canary ? [] : this.withoutPast();
    if (lost.length > 0)
      return `${reason}; not reverted, since nothing is known about what ${unitNames(lost)} ran before`;
    this.unhealthy = { kind: 'revert', by: 'health', reason };
    this.set((record, now) => change(record, now, { control: reverting(record.control, record.control.revert) }));
    this.note('unhealthy', reason);
    return undefined;
  }

  /** What is unhealthy before anything was updated says nothing about whether it gets worse (docs/design/deploy.md#emergency-push). */
  forgiveUnhealthy(reason: string): void {
    const checks = [...new Set(this.record.health.flatMap((row) => (row.verdict === 'unhealthy' ? [row.check] : [])))];
    this.set((record, now) => change(record, now, { control: forgive(record.control, checks, reason, now) }));
    this.note('check-skipped', `${checks.join(', ')} not counted: ${reason}`);
  }

  /** Units that were updated, and of which nobody knows what to go back to. */
  withoutPast(): string[] {
    const { fleet } = this.record;
    return fleet ? reachedWithoutPast(fleet.withoutPast, reachedParts(this.record)) : [];
  }

  /** Back to what ran before, of all that was updated so far; null when nothing was. */
  revertOf(updateId: string): RevertRequest | null {
    const { updates, fleet } = this.record;
    if (updates.length === 0 || fleet === null) return null;
    const { lastGood, version } = this.input;
    const { snapshot, now } = fleet;
    const rules = { lastGood, deployed: version };
    return { updateId, parts: reachedParts(this.record), snapshot, ...(now ? { now } : {}), rules, updatedBy: updates };
  }

  /** What ends the phases early, if anything: a person's revert, an unhealthy verdict, a cancel, another release, in this order. */
  stop(): Stop | null {
    const { revert, cancel, overtaken } = this.record.control;
    if (revert) return { kind: 'revert', by: revert.actor, reason: revert.reason };
    if (this.unhealthy) return this.unhealthy;
    if (cancel) return { kind: 'cancel' };
    const makesWay = overtaken !== null && (overtaken.why === 'preempted' || this.situation().phase === null);
    return makesWay ? { kind: 'overtaken' } : null;
  }

  /** What goes back, or is an emergency, waits behind nothing that watches or goes forward. */
  get isUrgent(): boolean {
    const { rollback, emergency } = this.input;
    return rollback || emergency !== undefined || this.stop()?.kind === 'revert' || this.record.stage === 'reverting';
  }

  waitFor<T>(
    start: () => Promise<T>,
    wake: () => boolean,
    timeout?: { afterMs: number; summary: string },
  ): Promise<Waited<T>> {
    return waitFor(this.leftovers, start, wake, timeout);
  }

  /** Waits for something to become true, at most as long as given; false when the time was up first. */
  until(wake: () => boolean, timeout?: { afterMs: number; summary: string }): Promise<boolean> {
    return timeout ? condition(wake, timeout.afterMs, { summary: timeout.summary }) : condition(wake).then(() => true);
  }

  drained(): Promise<void> {
    return this.leftovers.drained();
  }

  /** Temporal's own cancel request means the verb; while reverting it is put on record and ignored (docs/design/deploy.md#verbs). */
  cancelRequested(): void {
    const why = whyNot(this.situation(), 'cancel', TEMPORAL_CANCEL);
    if (why === undefined) this.take('cancel', TEMPORAL_CANCEL);
    this.recordCommand(commandRecord('cancel', TEMPORAL_CANCEL, why));
  }

  /** A rollback is a revert, which a freeze does not stop. */
  private freeze({ by }: Frozen): void {
    if (this.input.rollback) return;
    this.set((record, now) => change(record, now, { control: freeze(record.control, by) }));
    this.note(by ? 'frozen' : 'unfrozen', by ? withReason(frozenWords(by), by.reason) : 'unfrozen');
  }

  private overtaken(overtaken: Overtaken): void {
    const text = `${overtaken.why} by release ${overtaken.by}`;
    const why = this.unhealthy ? 'it is about to be reverted' : whyNotOvertaken(this.situation(), overtaken);
    if (why !== undefined) {
      this.hurried ||= overtaken.why === 'preempted';
      return this.note('ignored', `not ${text}: ${why}`);
    }
    this.hurried ||= overtaken.why === 'preempted';
    this.set((record, now) => change(record, now, { control: { ...record.control, overtaken } }));
    this.note('overtaken', text);
  }

  /** From the verdict on it counts as reverting, though updates may have to be given up first. */
  private situation() {
    const situation = situationOf(this.record, this.input.spec);
    return { ...situation, reverting: situation.reverting || this.unhealthy !== null };
  }

  private tellPause({ actor, reason }: Pick<Pause, 'actor' | 'reason'>, part = ''): void {
    const { pipeline, release, action, tellsPauses } = this.input;
    if (!tellsPauses) return;
    const name = this.record.phases[this.record.cursor]?.name;
    const phase = name === undefined ? null : `${name}${part}`;
    void getExternalWorkflowHandle(workflowIds.release(pipeline, release))
      .signal(deployPausedSignal, { action, phase, actor, reason })
      .catch(() => undefined);
  }

  private take(verb: DeployVerb, command: CommandInput): string {
    const situation = this.situation();
    const effect = effectOf(verb, situation, command);
    if (verb === 'revert' && isReverting(situation)) return effect;
    this.set((record, now) => change(record, now, { control: take(record.control, verb, command, now) }));
    return effect;
  }

  private recordCommand(command: CommandRecord): void {
    this.patch({ commands: keptCommands([...this.record.commands, command], MAX_COMMANDS) });
    this.note(command.accepted ? 'command' : 'ignored', commandText(command));
  }
}

const MAX_COMMANDS = 200;
