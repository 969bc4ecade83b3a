import type { Authority } from '../../activities/authority';
import type { DeployCall } from '../../activities/pushCalls';
import { deployDetails } from '../../domain/deploy/details';
import { toRollbackRights } from '../../domain/deploy/heldUnits';
import type { DeployInput, DeployRecord } from '../../domain/deploy/state';
import { findRevert } from '../../domain/deploy/stop';
import { deployStatus } from '../../domain/deploy/view';
import { workflowIds } from '../../domain/ids';
import type { Policy } from '../../domain/principals';
import { toOpenTimes } from '../../domain/release/openTimes';
import { showDetails } from '../details';
import {
  BackgroundTasks,
  settle,
  waitFor,
  type Settled,
  type EndOptions,
  type WaitOptions,
  type WaitOutcome,
} from '../waitFor';
import { DeployRecorder } from './recorder';
import { StepTracker } from './stepTracker';
import { UpdateTracker } from './update';
import { DeployWindow } from './window';

/**
 * One deploy under way: its record, and the news that messages.ts folds into it. Its steps take only the parts of it that they need
 * (needs.ts).
 */
export class DeploySession extends DeployRecorder {
  /** Null if updates may start at any time. */
  readonly window: DeployWindow | null;
  readonly updates = new UpdateTracker();
  readonly steps = new StepTracker();
  // Fields with news from other workflows; only messages.ts writes them.
  policy: Policy;
  /** It holds the lock of its service. A deploy that continued as new already does. */
  holdsLock: boolean;
  /** The release no longer needs the canary that it kept. */
  keepOver = false;
  /** The number of canaries that have left the service since this deploy took the lock. */
  canaryDepartures = 0;
  /** Another release has preempted this deploy and waits for its undos. */
  isPreempted = false;
  private readonly background = new BackgroundTasks();

  constructor(input: DeployInput, carried: DeployRecord | undefined) {
    super(input, carried);
    this.holdsLock = carried !== undefined;
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
    return { ...common, ...held, ...this.authority };
  }

  /** The owners on whose behalf activities act. A rollback restores an earlier state, which needs no permission. */
  get authority(): Authority {
    const { rollback, emergency, restores } = this.input;
    const byAdmin = emergency?.byAdmin ? ({ byAdmin: true } as const) : {};
    return { owners: this.policy.owners, ...toRollbackRights(rollback, restores?.imported), ...byAdmin };
  }

  get lockId(): string {
    return workflowIds.serviceLock(this.input.spec.pushType, this.record.service ?? '');
  }

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
    return rollback || emergency !== undefined || findRevert(this.record) !== null || this.record.stage === 'reverting';
  }

  /**
   * The reason to interrupt a call that changes the fleet. A pause by the system is none: such a call itself pauses the deploy while the
   * push type is silent.
   */
  readonly findCallStop = (): 'stop' | null => (this.isClosed || this.paused?.by === 'operator' ? 'stop' : null);

  waitFor<T>(start: () => Promise<T>, options: WaitOptions): Promise<WaitOutcome<T>> {
    return waitFor(this.background, start, options);
  }

  settle<T>(start: () => Promise<T>, options?: EndOptions): Promise<Settled<T>> {
    return settle(this.background, start, options);
  }

  drain(): Promise<void> {
    return this.background.drain();
  }
}
