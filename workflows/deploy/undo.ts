import { backOff } from '../../domain/backoff';
import type { DeployPlan, PhasePlan } from '../../domain/deploy/plan';
import {
  dueUndos,
  stepFacts,
  undoRun,
  withFailed,
  withoutStepToUndo,
  withTry,
  type StepRun,
} from '../../domain/deploy/steps';
import { change, type StepToUndo } from '../../domain/deploy/state';
import { formatSummary } from '../../domain/markdown';
import { findRevert } from '../../domain/deploy/stop';
import { runBeside, runInterruptible, throwIfInterrupted } from '../interrupts';
import { until, waitOut } from '../waitFor';
import { performStep, type StepEnd } from './stepCalls';
import type { StepRunner } from './needs';

/**
 * Undoes the steps before a phase that a person skipped, or whose units are all left out, because the steps after it do not run. A deploy that is to
 * stop undoes them at its end.
 */
export const undoPhase = (run: StepRunner, { key }: PhasePlan): Promise<void> =>
  undoSteps(run, 'postprocessing', Number(key));

/** For a deploy that stops without a revert. A revert that a person asks for meanwhile goes first. */
export async function undoStopped(run: StepRunner): Promise<void> {
  await runInterruptible(
    () => findRevert(run.record),
    () => undoSteps(run, 'postprocessing'),
  );
}

/** For a deploy that has reverted: traffic returns to the earlier version. No revert waits for that. */
export const undoReverted = (run: StepRunner): Promise<void> => undoSteps(run, 'reverting');

/**
 * Undoes the steps before one phase, or before all phases, whose effects remain, in reverse order. An undo that fails is tried
 * again for a while, then recorded, since a deploy must end even if a service fails. An emergency, even one that comes meanwhile,
 * waits for at most one short try of each.
 */
async function undoSteps(run: StepRunner, stage: 'postprocessing' | 'reverting', phase?: number): Promise<void> {
  const { plan, standing } = run.record;
  const due = dueUndos(standing, phase);
  if (plan === null || due.length === 0) return;
  run.enter(stage);
  // A step that still runs might act again after its undo.
  await run.settle(() => run.steps.awaitLast());
  try {
    for (const step of due) await undo(run, plan, step);
  } finally {
    run.patch({ step: null });
  }
}

const MAX_TRIES = 3;

async function undo(run: StepRunner, plan: DeployPlan, toUndo: StepToUndo): Promise<void> {
  const { dependencyGraceMs: graceMs } = run.input.settings;
  let answered = 0;
  for (let tries = 1; ; tries += 1) {
    // A service that did not answer may have acted anyway. Under the same run id it does not act twice.
    const next = undoRun(run.workflowId, plan, { ...toUndo, tries: toUndo.tries + answered });
    if (next === undefined) return;
    const end = await tryOnce(run, toUndo, next);
    if (end.kind !== 'unavailable') answered += 1;
    if (end.kind === 'passed') return recordUndo(run, toUndo, 'step-undone', `${next.title}: ${end.message}`);
    const reason = `${next.title} failed: ${end.message}`;
    const isLast = () => tries === MAX_TRIES || end.kind === 'refused' || run.isPreempted;
    // The waits double: one grace, then two.
    const afterMs = backOff(graceMs, tries);
    if (!isLast()) {
      run.note('undo-failed', reason);
      await until(() => run.isPreempted, { afterMs, summary: formatSummary(`${next.title}: try again`) });
    }
    if (!isLast()) continue;
    // A revert tries it again.
    throwIfInterrupted();
    return recordUndo(run, toUndo, 'not-undone', `${reason}; it will not be retried: undo it by hand`);
  }
}

/** If an emergency waits, a try has the grace of a dependency and no longer, from the arrival of the emergency. */
async function tryOnce(run: StepRunner, toUndo: StepToUndo, next: StepRun): Promise<StepEnd> {
  const { input, record } = run;
  const { dependencyGraceMs: graceMs } = input.settings;
  run.set((before, now) => change(before, now, { step: next.title, standing: withTry(before.standing, toUndo) }));
  const facts = stepFacts(input, next.phase, record.fleet?.snapshot ?? { units: [] }, toUndo.skipped);
  if (run.isPreempted)
    return performStep(run, { ...next, timeoutMs: Math.min(graceMs, next.timeoutMs ?? graceMs) }, facts);
  let isLate = false;
  const end = await runBeside(
    async () => {
      await until(() => run.isPreempted);
      await waitOut({ afterMs: graceMs, summary: formatSummary(`${next.title}: an urgent release waits`) });
      isLate = true;
    },
    () =>
      runInterruptible(
        () => (isLate ? 'late' : null),
        () => performStep(run, next, facts),
      ),
  );
  if (end.kind === 'done') return end.value;
  await run.steps.awaitLast();
  return { kind: 'failed', message: 'it took too long, and an urgent release waits' };
}

function recordUndo(run: StepRunner, toUndo: StepToUndo, kind: 'step-undone' | 'not-undone', text: string): void {
  const settle = kind === 'step-undone' ? withoutStepToUndo : withFailed;
  run.set((record) => ({ ...record, standing: settle(record.standing, toUndo) }));
  run.note(kind, text);
}
