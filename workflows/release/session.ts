import { patched } from '@temporalio/workflow';
import type { Authority } from '../../activities/authority';
import { toRollbackRights } from '../../domain/deploy/heldUnits';
import { formatIdentity, type Artifact } from '../../domain/artifact';
import { SYSTEM, type Overtaken } from '../../domain/deploy/control';
import type { SlackThread } from '../../domain/notify/slackApp';
import type { Remains } from '../../domain/offers/ofPipeline';
import type { Policy } from '../../domain/principals';
import type { Admission } from '../../domain/release/admission';
import { RELEASE_FREE } from '../../domain/release/control';
import { releaseDetails } from '../../domain/release/details';
import { hasActionEnded } from '../../domain/release/nextActions';
import type { CarriedResult, RecalledResults } from '../../domain/release/rerun';
import {
  log,
  newRelease,
  getActionStates,
  withAction,
  type ActionRecord,
  type DeployEndRecord,
  type ReleaseControl,
  type ReleaseInput,
  type ReleaseRecord,
} from '../../domain/release/state';
import { releaseStatus, releaseSummary } from '../../domain/release/view';
import type { DeployAction } from '../../domain/spec/pipeline';
import { formatTime, withReason } from '../../domain/text';
import { listReleaseLabels } from '../../domain/where/words';
import type { ActionState, ReleaseCause } from '../../domain/views';
import { showDetails } from '../details';
import { MemoSummary } from '../summary';
import { retag } from '../tags';
import { BackgroundTasks } from '../waitFor';
import { GlobalGroups } from './globalGroups';
import { RunningDeploys } from './runningDeploys';

interface ReceiverLine {
  underWay: number;
  thread?: SlackThread;
}

/**
 * One release under way: its record, and the facts that its running actions need. Handlers (messages.ts) fold messages into it. The loop and
 * the actions read it when they wake.
 */
export class ReleaseSession {
  record: ReleaseRecord;
  readonly admissions = new Map<string, Admission>();
  /** The reports to the pipeline on their way that an attempt is over, by action. */
  readonly overs = new Map<string, Promise<void>>();
  /** The exclusion groups across pipelines that it holds. */
  readonly groups = new GlobalGroups();
  readonly deploys = new RunningDeploys(this);
  /** For a rerun: the results of the release before it. */
  recalled: RecalledResults | null = null;
  /** The reason why its pipeline can no longer be reached. */
  unreachable: string | null = null;
  /** The configurations of deploys with the values of the offers that they use, by action. */
  readonly filled = new Map<string, DeployAction['with']['config']>();
  /** The messages about offers on their way, by action: each is sent after the one before has arrived. */
  readonly offerMessages = new Map<string, Promise<void>>();
  /** Deploy actions that an attempt may have left on two versions. */
  readonly mixed = new Map<string, Remains>();
  /** The notices under way to receivers of the settings, by name, and the message that each keeps about this release. */
  readonly receiverLines = new Map<string, ReceiverLine>();
  /** Pauses of deploys that people were notified of. */
  readonly notifiedPauses = new Set<string>();
  /** The number of scripts that it has begun. */
  scripts = 0;
  /** Deploys whose end has been reported to its pipeline. */
  private readonly told = new Set<DeployEndRecord>();
  /** The number of its deploys that had succeeded when its pipeline was asked to undo them. */
  askedToUndo = 0;
  // Fields with news from other workflows; only messages.ts writes them.
  control: ReleaseControl;
  /** The principals that may command it and its deploys. */
  policy: Policy;
  /** Bugs that it was notified of. */
  readonly bugs = new Set<string>();
  /** The release for which its deploys have to make way. */
  overtaken: Overtaken | null = null;
  private changed = true;
  private readonly summary = new MemoSummary();
  private tagsPause = false;
  /** The labels by which Temporal lists it. */
  private labels: readonly string[];
  private readonly running = new BackgroundTasks();
  private readonly signals = new BackgroundTasks();

  constructor(readonly input: ReleaseInput) {
    this.record = newRelease(input, Date.now());
    this.policy = input.policy;
    this.control = { ...RELEASE_FREE, frozen: input.frozen ?? null };
    this.labels = listReleaseLabels(input.trigger, input.artifacts);
    showDetails(() => this.details());
  }

  private details(): string {
    const reverted = this.record.deploys.some(({ result }) => result.outcome === 'reverted');
    return releaseDetails(releaseStatus(this.record, this.input), reverted);
  }

  /** The artifacts of the release before; for a rerun, those that the first run compared with. */
  get previous(): readonly Artifact[] {
    return this.recalled?.previous ?? this.input.previous;
  }

  /** True once after a change: the loop decides again. */
  takeChange(): boolean {
    const { changed } = this;
    this.changed = false;
    return changed;
  }

  /** Updates the summary in lists. */
  summarise(): void {
    const summary = releaseSummary(this.record, this.input);
    this.summary.show(summary);
    this.label(summary.artifacts);
    const isPaused = summary.state === 'paused';
    if (isPaused === this.tagsPause) return;
    this.tagsPause = isPaused;
    retag({ ConveyorState: isPaused ? 'paused' : 'running' });
  }

  /** Lists it also under what its actions have made (docs/adr/0076-a-release-is-listed-under-its-revisions.md). */
  private label(artifacts: readonly Artifact[]): void {
    if (artifacts.length === this.input.artifacts.length) return;
    const labels = listReleaseLabels(this.input.trigger, artifacts);
    if (labels.every((label) => this.labels.includes(label))) return;
    // Since 30 November 2026; releases that began earlier had no labels.
    if (!patched('labels-name-outputs')) return;
    this.labels = labels;
    retag({ ConveyorLabels: labels });
  }

  set(record: ReleaseRecord): void {
    this.record = record;
    this.changed = true;
  }

  patch(action: string, patch: Partial<ActionRecord>): void {
    this.set(withAction(this.record, action, patch));
  }

  log(kind: string, text: string): void {
    this.set(log(this.record, Date.now(), kind, text));
  }

  begin(action: string): void {
    this.patch(action, { state: 'running', startedAt: formatTime(Date.now()) });
    this.log('action-started', `${action} begins`);
  }

  /** The action does not run: it has succeeded in the release that this one runs again. */
  carry(action: string, { from, outputs, message }: CarriedResult): void {
    const patch = { outputs, carriedFrom: from, state: 'succeeded', message, endedAt: formatTime(Date.now()) } as const;
    this.patch(action, patch);
    this.log(
      'action-carried',
      withReason(`${action} succeeded in release ${from}, and is carried over`, message ?? ''),
    );
    this.warnOf(action, outputs);
  }

  /** Its output is known to be bad. Tests may continue, but its deploy will be refused. */
  private warnOf(action: string, made: readonly Artifact[]): void {
    const bad = made.map(formatIdentity).filter((identity) => this.input.knownBad?.includes(identity));
    if (bad.length === 0) return;
    this.patch(action, { knownBad: bad });
    this.log('known-bad', `${action} made known-bad artifacts, which are not deployed: ${bad.join(', ')}`);
  }

  skip(action: string, reason: string): void {
    this.close(action, 'skipped', reason);
  }

  close(
    action: string,
    state: Extract<ActionState, 'succeeded' | 'failed' | 'cancelled' | 'skipped'>,
    message: string,
    patch: Partial<ActionRecord> = {},
  ): void {
    this.patch(action, { ...patch, state, message, blockedBy: null, until: null, endedAt: formatTime(Date.now()) });
    this.log(`action-${state}`, `${action} ${state}: ${message}`);
    this.warnOf(action, patch.outputs ?? []);
  }

  cancelWaiting(): void {
    for (const [name, { state }] of Object.entries(this.record.actions))
      if (state === 'waiting') this.closeCancelled(name, this.endedBy());
  }

  /** The actor that ends the release, for the actions that end with it. */
  endedBy(): string {
    const { ending } = this.control;
    if (ending?.actor === SYSTEM && this.bugs.size > 0) return ending.reason;
    return `${ending?.revert ? 'reverted' : 'cancelled'} by ${ending?.actor ?? 'a person'}`;
  }

  /**
   * Whether the end of a deploy is still to be reported. The pipeline learns of each once: with the end of the action, or with a
   * revert that undoes it.
   */
  tells(deploy: DeployEndRecord): boolean {
    const isNews = !this.told.has(deploy);
    this.told.add(deploy);
    return isNews;
  }

  /** The ends of deploys that are not yet reported to its pipeline. */
  unsettled(): readonly DeployEndRecord[] {
    return this.record.deploys.filter((deploy) => this.tells(deploy));
  }

  /** The reason why nothing may begin now; a rollback is not affected by a freeze. */
  hindrance(): string | undefined {
    const { paused, frozen } = this.control;
    if (paused) return 'the release is paused';
    return frozen && this.input.trigger.kind !== 'rollback'
      ? `the pipeline is frozen by ${frozen.actor}: ${frozen.reason}`
      : undefined;
  }

  /** A person's cancel is also the cause of the release's end; after a revert, the end of its deploy is. */
  closeCancelled(action: string, message: string): void {
    if (this.control.ending && !this.control.ending.revert) this.because('operator');
    this.close(action, 'cancelled', message);
  }

  /**
   * Sets the reason why the release as a whole ends cancelled, and the release that caused it; the first cause counts.
   */
  because(cause: ReleaseCause, by?: number): void {
    if (this.record.cause === null) this.set({ ...this.record, cause, ...(by === undefined ? {} : { causedBy: by }) });
  }

  admitted(action: string, admission: Admission): void {
    this.admissions.set(action, admission);
    this.changed = true;
  }

  waits(action: string, why: string, untilMs: number | undefined): void {
    const until = untilMs === undefined ? null : formatTime(untilMs);
    if (this.record.actions[action]?.state === 'blocked') this.patch(action, { blockedBy: why, until });
  }

  markUnreachable(why: string): void {
    this.unreachable = why;
    this.changed = true;
  }

  /** Notices on their way; they delay nothing except the end of the workflow. */
  notices(work: Promise<void>): void {
    this.signals.add(work);
  }

  notified(): Promise<void> {
    return this.signals.drain();
  }

  /** Keeps work that runs alongside the loop, so that the release ends after it. */
  track(work: Promise<void>): void {
    this.running.add(work);
  }

  workEnded(): Promise<void> {
    return this.running.drain();
  }

  /** Whether the release ends with the action that asks. Then one message reports both ends, if the pipeline records both. */
  get endsNow(): boolean {
    return this.running.size === 1 && Object.values(getActionStates(this.record)).every(hasActionEnded);
  }

  end(): void {
    this.set({ ...this.record, endedAtMs: Date.now(), paused: false });
  }

  /** The owners on whose behalf activities act. A rollback restores an earlier state, which needs no permission. */
  get behalf(): Authority {
    const { kind, imported } = this.input.trigger;
    return { owners: this.policy.owners, ...toRollbackRights(kind === 'rollback', imported) };
  }
}
