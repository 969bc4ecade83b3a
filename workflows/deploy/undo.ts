import { patched } from '@temporalio/workflow';
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
import type { Ending } from '../../domain/deploy/outcome';
import { formatSummary } from '../../domain/markdown';
import { performStep, type StepEnd } from './stepCalls';
import type { DeploySession } from './session';

/** Before 0.3, only a phase that a person skipped was undone, and traffic stayed away from units that had gone. */
const UNDOES_AWAY = 'a phase whose units went away is undone';

/**
 * Undoes the steps before a phase that a person skipped, or whose units are all left out, because the steps after it do not run. A deploy that is to
 * stop undoes them at its end.
 */
export async function undoSkipped(run: DeploySession, { key }: PhasePlan, isAway: boolean): Promise<void> {
  const phase = Number(key);
  const { control, standing } = run.record;
  const isLeftStanding = isAway && !run.isStopping() && dueUndos(standing, phase).length > 0;
  if (control.skipPhase !== null || (isLeftStanding && patched(UNDOES_AWAY)))
    await undoSteps(run, 'postprocessing', run.isStopping, phase);
}

/** For a deploy that stops without a revert. A revert that a person asks for meanwhile goes first. */
export async function undoStopped(run: DeploySession): Promise<void> {
  if (run.stop() !== null) await undoSteps(run, 'postprocessing', () => run.stop()?.kind === 'revert');
}

/** For a deploy that has reverted: traffic returns to the earlier version. No revert waits for that. */
export async function undoReverted(run: DeploySession, ending: Ending): Promise<Ending> {
  await undoSteps(run, 'reverting', () => false);
  return ending;
}

/**
 * Undoes the steps before one phase, or before all phases, whose effects remain, in reverse order. An undo that fails is tried
 * again for a while, then recorded, since a deploy must end even if a service fails. An emergency, even one that comes meanwhile,
 * waits for at most one short try of each.
 */
async function undoSteps(
  run: DeploySession,
  stage: 'postprocessing' | 'reverting',
  wake: () => boolean,
  phase?: number,
): Promise<void> {
  const { plan, standing } = run.record;
  const due = dueUndos(standing, phase);
  if (plan === null || due.length === 0 || wake()) return;
  run.enter(stage);
  // A step that still runs might act again after its undo.
  let isOver = false;
  void run.stepOver().then(() => (isOver = true));
  await run.until(() => isOver || wake());
  for (const of of due) await undo(run, plan, of, wake);
  run.patch({ step: null });
}

const MAX_TRIES = 3;

async function undo(run: DeploySession, plan: DeployPlan, of: StepToUndo, wake: () => boolean): Promise<void> {
  const { dependencyGraceMs: graceMs } = run.input.settings;
  let answered = 0;
  for (let tries = 1; !wake(); tries += 1) {
    // A service that did not answer may have acted anyway. Under the same run id it does not act twice.
    const next = undoRun(run.workflowId, plan, { ...of, tries: of.tries + answered });
    if (next === undefined) return;
    const end = await tryOnce(run, of, next, wake);
    if (end.kind === 'left') return;
    if (end.kind !== 'unavailable') answered += 1;
    if (end.kind === 'passed') return settle(run, of, 'step-undone', `${next.title}: ${end.message}`);
    const reason = `${next.title} failed: ${end.message}`;
    const isLast = () => tries === MAX_TRIES || end.kind === 'refused' || run.hurried;
    // The waits double: one grace, then two.
    const afterMs = backOff(graceMs, tries);
    if (!isLast()) {
      run.note('undo-failed', reason);
      await run.until(() => wake() || run.hurried, { afterMs, summary: formatSummary(`${next.title}: try again`) });
    }
    if (isLast() && !wake()) return settle(run, of, 'not-undone', `${reason}; it will not be retried: undo it by hand`);
  }
}

/** If an emergency waits, a try has the grace of a dependency and no longer, from the arrival of the emergency. */
async function tryOnce(run: DeploySession, of: StepToUndo, next: StepRun, wake: () => boolean): Promise<StepEnd> {
  const { input, record } = run;
  const { dependencyGraceMs: graceMs } = input.settings;
  run.set((now, at) => change(now, at, { step: next.title, standing: withTry(now.standing, of) }));
  const facts = stepFacts(input, next.phase, record.fleet?.snapshot ?? { units: [] }, of.skipped);
  if (run.hurried)
    return performStep(run, { ...next, timeoutMs: Math.min(graceMs, next.timeoutMs ?? graceMs) }, facts, wake);
  let isLate = false;
  let isOver = false;
  void run
    .until(() => run.hurried || isOver)
    .then(
      () =>
        isOver ||
        run.until(() => isOver, { afterMs: graceMs, summary: formatSummary(`${next.title}: an emergency waits`) }),
    )
    .then((over) => (isLate = !over));
  const end = await performStep(run, next, facts, () => isLate || wake());
  isOver = true;
  if (end.kind !== 'left' || wake()) return end;
  await run.stepOver();
  return { kind: 'failed', message: 'an emergency waits for no more' };
}

function settle(run: DeploySession, of: StepToUndo, kind: 'step-undone' | 'not-undone', text: string): void {
  const recordUndo = kind === 'step-undone' ? withoutStepToUndo : withFailed;
  run.set((record: DeployRecord) => ({ ...record, standing: recordUndo(record.standing, of) }));
  run.note(kind, text);
}
