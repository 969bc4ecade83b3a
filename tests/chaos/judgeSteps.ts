import { whyNoneMet } from '../../domain/deploy/unavailable';
import { workflowIds } from '../../domain/ids';
import type { SlowRun } from '../workflows/slowActions';
import { MINUTE } from '../workflows/world';
import type { Deploy } from './play';

/** A run of a step, or of its undo, by its id `deploy/kvstore/2/deploy/1/0/pre/0/1`: phase, time, index and attempt. */
interface StepRun extends SlowRun {
  readonly phase: number;
  readonly time: string;
  readonly index: string;
}

/**
 * The facts that hold for the steps of an ended deploy: each acted once for its phase and at its time, and none still runs long afterwards. The
 * effect of the steps before the updates stays if the phase succeeded, and is undone otherwise.
 */
export function judgeSteps(all: readonly SlowRun[], deploy: Deploy): void {
  const runs = runsOf(all, deploy);
  for (const run of runs) {
    if (isDone(run) && !isHeardLate(deploy))
      expect(runs.filter((other) => isSame(run, other)).at(-1)?.runId).toBe(run.runId);
    expectInTime(run, deploy);
  }
  for (const run of runs.filter(({ time }) => time === 'pre')) expectUndone(run, runs, deploy);
}

/** The run ended after its time limit, since its service did not answer: it counts as failed, and is retried. */
const isHeardLate = ({ timeline }: Deploy): boolean =>
  timeline.some(({ text }) => text.includes('it took longer than'));

const isDone = ({ fails }: SlowRun): boolean => !fails;

const isSame = (run: StepRun, { phase, time, index }: StepRun): boolean =>
  run.phase === phase && run.time === time && run.index === index;

function runsOf(all: readonly SlowRun[], { id, release }: Deploy): StepRun[] {
  const [pipeline = '', , action = ''] = id.split('/');
  const prefix = `${workflowIds.deploy(pipeline, release, action, 1)}/`;
  return all.flatMap((run) => {
    if (!run.runId.startsWith(prefix)) return [];
    const [phase, time = '', index = ''] = run.runId.slice(prefix.length).split('/');
    return [{ ...run, phase: Number(phase), time, index }];
  });
}

function expectInTime({ runId, time, phase, fromMs, toMs }: StepRun, { phases, endedAt, timeline }: Deploy): void {
  const of = phases[phase];
  // A revert does not wait for a service that does not answer, and reports that.
  const mayRunOn = timeline.some(({ text }) => text.includes('was not stopped, and may still run'));
  if (!mayRunOn) expect([runId, toMs]).toEqual([runId, Math.min(toMs, ms(endedAt) + STOPPED_WITHIN_MS)]);
  expect(fromMs).toBeGreaterThanOrEqual(ms(of?.startedAt));
  if (time === 'pre' && of?.updatedAt) expect(toMs).toBeLessThanOrEqual(ms(of.updatedAt));
  if (time === 'post' && of?.bakedAt) expect(fromMs).toBeGreaterThanOrEqual(ms(of.bakedAt));
}

function expectUndone(run: StepRun, runs: readonly StepRun[], deploy: Deploy): void {
  const { outcome, phases, timeline } = deploy;
  const undone = runs.filter((other) => isSame({ ...run, time: 'undo' }, other));
  for (const { fromMs } of undone) expect(fromMs).toBeGreaterThanOrEqual(run.toMs);
  const of = phases[run.phase];
  // The steps after a phase ran if its tasks were lost only then.
  const cameThrough = outcome === 'succeeded' && (of?.state !== 'skipped' || of.skipped === TASKS_GONE);
  if (cameThrough || run.with['isUndone'] !== true) expect(undone).toEqual([]);
  else if (timeline.every(({ kind }) => kind !== 'not-undone')) expectDoneOnce(undone.filter(isDone), deploy);
}

const TASKS_GONE = whyNoneMet({ targeted: 1, live: 0 }, false);

function expectDoneOnce(done: readonly StepRun[], deploy: Deploy): void {
  expect(done.length).toBeGreaterThanOrEqual(1);
  if (!isHeardLate(deploy)) expect(done).toHaveLength(1);
}

/** A step that is no longer awaited learns that at its next poll, and its service may be in trouble for half an hour. */
const STOPPED_WITHIN_MS = 35 * MINUTE;

const ms = (at: string | null | undefined): number => Date.parse(at ?? '');
