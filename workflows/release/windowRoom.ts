import { condition } from '@temporalio/workflow';
import type { RoomAsk } from '../../activities/windowRoom';
import type { Room } from '../../domain/calendar/room';
import { fullWords, toOpenTimes, withBlackout, withBlackouts } from '../../domain/release/openTimes';
import { skipsTheQueue } from '../../domain/release/urgent';
import type { DeployAction } from '../../domain/spec/pipeline';
import { formatTime } from '../../domain/text';
import { windowRooms } from '../proxies';
import { assertReachable, signalReady, type AdmissionRequest } from './admissionRequest';
import type { ReleaseSession } from './session';

/** Whether its window admits only a limited number of deploys. A rollback, an emergency and a follow-on do not count. */
export function isLimited({ input }: ReleaseSession, action: DeployAction): boolean {
  const windows = toOpenTimes(action)?.windows ?? [];
  return windows.some(({ maxDeploys }) => maxDeploys !== undefined) && !skipsTheQueue(input.trigger);
}

/**
 * Waits until the window has room for one more deploy. This includes the wait for the window to open: a deploy counts in the opening in which it
 * begins. Its pipeline knows that it waits, so a newer release may supersede it.
 * @returns whether the window had no room; `giveBack` is called before the wait
 */
export async function untilRoom(
  run: ReleaseSession,
  name: string,
  action: DeployAction,
  asking: AdmissionRequest,
  giveBack: () => Promise<void> = () => Promise.resolve(),
): Promise<boolean> {
  const ask = roomAsk(run, name, action);
  const isSkipped = () => run.record.actions[name]?.window === 'skipped';
  for (let hasWaited = false; ; hasWaited = true) {
    const room = isSkipped() || run.control.ending ? OPEN : await windowRooms.windowRoom(ask);
    if (room.open || isSkipped() || run.control.ending) {
      if (run.record.actions[name]?.window === 'closed') run.patch(name, { window: null, until: null });
      return hasWaited;
    }
    if (!hasWaited) await giveBack();
    const later = { why: describeClosedRoom(room), untilMs: room.opensAtMs };
    run.patch(name, { state: 'blocked', blockedBy: later.why, until: formatTime(later.untilMs), window: 'closed' });
    signalReady(run, name, { ...asking, later });
    const isOver = () =>
      run.control.ending !== null || isSkipped() || run.admissions.has(name) || run.unreachable !== null;
    const leftMs = Math.max(1, later.untilMs - Date.now());
    await condition(isOver, leftMs, { summary: `${name}: until its window has room` });
    assertReachable(run);
    if (run.admissions.has(name)) return true;
  }
}

const OPEN = { open: true, closesAtMs: 0 } as const;

function roomAsk({ input: { spec, number: release } }: ReleaseSession, action: string, of: DeployAction): RoomAsk {
  const { windows, blackouts } = toOpenTimes(withBlackouts(spec, of)) ?? { windows: [], blackouts: [] };
  return { pipeline: spec.pipeline, release, action, windows, blackouts };
}

const describeClosedRoom = ({ full, why = '' }: Extract<Room, { open: false }>): string =>
  full ? `${fullWords(full)}; it opens again later` : withBlackout('its window is closed', why);
