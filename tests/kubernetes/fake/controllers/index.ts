import type { FakeStore } from '../store';
import { reconcileDaemonSets } from './daemonSet';
import { reconcileDeployments } from './deployment';
import { collectGarbage, reconcileBudgets, schedulePods } from './others';
import type { Reconcile } from './pods';
import { earliest, reconcileReplicaSets } from './replicaSet';
import { reconcileStatefulSets } from './statefulSet';

const CONTROLLERS: readonly Reconcile[] = [
  ...[reconcileDeployments, reconcileReplicaSets, reconcileStatefulSets, reconcileDaemonSets],
  ...[schedulePods, reconcileBudgets, collectGarbage],
];

const MOST_ROUNDS = 200;

/** Runs the controllers after each change until nothing changes any more. Returns a function that stops them. */
export function runControllers(store: FakeStore): () => void {
  let isDue = false;
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;
  const settle = (): void => {
    isDue = false;
    if (isStopped) return;
    clearTimeout(timer);
    let wait: number | undefined;
    for (let round = 0, before = -1; before !== store.currentVersion; round += 1) {
      if (round > MOST_ROUNDS) throw new Error('the controllers of the fake cluster do not come to rest');
      before = store.currentVersion;
      wait = earliest(CONTROLLERS.map((reconcile) => reconcile(store)));
    }
    if (wait !== undefined) timer = setTimeout(settle, wait + 5);
  };
  const note = (): void => {
    if (isDue) return;
    isDue = true;
    // As in a real cluster, the answer to a request comes before its consequences.
    setImmediate(settle);
  };
  const stop = store.listen(note);
  note();
  return () => {
    isStopped = true;
    stop();
    clearTimeout(timer);
  };
}
