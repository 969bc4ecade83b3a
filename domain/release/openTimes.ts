import type { ActionSpec, PipelineSpec } from '../spec/pipeline';
import type { BlackoutSpec, WindowSpec } from '../spec/times';
import { plural } from '../text';

/** When an action may begin and a deploy may update, as the pipeline file says it. */
export interface OpenTimes {
  /** It is open while any of them is; none: always … */
  readonly windows: readonly WindowSpec[];
  /** … but never in one of these. */
  readonly blackouts: readonly BlackoutSpec[];
}

/** The windows of an action, of which a file may name one or several. */
export function windowsOf({ window }: Partial<Pick<ActionSpec, 'window'>>): readonly WindowSpec[] {
  if (window === undefined) return [];
  return Array.isArray(window) ? window : [window];
}

/** Undefined for what may begin at any time. */
export function openTimesOf({
  window,
  blackouts = [],
}: Pick<ActionSpec, 'window' | 'blackouts'>): OpenTimes | undefined {
  const windows = windowsOf({ window });
  return windows.length + blackouts.length === 0 ? undefined : { windows, blackouts };
}

/** An action with the blackouts of its pipeline: they are for what updates production, and for what has a window of its own. */
export function withBlackouts<A extends ActionSpec>({ blackouts = [] }: Pick<PipelineSpec, 'blackouts'>, action: A): A {
  const isGated = action.type === 'deploy' || action.type === 'canary' || action.window !== undefined;
  if (!isGated || blackouts.length === 0) return action;
  return { ...action, blackouts: [...blackouts, ...(action.blackouts ?? [])] };
}

/** What becomes of updates at closing: the same for all windows of an action, as `lint` sees to. */
export const onCloseOf = ({ windows }: Pick<OpenTimes, 'windows'>): WindowSpec['onClose'] =>
  windows[0]?.onClose ?? 'pause';

/** What waits says which blackout it waits for: `its window is closed (blackout: Christmas)`. */
export const withBlackout = (text: string, why: string): string => (why === '' ? text : `${text} (blackout: ${why})`);

/** `2 of 2 deploys of this window have begun` */
export const fullWords = ({ begun, most }: { readonly begun: number; readonly most: number }): string =>
  `${begun} of ${plural(most, 'deploy')} of this window ${begun === 1 ? 'has' : 'have'} begun`;
