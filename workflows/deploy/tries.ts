import type { Tracking } from '../../activities/updates';
import type { PhasePlan } from '../../domain/deploy/plan';
import type { Earlier } from '../../domain/deploy/progress';
import { phaseUnits } from '../../domain/deploy/unavailable';
import { summaryOf } from '../../domain/markdown';
import { patientPushWatchers } from '../proxies';
import { insist } from './dependable';
import { unitsOfPart, type Part } from './lockstep';
import type { DeployRun } from './run';
import { trackingOf } from './tracking';
import type { UpdateControl, UpdateEnd } from './updateControl';

/** The criterion of a phase, whatever it takes to meet it: several tries, a pause, a person who goes without. */

/** The last try of a phase, or of a stride of one, which is tried again as it is. */
export interface Tried {
  readonly id: string;
  readonly part: Part;
}

/** What the tries of a phase so far have come to, just before the next. */
export async function earlierTries(
  run: DeployRun,
  phase: PhasePlan,
  { id, part }: Tried,
  before: Earlier | undefined,
  leave: () => boolean,
): Promise<Earlier | undefined> {
  const update = {
    updateIds: [id],
    selection: unitsOfPart(phaseUnits(run.record, phase), part),
    ...(before ? { earlier: before } : {}),
  };
  const tracking = trackingOf(run, update, phase);
  const seen = await insist(run, 'trackUpdates', (push) => push.unitsBehind(run.call, tracking), leave);
  // One that was refused has done nothing.
  if (seen === undefined || 'refused' in seen) return before;
  return { first: before?.first ?? id, units: seen.value };
}

/** While its update timeout pauses a phase: ends that once the criterion is met after all, by tasks in flight or that return. */
export async function untilMet(
  run: DeployRun,
  { name }: PhasePlan,
  tracking: Tracking,
  control: UpdateControl,
): Promise<void> {
  const isOver = () => control.leave() || run.paused?.by !== 'timeout' || run.record.control.resuming !== null;
  const { trackIntervalMs: intervalMs, heartbeatTimeoutMs } = run.input.settings;
  const summary = summaryOf(`${name}: whether its criterion is met after all`);
  const waited = await run.waitFor(
    () =>
      patientPushWatchers(run.input.settings).followUpdates.executeWithOptions({ summary }, [
        run.call,
        { ...tracking, intervalMs, heartbeatTimeoutMs },
      ]),
    isOver,
  );
  if (waited.kind !== 'done' || waited.value.progress.kind !== 'met') return;
  control.show(waited.value);
  const text = `${name}: its criterion is met after all`;
  if (run.record.verdict === 'unhealthy') run.stayPaused(`${text}, but its health is not fine`);
  else run.unpause(text);
}

/** A person goes on without what is missing. @returns undefined when nobody does. */
export async function accepted(
  run: DeployRun,
  tracking: Tracking,
  control: UpdateControl,
): Promise<UpdateEnd | undefined> {
  if (run.record.control.accepted === null) return undefined;
  const seen = await insist(run, 'trackUpdates', (push) => push.trackUpdates(run.call, tracking), control.leave);
  if (seen === undefined) return undefined;
  if ('refused' in seen) return { kind: 'refused', reason: seen.refused };
  control.show(seen.value);
  const { unfinished, missing } = seen.value;
  return { kind: 'met', unfinished, missing };
}
