import { condition } from '@temporalio/workflow';
import type { ActionSpec } from '../../domain/spec/pipeline';
import { toOpenTimes, withBlackout, withBlackouts, type OpenTimes } from '../../domain/release/openTimes';
import { formatTime } from '../../domain/text';
import { calendarActivities } from '../proxies';
import { awaitAdmission, signalOver } from './admissionRequest';
import type { ReleaseSession } from './session';

/**
 * Runs an action inside its window and while its release holds the action's exclusion groups; with neither, at once. If the release ends
 * first, it closes the action here.
 */
export async function guardAction(
  run: ReleaseSession,
  name: string,
  action: ActionSpec,
  work: () => Promise<void>,
): Promise<void> {
  const times = toOpenTimes(withBlackouts(run.input.spec, action));
  const own = ownGroups(run, action);
  const global = globalGroups(run, action);
  const isExclusive = own.length + global.length > 0;
  try {
    if (times) await awaitWindow(run, name, times);
    if (own.length > 0) await holdOwn(run, name, own);
    if (global.length > 0) await run.groups.hold(run, name, global, () => run.control.ending !== null);
    // The wait for a group may have outlasted the window. The window comes first, so that no action holds a group over
    // a weekend.
    if (times && isExclusive) await awaitWindow(run, name, times);
    await awaitUnhindered(run, name);
    if (run.control.ending) run.closeCancelled(name, run.endedBy());
    else {
      run.patch(name, { state: 'running', blockedBy: null, until: null });
      await work();
    }
  } catch (error) {
    if (isExclusive) await Promise.all([run.groups.release(name), signalOver(run, name, 'exclusive')]);
    throw error;
  }
  // Both are released at once, so that a following attempt cannot ask before.
  const freed = global.length > 0 ? run.groups.release(name) : undefined;
  if (own.length > 0) await signalOver(run, name, 'exclusive');
  await freed;
}

/** Groups that the pipeline grants … */
export const ownGroups = ({ input }: ReleaseSession, { mutex }: ActionSpec): readonly string[] =>
  mutex.filter((group) => input.spec.mutex[group]?.scope !== 'global');

/** … and those across pipelines, in the order in which all releases take them. */
export const globalGroups = ({ input }: ReleaseSession, { mutex }: ActionSpec): readonly string[] =>
  [...new Set(mutex)].filter((group) => input.spec.mutex[group]?.scope === 'global').sort();

async function holdOwn(run: ReleaseSession, name: string, mutex: readonly string[]): Promise<void> {
  run.patch(name, { state: 'blocked', blockedBy: `waiting for ${mutex.join(', ')}` });
  await awaitAdmission(run, name, { kind: 'exclusive', artifacts: [], mutex });
}

async function awaitWindow(run: ReleaseSession, name: string, { windows, blackouts }: OpenTimes): Promise<void> {
  const isSkipped = () => run.record.actions[name]?.window === 'skipped';
  const isOver = () => run.control.ending !== null || isSkipped();
  while (!isOver()) {
    const seen = await calendarActivities.windowState(windows, blackouts);
    if (seen.open) break;
    const { opensAtMs, why = '' } = seen;
    const blockedBy = withBlackout('its window is closed', why);
    run.patch(name, { state: 'blocked', blockedBy, until: formatTime(opensAtMs), window: 'closed' });
    const leftMs = Math.max(1, opensAtMs - Date.now());
    await condition(isOver, leftMs, { summary: `${name}: until its window opens` });
  }
  if (run.record.actions[name]?.window === 'closed') run.patch(name, { window: null });
}

/** Nothing begins while the release is paused or its pipeline frozen; the action may have to give up meanwhile. */
export async function awaitUnhindered(
  run: ReleaseSession,
  name: string,
  givesUp = (): boolean => run.control.ending !== null,
): Promise<void> {
  const hindrance = () => run.hindrance();
  const why = hindrance();
  if (why === undefined || givesUp()) return;
  const { paused, frozen } = run.control;
  run.patch(name, { state: 'blocked', blockedBy: why, until: (paused ? null : frozen?.until) ?? null });
  await condition(() => hindrance() === undefined || givesUp());
}
