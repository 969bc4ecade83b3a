import { getExternalWorkflowHandle, setHandler, workflowInfo } from '@temporalio/workflow';
import {
  cancelFanOut,
  shardLost,
  shardReported,
  withStopSent,
  toStop,
  whyNotCancel,
  type FanOutInput,
  type FanOutState,
} from '../../domain/children/fanOut';
import { childrenDetails, childrenView, nextForChildren } from '../../domain/children/view';
import type { ShardReport } from '../../domain/children/window';
import { workflowIds } from '../../domain/ids';
import { trimCommands } from '../../domain/commandTrim';
import { mayCommand } from '../../domain/principals';
import { isPolicy, isShardReport } from '../../domain/messageShapes';
import type { CommandInput, CommandRecord } from '../../domain/verbs';
import { commandRecord, onSignal, openInbox, TEMPORAL_CANCEL } from '../inbox';
import { policySignal, statusQuery } from '../messages';
import { showDetails } from '../details';
import { childActivities } from '../proxies';
import { shardReportSignal, stopSignal } from './messages';

/** One fan-out under way: its state and its inbox. */
export class FanOutRun {
  private changed = true;
  private readonly followed: Promise<void>[] = [];
  private policy;

  constructor(
    readonly input: FanOutInput,
    public state: FanOutState,
  ) {
    this.policy = input.policy;
    const { workflowId } = workflowInfo();
    showDetails(() => childrenDetails(workflowId, childrenView(this.state), nextForChildren(input, this.state)));
    setHandler(statusQuery, () => childrenView(this.state));
    onSignal(policySignal, (policy) => void (this.policy = policy), isPolicy);
    onSignal(
      shardReportSignal,
      ({ index, report, over }) => this.set((state) => shardReported(state, index, report, over)),
      isShardReport,
    );
    openInbox<'cancel'>({
      verbs: ['cancel'],
      permit: (actor) => (mayCommand(this.policy, actor) ? undefined : `${actor} is not an owner of ${input.pipeline}`),
      whyNot: () => whyNotCancel(this.state),
      take: (_, command) => this.cancel(command),
      record: (command) => this.record(command),
      proofs: () => this.state.proofs,
      believe: (proofs) => this.set((state) => ({ ...state, proofs })),
      unknownSignal: () => undefined,
    });
  }

  takeChange(): boolean {
    const { changed } = this;
    this.changed = false;
    return changed;
  }

  set(step: (state: FanOutState) => FanOutState): void {
    const next = step(this.state);
    if (next === this.state) return;
    this.state = next;
    this.changed = true;
  }

  /** Temporal's own cancel request counts as the verb. */
  cancelRequested(): void {
    const why = whyNotCancel(this.state);
    if (why === undefined) this.cancel(TEMPORAL_CANCEL);
    this.record(commandRecord('cancel', TEMPORAL_CANCEL, why));
  }

  /** Follows a shard that this run started to its end. Later runs receive its signal, or look. */
  follow(index: number, result: Promise<ShardReport>): void {
    const ended = result.then(
      (report) => this.set((state) => shardReported(state, index, report, true)),
      () => this.set((state) => shardLost(state, index, this.shardId(index))),
    );
    this.followed.push(ended);
  }

  /** A shard closes just after its last report; the fan-out closes after all of them. */
  async drain(): Promise<void> {
    await Promise.all(this.followed);
  }

  /** Stops every running shard, so that it starts nothing more. */
  async sendStop(): Promise<void> {
    for (const { index } of toStop(this.state)) {
      const reason = this.state.stop?.reason ?? '';
      this.set((state) => withStopSent(state, index));
      await getExternalWorkflowHandle(this.shardId(index))
        .signal(stopSignal, { reason })
        .catch(() => undefined);
    }
  }

  /** Looks at silent shards: a terminated one cannot report, and a signal may be lost. */
  async look(): Promise<void> {
    const running = this.state.shards.filter(({ state }) => state === 'running');
    const ids = running.map(({ index }) => this.shardId(index));
    for (const { id, report } of await childActivities.shardsOver(ids)) {
      const index = running[ids.indexOf(id)]?.index ?? -1;
      this.set((state) => (report === null ? shardLost(state, index, id) : shardReported(state, index, report, true)));
    }
  }

  shardId(index: number): string {
    return workflowIds.childrenShard(this.input.pipeline, this.input.number, index);
  }

  private cancel(command: CommandInput): string {
    this.set((state) => cancelFanOut(state, command));
    return 'no more children are started; those that run continue';
  }

  private record(command: CommandRecord): void {
    this.set((state) => ({ ...state, commands: trimCommands([...state.commands, command], KEPT_COMMANDS) }));
  }
}

const KEPT_COMMANDS = 100;
