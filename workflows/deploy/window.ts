import { sleep } from '@temporalio/workflow';
import type { WindowState } from '../../domain/calendar/window';
import type { DeployRecord } from '../../domain/deploy/state';
import { getOnClose, type OpenTimes } from '../../domain/release/openTimes';
import { formatTime } from '../../domain/text';
import { calendarActivities } from '../proxies';
import { waitOut, type Settled } from '../waitFor';

type ClosedWindow = Extract<WindowState, { open: false }>;

/** The parts of its deploy that it needs. */
interface Waiter {
  readonly record: Pick<DeployRecord, 'phases'>;
  settle<T>(start: () => Promise<T>): Promise<Settled<T>>;
}

/** The wait before the next question if clocks differ. */
export const SKEW_MS = 1_000;

/**
 * The window of a deploy. Only activities know time zones (ARCHITECTURE.md#time). An activity returns the state of the window and the
 * time until which it is valid. So a window costs one call and one timer each time that it opens or closes.
 */
export class DeployWindow {
  private closesAtMs = 0;
  private timerAtMs = 0;

  constructor(
    private readonly times: OpenTimes,
    /** A person let the deploy continue outside its window. */
    readonly isSkipped: () => boolean,
  ) {}

  /** Updates in flight must pause now. */
  get haltsUpdates(): boolean {
    return getOnClose(this.times) === 'pause' && !this.isOpen && !this.isSkipped();
  }

  /** The time until which it is closed, and the blackout if there is one; null while it is open. */
  async findClosed(run: Waiter): Promise<ClosedWindow | null> {
    if (this.isOpen || this.isSkipped() || this.letsFinish(run)) return null;
    const { windows, blackouts } = this.times;
    const summary = 'how the window stands';
    const options = { summary };
    const waited = await run.settle(() =>
      calendarActivities.windowState.executeWithOptions(options, [windows, blackouts]),
    );
    if (waited.kind === 'failed') throw waited.error;
    if (!waited.value.open) return waited.value;
    this.closesAtMs = waited.value.closesAtMs;
    if (this.isOpen) return null;
    // The clock of the activity's worker is behind ours.
    await waitOut({ afterMs: SKEW_MS, summary });
    return this.findClosed(run);
  }

  /** Sets a timer for the closing while updates run, so that waiting conditions are evaluated then. */
  watchClosing(): void {
    if (getOnClose(this.times) !== 'pause' || this.timerAtMs === this.closesAtMs || !this.isOpen) return;
    this.timerAtMs = this.closesAtMs;
    void sleep(this.closesAtMs - Date.now(), { summary: `the window closes at ${formatTime(this.closesAtMs)}` });
  }

  /** An update that has begun continues to its end. */
  private letsFinish({ record }: Waiter): boolean {
    return getOnClose(this.times) === 'finish' && record.phases.some(({ startedAt }) => startedAt !== null);
  }

  private get isOpen(): boolean {
    return Date.now() < this.closesAtMs;
  }
}
