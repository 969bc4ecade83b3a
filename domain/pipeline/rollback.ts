import { identityOf, type Artifact } from '../artifact';
import { condemned, created, heldBy, type GoodDeploy, type PipelineState } from './state';

/** Who undoes which release, and why. */
export interface Rollback {
  readonly of: number;
  readonly actor: string;
  readonly reason: string;
  readonly notBad: boolean;
}

/** What a rollback of a release deploys: the artifacts that were good before it; or why there is nothing to go back to. */
export function rollbackOf(
  state: PipelineState,
  number: number,
): readonly Artifact[] | { readonly impossible: string } {
  const current = Object.values(state.good).flatMap((good) => good.at(-1) ?? []);
  if (!current.some(({ release }) => release === number)) {
    const newest = current.map(({ release }) => release).sort((a, b) => b - a)[0];
    return {
      impossible:
        newest === undefined ? 'nothing of it is deployed' : `release ${newest} is what runs now; revert that one`,
    };
  }
  const before = Object.values(state.good).map((good) => good.filter(({ release }) => release !== number).at(-1));
  if (before.some((good) => good === undefined)) return { impossible: 'no earlier release is known to be good' };
  const artifacts = before.flatMap((good) => good?.artifacts ?? []);
  return [...new Map(artifacts.map((artifact) => [identityOf(artifact), artifact])).values()];
}

/** The pipeline with a rollback queued: what it undoes is no longer good, known-bad unless said otherwise, and deploys are held. */
export function rolledBack(
  state: PipelineState,
  back: readonly Artifact[],
  { of, actor, reason, notBad }: Rollback,
  nowMs: number,
): PipelineState {
  const isUndone = ({ release }: GoodDeploy): boolean => release === of;
  const undone = Object.values(state.good).flatMap((good) =>
    good.filter(isUndone).flatMap(({ artifacts }) => artifacts),
  );
  const good = Object.fromEntries(
    Object.entries(state.good).map(([action, deploys]) => [action, deploys.filter((deploy) => !isUndone(deploy))]),
  );
  const why = `${actor} reverted release ${of}: ${reason}`;
  const marked = notBad ? { ...state, good } : condemned({ ...state, good }, undone, why, nowMs);
  const held = marked.held ? marked : heldBy(marked, actor, `reverted release ${of}: ${reason}`, nowMs);
  return created(held, back, { kind: 'rollback', actor, key: null, of }, nowMs);
}
