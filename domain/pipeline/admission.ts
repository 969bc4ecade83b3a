import { identityOf } from '../artifact';
import { release as letGo, request, type Granted } from '../mutex';
import { isKnownBad, type PipelineState, type ReadyDeploy } from './state';

/** What the pipeline tells a release about a deploy that it is ready to run. */
export type Admission =
  | { readonly kind: 'granted' }
  | { readonly kind: 'superseded'; readonly by: number }
  | { readonly kind: 'bad-package'; readonly reason: string };

export interface Admitted {
  readonly state: PipelineState;
  readonly told: readonly { readonly release: number; readonly action: string; readonly admission: Admission }[];
}

/** The key that a deploy holds the pipeline's exclusion by. */
const requesterOf = (deploy: Pick<ReadyDeploy, 'release' | 'action'>): string => `${deploy.release}/${deploy.action}`;

/**
 * Decides on every deploy that is ready (pipeline-spec.md "Concurrency"): a known-bad artifact is refused; a release is
 * superseded by a newer one that is ready for the same action or has begun it; one release deploys at a time, rollbacks
 * first, then in order; with `supersede: never` also behind older ones that are not ready yet. A hold stops everything
 * but rollbacks.
 */
export function admit(state: PipelineState): Admitted {
  let current = state;
  const told: Admitted['told'][number][] = [];
  for (const deploy of [...state.ready].sort(byTurn)) {
    const admission = decide(current, deploy);
    if (admission === undefined) continue;
    told.push({ release: deploy.release, action: deploy.action, admission });
    current = { ...current, ready: current.ready.filter((other) => other !== deploy) };
    if (admission.kind === 'granted') current = begun(current, deploy);
  }
  return { state: current, told };
}

/** A deploy ended, or its release gave up waiting for it. */
export function withdrawn(state: PipelineState, deploy: Pick<ReadyDeploy, 'release' | 'action'>): PipelineState {
  const ready = state.ready.filter((other) => other.release !== deploy.release || other.action !== deploy.action);
  const { mutex }: Granted = letGo(state.deploys, requesterOf(deploy));
  return { ...state, ready, deploys: mutex };
}

const byTurn = (a: ReadyDeploy, b: ReadyDeploy): number =>
  Number(b.rollback) - Number(a.rollback) || a.release - b.release;

function decide(state: PipelineState, deploy: ReadyDeploy): Admission | undefined {
  const bad = deploy.artifacts.find((artifact) => isKnownBad(state, artifact));
  if (bad)
    return {
      kind: 'bad-package',
      reason: `${identityOf(bad)} is known to be bad: ${isKnownBad(state, bad)?.reason ?? ''}`,
    };
  const newer = supersededBy(state, deploy);
  if (newer !== undefined) return { kind: 'superseded', by: newer };
  if (state.held !== null && !deploy.rollback) return undefined;
  if (comesFirst(state, deploy) !== undefined) return undefined;
  const { holder } = state.deploys;
  return holder === null || holder.owner === String(deploy.release) ? { kind: 'granted' } : undefined;
}

/** A newer one that is going to be refused itself supersedes nothing. */
function supersededBy(state: PipelineState, { release, action, rollback }: ReadyDeploy): number | undefined {
  const begunBy = state.newestBegun[action] ?? 0;
  if (begunBy > release) return begunBy;
  if (rollback || state.spec.releases.supersede === 'never') return undefined;
  const isNewer = (other: ReadyDeploy): boolean =>
    other.action === action && other.release > release && !other.rollback && !hasKnownBad(state, other);
  return state.ready.find(isNewer)?.release;
}

const hasKnownBad = (state: PipelineState, { artifacts }: ReadyDeploy): boolean =>
  artifacts.some((artifact) => isKnownBad(state, artifact) !== undefined);

/** With `supersede: never`, the older release that may still begin the same action: until it has, or ended, the others wait. */
function comesFirst(state: PipelineState, { release, action, rollback }: ReadyDeploy): number | undefined {
  if (rollback || state.spec.releases.supersede !== 'never') return undefined;
  const begunBy = state.newestBegun[action] ?? 0;
  return state.active.find(({ number }) => number > begunBy && number < release)?.number;
}

function begun(state: PipelineState, deploy: ReadyDeploy): PipelineState {
  const { mutex } = request(state.deploys, { owner: String(deploy.release), requester: requesterOf(deploy) });
  const newest = Math.max(state.newestBegun[deploy.action] ?? 0, deploy.release);
  return { ...state, deploys: mutex, newestBegun: { ...state.newestBegun, [deploy.action]: newest } };
}

/** Why a deploy that is ready does not begin, for `status`. */
export function whyWaiting(state: PipelineState, deploy: ReadyDeploy): string {
  if (state.held !== null && !deploy.rollback)
    return `the pipeline is held by ${state.held.actor}: ${state.held.reason}`;
  const { holder } = state.deploys;
  if (holder) return `release ${holder.owner} deploys`;
  const first = comesFirst(state, deploy);
  return first === undefined ? 'waiting for its turn' : `release ${first} comes first`;
}
