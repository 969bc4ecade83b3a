import { matchSelector } from './selectors';
import type { BudgetView, PodView } from './views';

/** How many more pods of a unit may be taken out of service now. Pure. */

export interface BudgetRequest {
  /** The most pods of the unit that may be out, by its config. */
  readonly mostOut: number;
  /** The pods that the workload should have. */
  readonly size: number;
  /** Pods that are there, and whether each is in service; whatever took it out counts. */
  readonly pods: readonly { readonly pod: PodView; readonly isLive: boolean }[];
  readonly budgets: readonly BudgetView[];
}

export interface BudgetRoom {
  readonly room: number;
  /** Why there is none, in words. */
  readonly reason: string | undefined;
}

/**
 * Pods that are missing count like pods that are down. A disruption budget does not know yet of a pod that was patched a moment ago and is still ready: it is
 * taken off what the budget allows.
 */
export function countPodRoom({ mostOut, size, pods, budgets }: BudgetRequest): BudgetRoom {
  const live = pods.filter(({ isLive }) => isLive).length;
  const out = Math.max(0, Math.max(size, pods.length) - live);
  const unseen = pods.filter(({ pod, isLive }) => !isLive && pod.isReady);
  const rooms = [
    { room: mostOut - out, reason: `${out} of its pods are out of service, and at most ${mostOut} may be` },
    ...budgets.flatMap(({ name, selector, allowed }) => {
      const matches = matchSelector(selector);
      if (!pods.some(({ pod }) => matches(pod.labels))) return [];
      const taken = unseen.filter(({ pod }) => matches(pod.labels)).length;
      return [
        { room: allowed - taken, reason: `the disruption budget ${name} allows no further pod to be out of service` },
      ];
    }),
  ];
  const least = rooms.reduce((best, one) => (one.room < best.room ? one : best));
  return least.room > 0 ? { room: least.room, reason: undefined } : { room: 0, reason: least.reason };
}
