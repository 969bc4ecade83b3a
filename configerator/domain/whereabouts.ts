import type { ReleaseCause, ReleaseState } from '../../domain/views';

/** A release that has a change among its artifacts. */
export interface ChangeRelease {
  readonly id: string;
  readonly number: number;
  readonly state: ReleaseState;
  readonly cause: ReleaseCause | null;
  readonly artifacts: readonly { readonly version: string }[];
  readonly pausedDeploy?: { readonly id: string } | undefined;
}

/**
 * The state of a change. `proposed`: no release has it yet, as far as is known. `waiting`, `releasing`, `paused`: one
 * does. `given-up`: one had it, and ended without landing it.
 */
export type Whereabouts =
  | { readonly where: 'landed' | 'proposed' }
  | {
      readonly where: 'waiting' | 'releasing' | 'paused' | 'given-up';
      /** The newest release that has it, or had it. */
      readonly release: string;
      /** Its outcome, and the reason. */
      readonly why?: string;
    };

export function findWhereabouts(
  { change, commit, landed }: { readonly change: number; readonly commit: string; readonly landed: string | null },
  releases: readonly ChangeRelease[],
): Whereabouts {
  if (landed !== null) return { where: 'landed' };
  const version = `${change}@${commit}`;
  const having = releases.filter(({ artifacts }) => artifacts.some((one) => one.version === version));
  const newest = having.reduce<ChangeRelease | undefined>((a, b) => (a && a.number > b.number ? a : b), undefined);
  if (newest === undefined) return { where: 'proposed' };
  const { id: release, state, cause, pausedDeploy } = newest;
  if (pausedDeploy !== undefined || state === 'paused') return { where: 'paused', release };
  if (state === 'queued') return { where: 'waiting', release };
  if (state === 'running') return { where: 'releasing', release };
  return { where: 'given-up', release, why: cause ?? state };
}

/** The text in a list. */
export const whereaboutsText = (is: Whereabouts): string =>
  'release' in is ? `${TEXTS[is.where]} ${is.release}${is.why === undefined ? '' : ` (${is.why})`}` : is.where;

const TEXTS = {
  waiting: 'waits as',
  releasing: 'releasing as',
  paused: 'paused in',
  'given-up': 'given up by',
} as const;
