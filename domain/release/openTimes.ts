import type { ActionSpec, WindowSpec } from '../spec/pipeline';

/** When an action may begin and a deploy may update, as the pipeline file says it. */
export interface OpenTimes {
  /** It is open while any of them is; none: always. */
  readonly windows: readonly WindowSpec[];
}

/** The windows of an action, of which a file may name one or several. */
export function windowsOf({ window }: Pick<ActionSpec, 'window'>): readonly WindowSpec[] {
  if (window === undefined) return [];
  return Array.isArray(window) ? window : [window];
}

/** Undefined for what may begin at any time. */
export function openTimesOf(action: Pick<ActionSpec, 'window'>): OpenTimes | undefined {
  const windows = windowsOf(action);
  return windows.length === 0 ? undefined : { windows };
}

/** What becomes of updates at closing: the same for all windows of an action, as `lint` sees to. */
export const onCloseOf = ({ windows }: OpenTimes): WindowSpec['onClose'] => windows[0]?.onClose ?? 'pause';
