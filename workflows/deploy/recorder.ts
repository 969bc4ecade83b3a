import { getExternalWorkflowHandle, workflowInfo } from '@temporalio/workflow';
import { findAlarm, type DeployAlarm } from '../../domain/deploy/alarm';
import { pushTypeWords } from '../../domain/deploy/outcome';
import { withOverrides } from '../../domain/deploy/overrides';
import { endPause, pauseDeploy, keepPaused } from '../../domain/deploy/pauseRecord';
import { change, newDeploy, note, type DeployInput, type DeployRecord } from '../../domain/deploy/state';
import { stateTag } from '../../domain/deploy/stateTag';
import { deploySummary } from '../../domain/deploy/view';
import { workflowIds } from '../../domain/ids';
import type { DeployState, Pause, PausedGroup } from '../../domain/views';
import { deployAlarmSignal, deployPausedSignal } from '../messages';
import { MemoSummary } from '../summary';
import { retag } from '../tags';

/** Keeps the record of a deploy, shows it in the lists of Temporal, and reports each pause to the release. */
export class DeployRecorder {
  record: DeployRecord;
  readonly workflowId = workflowInfo().workflowId;
  private readonly summary = new MemoSummary();
  /** The alarm that its release knows of. */
  private alarm: DeployAlarm | null = null;

  constructor(
    readonly input: DeployInput,
    carried: DeployRecord | undefined,
  ) {
    this.record = carried ?? newDeploy(Date.now());
  }

  get paused(): Pause | null {
    return this.record.control.paused;
  }

  /** Replaces the record by the result of `step`, and shows it in lists. */
  set(step: (record: DeployRecord, nowMs: number) => DeployRecord): void {
    const wasPaused = this.paused !== null;
    this.record = withOverrides(step(this.record, Date.now()), this.input.spec);
    if (!wasPaused && this.paused !== null) this.reportPause(this.paused);
    if (this.input.tellsAlarms) this.reportAlarm(findAlarm(this.record));
    if (wasPaused !== (this.paused !== null)) retag({ ConveyorState: stateTag(this.record) });
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
    retag({ ConveyorState: stateTag(this.record), ...(phase ? { ConveyorPhase: phase.name } : {}) });
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

  /** Keeps the deploy paused, from now on by health. */
  keepPaused(reason: string): void {
    this.set((record, now) => keepPaused(record, now, reason));
  }

  /** Some units wait for their health while the deploy continues. People are notified once. */
  reportGroups(groups: readonly PausedGroup[]): void {
    const [first] = groups;
    if (first === undefined) return;
    const names = groups.map(({ group }) => group).join(', ');
    this.reportPause({ actor: null, reason: `${names} paused by health: ${first.reason}` }, ` (${first.group})`);
  }

  /** A person has given the deploy a command: that answers the page about its alarm. */
  reportAnswer(actor: string): void {
    if (this.input.tellsAlarms && this.alarm !== null) this.signalAlarm({ answeredBy: actor });
  }

  private reportAlarm(alarm: DeployAlarm | null): void {
    if (alarm?.kind === this.alarm?.kind) return;
    this.alarm = alarm;
    this.signalAlarm({});
  }

  /** Nothing waits for it: a lost report costs a page, and a revert continues. */
  private signalAlarm(more: { readonly answeredBy?: string }): void {
    const { pipeline, release, action } = this.input;
    void getExternalWorkflowHandle(workflowIds.release(pipeline, release))
      .signal(deployAlarmSignal, { action, alarm: this.alarm, ...more })
      .catch(() => undefined);
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
