import type { DeployPlan, PhasePlan } from '../../domain/deploy/plan';
import {
  dueUndos,
  stepFacts,
  undoRun,
  withFailed,
  withoutStanding,
  withTry,
  type StandingStep,
  type StepRun,
} from '../../domain/deploy/steps';
import { change, type DeployRecord } from '../../domain/deploy/state';
import type { Ending } from '../../domain/deploy/outcome';
import { performStep, type StepEnd } from './stepCalls';
import type { DeployRun } from './run';

/** Of a phase that a person skipped, what the steps before it did. A deploy that is to stop undoes it at its end. */
export async function undoSkipped(run: DeployRun, { key }: PhasePlan): Promise<void> {
  const stops = () => run.stop() !== null;
  if (run.record.control.skipPhase !== null) await undoSteps(run, 'postprocessing', stops, Number(key));
}

/** Of a deploy that stops where it is. A revert that a person asks for meanwhile goes first. */
export async function undoStopped(run: DeployRun): Promise<void> {
  if (run.stop() !== null) await undoSteps(run, 'postprocessing', () => run.stop()?.kind === 'revert');
}

/** Of one that has reverted: traffic comes back to what ran before, and no revert waits for that. */
export async function undoReverted(run: DeployRun, ending: Ending): Promise<Ending> {
  await undoSteps(run, 'reverting', () => false);
  return ending;
}

/**
 * Undoes what the steps before one phase, or before all, did and what is still there, the last that began first. One that
 * cannot be undone is tried again for a while, then put on record: a deploy ends also when a service does not. An emergency
 * waits for one short try at the most.
 */
async function undoSteps(
  run: DeployRun,
  stage: 'postprocessing' | 'reverting',
  wake: () => boolean,
  phase?: number,
): Promise<void> {
  const { plan, standing } = run.record;
  const due = dueUndos(standing, phase);
  if (plan === null || due.length === 0 || wake()) return;
  run.enter(stage);
  // What is undone while it still runs might be done afterwards.
  let isOver = false;
  void run.lastStep.then(() => (isOver = true));
  await run.until(() => isOver || wake());
  for (const of of due) await undo(run, plan, of, wake);
  run.patch({ step: null });
}

const MAX_TRIES = 3;

async function undo(run: DeployRun, plan: DeployPlan, of: StandingStep, wake: () => boolean): Promise<void> {
  const { dependencyGraceMs: graceMs } = run.input.settings;
  for (let tries = 1; !wake(); tries += 1) {
    const next = undoRun(run.workflowId, plan, { ...of, tries: of.tries + tries - 1 });
    if (next === undefined) return;
    const hurried = run.record.control.overtaken?.why === 'preempted';
    const last = hurried ? 1 : MAX_TRIES;
    const timeoutMs = hurried ? Math.min(graceMs, next.timeoutMs ?? graceMs) : next.timeoutMs;
    const end = await tryOnce(run, of, { ...next, timeoutMs }, wake);
    if (end.kind === 'left') return;
    if (end.kind === 'passed') return settle(run, of, 'step-undone', `${next.title}: ${end.message}`);
    const reason = `${next.title} failed: ${end.message}`;
    if (tries === last || end.kind === 'refused')
      return settle(run, of, 'not-undone', `${reason}; it is not tried again, so look after it`);
    run.note('undo-failed', reason);
    // Later and later: after one grace, then two.
    await run.until(wake, { afterMs: graceMs * 2 ** (tries - 1), summary: `${next.title}: try again` });
  }
}

function tryOnce(run: DeployRun, of: StandingStep, next: StepRun, wake: () => boolean): Promise<StepEnd> {
  const { input, record } = run;
  run.set((now, at) => change(now, at, { step: next.title, standing: withTry(now.standing, of) }));
  return performStep(run, next, stepFacts(input, next.phase, record.snapshot, of.skipped), wake);
}

function settle(run: DeployRun, of: StandingStep, kind: 'step-undone' | 'not-undone', text: string): void {
  const settled = kind === 'step-undone' ? withoutStanding : withFailed;
  run.set((record: DeployRecord) => ({ ...record, standing: settled(record.standing, of) }));
  run.note(kind, text);
}
