import type { SentUpdates } from '../../activities/updateSender';
import type { Proof } from '../../activities/updateLooks';
import type { UpdateTrackingRequest } from '../../activities/unitTracker';
import type { UpdateUnitCounts } from '../../domain/deploy/counts';
import type { PhasePlan } from '../../domain/deploy/plan';
import type { Earlier, Progress } from '../../domain/deploy/progress';
import type { DeployInput } from '../../domain/deploy/state';
import type { patientPush } from '../proxies';

/**
 * How the updates of a phase ended. `empty`: there is no unit to update. `refused`: the push type does not take them or has
 * forgotten them, so that only another try can help.
 */
export type UpdateEnd =
  /**
   * `unfinished`: some of its tasks are still to be updated; `missing`: the number of tasks that are not live on the
   * version.
   */
  | { readonly kind: 'met'; readonly unfinished: boolean; readonly missing: number }
  | { readonly kind: 'empty' }
  /** `byCanaries`: nothing was sent, because a completion waits until no canary is left on its units. */
  | { readonly kind: 'refused'; readonly reason: string; readonly byCanaries?: true }
  | (Exclude<Progress, { kind: 'going' | 'met' }> & { /** The time was up. */ readonly late?: true });

/** The push type contradicts its own report of an update, so the update does not count. */
export const isDenied = (end: UpdateEnd): end is Extract<UpdateEnd, { kind: 'stuck' }> =>
  end.kind === 'stuck' && end.denied === true;

/**
 * The facts about its updates that a deploy keeps outside its record: the update that the push type has not taken yet, and the one with
 * a rest.
 */
export class UpdateTracker {
  private unsent: string | null = null;
  private rest: string | null = null;
  private readonly counts = new Map<string, number>();

  markSending(id: string): void {
    this.unsent = id;
  }

  /** The push type has taken it. */
  markTaken(): void {
    this.unsent = null;
  }

  readonly isTaken = (id: string): boolean => id !== this.unsent;

  /** Counts how often this was done to an update, also by other runners of it. Each repetition needs a key of its own, else it has no effect. */
  count(what: 'rounds' | 'groups', id: string): number {
    const key = `${what} of ${id}`;
    const nth = (this.counts.get(key) ?? 0) + 1;
    this.counts.set(key, nth);
    return nth;
  }

  /** The criterion of an update is met; `unfinished`: some of its tasks are still to be updated. */
  markMet(id: string, unfinished: boolean): void {
    this.rest = unfinished ? id : null;
  }

  get hasRest(): boolean {
    return this.rest !== null;
  }

  /** Takes the update with tasks still to be updated, for a caller that cancels it. */
  takeRest(): string | null {
    const { rest } = this;
    this.rest = null;
    return rest;
  }
}

/** An update, forward or back, as the runner sends and follows it. */
export interface UpdateOrder extends Pick<UpdateTrackingRequest, 'selection' | 'withoutGone' | 'removes'> {
  readonly updateId: string;
  /** Left out for all strides before the last, because their rest is counted before the next stride anyway. */
  readonly brings?: Proof['brings'];
  /** Sends the update; the Web UI shows it under the summary in the options. */
  readonly send: (push: ReturnType<typeof patientPush>, options: SendOptions) => Promise<SentOrder>;
}

interface SentOrder extends SentUpdates {
  /** The longest time that it is followed, in ms, since units that did not take it need another request. */
  readonly followMs?: number;
}

interface SendOptions {
  readonly summary: string;
  readonly cancellationType: 'WAIT_CANCELLATION_COMPLETED';
}

/** The runner of updates needs these from its caller; they differ between a phase and a revert. */
export interface UpdateControl {
  /** Waits while paused or closed. */
  readonly awaitGo: () => Promise<void>;
  readonly show: (counted: UpdateUnitCounts) => void;
  /** The earlier tries, for a phase that is tried again. */
  readonly earlier?: Earlier | undefined;
  /**
   * The time is up and some tasks were not updated. If it answers true it has paused the deploy, else the updates end
   * here.
   */
  readonly overdue?: (reason: string) => Promise<boolean>;
  /** Parallel mode. */
  readonly groups?: GroupControl;
}

/** Groups of units that health pauses by themselves. */
export interface GroupControl {
  /** Whether the set of groups to pause differs from the set that is paused. */
  readonly differs: () => boolean;
  /** Makes the fleet pause exactly the groups that should be. */
  applyPauses(): Promise<void>;
  /** Whether any group is paused; the time limit does not run meanwhile. */
  readonly hasPausedGroups: () => boolean;
  /** Judges health once more after all groups were halted. */
  refresh(): Promise<void>;
  /** Resumes all groups except those to be paused. */
  resumeOthers(nth: number): Promise<void>;
  /** Waits before an update is sent, because an update begins in all groups. */
  untilNonePaused(): Promise<void>;
}

/** The tracking of an update. In lockstep, each unit has to meet the criterion by itself. A revert does not wait for unreachable units. */
export const buildTracking = (
  { input }: { readonly input: DeployInput },
  update: Pick<UpdateTrackingRequest, 'updateIds' | 'selection' | 'withoutGone' | 'removes' | 'earlier'>,
  { success, kind }: Pick<PhasePlan, 'success' | 'kind'>,
): UpdateTrackingRequest => ({
  ...{ ...update, success },
  ...(input.spec.lockstep ? { each: true } : {}),
  ...(kind === 'revert' ? { unreachable: 'ends' as const } : {}),
});
