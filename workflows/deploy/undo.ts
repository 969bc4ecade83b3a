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
import { change, type StepToUndo, type DeployRecord } from '../../domain/deploy/state';
import { formatSummary } from '../../domain/markdown';
import { findRevert } from '../../domain/deploy/stop';
import { runBeside, runInterruptible } from '../interrupts';
import { until } from '../waitFor';
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
  let isOver = false;
  void run.steps.awaitLast().then(() => (isOver = true));
  await until(() => isOver);
  for (const of of due) await undo(run, plan, of);
  run.patch({ step: null });
}

const MAX_TRIES = 3;

async function undo(run: StepRunner, plan: DeployPlan, of: StepToUndo): Promise<void> {
  const { dependencyGraceMs: graceMs } = run.input.settings;
  let answered = 0;
  for (let tries = 1; ; tries += 1) {
    // A service that did not answer may have acted anyway. Under the same run id it does not act twice.
    const next = undoRun(run.workflowId, plan, { ...of, tries: of.tries + answered });
    if (next === undefined) return;
    const end = await tryOnce(run, of, next);
    if (end.kind !== 'unavailable') answered += 1;
    if (end.kind === 'passed') return settle(run, of, 'step-undone', `${next.title}: ${end.message}`);
    const reason = `${next.title} failed: ${end.message}`;
    const isLast = () => tries === MAX_TRIES || end.kind === 'refused' || run.hurried;
    // The waits double: one grace, then two.
    const afterMs = backOff(graceMs, tries);
    if (!isLast()) {
      run.note('undo-failed', reason);
      await until(() => run.hurried, { afterMs, summary: formatSummary(`${next.title}: try again`) });
    }
    if (isLast()) return settle(run, of, 'not-undone', `${reason}; it will not be retried: undo it by hand`);
  }
}

/** If an emergency waits, a try has the grace of a dependency and no longer, from the arrival of the emergency. */
async function tryOnce(run: StepRunner, of: StepToUndo, next: StepRun): Promise<StepEnd> {
  const { input, record } = run;
  const { dependencyGraceMs: graceMs } = input.settings;
  run.set((now, at) => change(now, at, { step: next.title, standing: withTry(now.standing, of) }));
  const facts = stepFacts(input, next.phase, record.fleet?.snapshot ?? { units: [] }, of.skipped);
  if (run.hurried) return performStep(run, { ...next, timeoutMs: Math.min(graceMs, next.timeoutMs ?? graceMs) }, facts);
  let isLate = false;
  const end = await runBeside(
    async () => {
      await until(() => run.hurried);
      await until(() => false, { afterMs: graceMs, summary: formatSummary(`${next.title}: an emergency waits`) });
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
  return { kind: 'failed', message: 'an emergency waits and it took too long' };
}

function settle(run: StepRunner, of: StepToUndo, kind: 'step-undone' | 'not-undone', text: string): void {
  const recordUndo = kind === 'step-undone' ? withoutStepToUndo : withFailed;
  run.set((record: DeployRecord) => ({ ...record, standing: recordUndo(record.standing, of) }));
  run.note(kind, text);
}
