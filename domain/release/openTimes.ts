import type { ActionSpec, PipelineSpec } from '../spec/pipeline';
import type { BlackoutSpec, WindowSpec } from '../spec/times';
import { plural } from '../text';

/** The times at which an action may begin and a deploy may update, as in the pipeline file. */
export interface OpenTimes {
  /** It is open while any of these is open; always if there are none … */
  readonly windows: readonly WindowSpec[];
  /** … but never in one of these. */
  readonly blackouts: readonly BlackoutSpec[];
}

/** The windows of an action; a file may name one or several. */
export function listActionWindows({ window }: Partial<Pick<ActionSpec, 'window'>>): readonly WindowSpec[] {
  if (window === undefined) return [];
  return Array.isArray(window) ? window : [window];
}

/** Undefined if it may begin at any time. */
export function toOpenTimes({
  window,
  blackouts = [],
}: Pick<ActionSpec, 'window' | 'blackouts'>): OpenTimes | undefined {
  const windows = listActionWindows({ window });
  return windows.length + blackouts.length === 0 ? undefined : { windows, blackouts };
}

/**
 * An action with the blackouts of its pipeline: they apply to actions that update production, and to those with a window of their own.
 */
export function withBlackouts<A extends ActionSpec>({ blackouts = [] }: Pick<PipelineSpec, 'blackouts'>, action: A): A {
  const isGated = action.type === 'deploy' || action.type === 'canary' || action.window !== undefined;
  if (!isGated || blackouts.length === 0) return action;
  return { ...action, blackouts: [...blackouts, ...(action.blackouts ?? [])] };
}

/** The treatment of updates at closing, which is the same for all windows of an action; `lint` enforces that. */
export const getOnClose = ({ windows }: Pick<OpenTimes, 'windows'>): WindowSpec['onClose'] =>
  windows[0]?.onClose ?? 'pause';

/** Adds the blackout to the words of a wait: `its window is closed (blackout: Christmas)`. */
export const withBlackout = (text: string, why: string): string => (why === '' ? text : `${text} (blackout: ${why})`);

/** `2 of 2 deploys of this window have begun` */
export const fullWords = ({ begun, most }: { readonly begun: number; readonly most: number }): string =>
  `${begun} of ${plural(most, 'deploy')} of this window ${begun === 1 ? 'has' : 'have'} begun`;
