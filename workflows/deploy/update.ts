import type { SentUpdates } from '../../activities/sending';
import type { Proof } from '../../activities/following';
import type { Tracking } from '../../activities/tracking';
import type { Counted } from '../../domain/deploy/counts';
import type { PhasePlan } from '../../domain/deploy/plan';
import type { Earlier, Progress } from '../../domain/deploy/progress';
import type { DeployInput } from '../../domain/deploy/state';
import type { unboundedPush } from '../proxies';

/**
 * How the updates of a phase ended; `left` when the deploy stops or a person skips the phase, or there is no unit to update,
 * `refused` when the push type does not take them or has forgotten them, so that only another try can help.
 */
export type UpdateEnd =
  /** `unfinished`: some task of it is still to be updated; `missing`: how many do not live on the version. */
  | { readonly kind: 'met'; readonly unfinished: boolean; readonly missing: number }
  | { readonly kind: 'left' }
  /** `byCanaries`: nothing was sent, since a completion waits until none is left on its units. */
  | { readonly kind: 'refused'; readonly reason: string; readonly byCanaries?: true }
  | (Exclude<Progress, { kind: 'going' | 'met' }> & { /** The time was up. */ readonly late?: true });

/** Its own push type denies what it says that an update has brought: it counts for nothing. */
export const isDenied = (end: UpdateEnd): end is Extract<UpdateEnd, { kind: 'stuck' }> =>
  end.kind === 'stuck' && end.denied === true;

/** What a deploy knows of its updates beside its record: which one the push type has not taken yet, and which one has a rest. */
export class Update {
  private unsent: string | null = null;
  private rest: string | null = null;
  private readonly counts = new Map<string, number>();

  sending(id: string): void {
    this.unsent = id;
  }

  /** The push type has it. */
  taken(): void {
    this.unsent = null;
  }

  readonly isTaken = (id: string): boolean => id !== this.unsent;

  /** How often this was done to an update by now, also by another runner of it: a repetition has a key of its own, else it has no effect. */
  count(what: 'rounds' | 'groups', id: string): number {
    const key = `${what} of ${id}`;
    const nth = (this.counts.get(key) ?? 0) + 1;
    this.counts.set(key, nth);
    return nth;
  }

  /** Its criterion is met; `unfinished`: some of its tasks are still to be updated. */
  met(id: string, unfinished: boolean): void {
    this.rest = unfinished ? id : null;
  }

  get hasRest(): boolean {
    return this.rest !== null;
  }

  /** What is still to be updated, for whoever cancels it. */
  takeRest(): string | null {
    const { rest } = this;
    this.rest = null;
    return rest;
  }
}

/** An update, forward or back, as the runner sends and follows it. */
export interface UpdateOrder extends Pick<Tracking, 'selection' | 'withoutGone'> {
  readonly updateId: string;
  /** Not of a stride before the last: the rest is counted before the next. */
  readonly brings?: Proof['brings'];
  /** Sends it; shown in the Web UI under the options' summary. */
  readonly send: (push: ReturnType<typeof unboundedPush>, options: SendOptions) => Promise<SentOrder>;
}

interface SentOrder extends SentUpdates {
  /** How long it is followed at most, in ms, since units that did not take it need another request. */
  readonly followMs?: number;
}

export interface SendOptions {
  readonly summary: string;
  readonly cancellationType: 'WAIT_CANCELLATION_COMPLETED';
}

/** What the runner of updates needs from its caller, which differs between a phase and a revert. */
export interface UpdateControl {
  /** Waits while paused or closed. */
  readonly hold: () => Promise<void>;
  readonly show: (counted: Counted) => void;
  /** Of a phase that is tried again. */
  readonly earlier?: Earlier | undefined;
  /** The time is up, and tasks were not updated: pauses the deploy and answers true, else the updates end here. */
  readonly overdue?: (reason: string) => Promise<boolean>;
  /** Parallel mode. */
  readonly groups?: GroupControl;
}

/** Groups of units that health pauses by themselves. */
export interface GroupControl {
  /** Others are to stand still than do. */
  readonly differs: () => boolean;
  /** Makes the fleet do what `differs` asks for. */
  settle(): Promise<void>;
  /** Whether any stands still, while which the time limit does not run. */
  readonly isHolding: () => boolean;
  /** Looks at health once more after all stood still. */
  refresh(): Promise<void>;
  /** Resumes all but the groups that are to stand still. */
  resumeOthers(nth: number): Promise<void>;
  /** Waits before an update is sent, which begins in all groups. */
  untilNonePaused(): Promise<void>;
}

/** How an update is looked at; in lockstep each unit has to meet the criterion by itself. A revert waits for nothing out of reach. */
export const trackingOf = (
  { input }: { readonly input: DeployInput },
  update: Pick<Tracking, 'updateIds' | 'selection' | 'withoutGone' | 'earlier'>,
  { success, kind }: Pick<PhasePlan, 'success' | 'kind'>,
): Tracking => ({
  ...{ ...update, success },
  ...(input.spec.lockstep ? { each: true } : {}),
  ...(kind === 'revert' ? { unreachable: 'ends' as const } : {}),
});
