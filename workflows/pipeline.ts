import { allHandlersFinished, condition, continueAsNew, setWorkflowOptions, workflowInfo } from '@temporalio/workflow';
import { admit, whyWaiting } from '../domain/pipeline/admission';
import { startable, type PipelineState } from '../domain/pipeline/state';
import { abandoned, PipelineRun } from './pipeline/run';
import { startRelease } from './pipeline/startRelease';
import { versioned } from './versioning';

/**
 * A pipeline for ever: numbers releases, starts them, admits one at a time to deploy, and remembers what is good and
 * what is bad. Idle it costs nothing: it waits on no timer (DESIGN §4, §10).
 */
export async function pipeline(carried: PipelineState | null = null): Promise<never> {
  const run = new PipelineRun(carried);
  for (;;) {
    await step(run);
    if (!run.changed && workflowInfo().continueAsNewSuggested && allHandlersFinished()) await carryOn(run);
    await waitForChange(run);
  }
}
setWorkflowOptions(versioned('AUTO_UPGRADE'), pipeline);

/** Everything that follows from what changed: releases start, deploys are admitted, the others hear why they wait. */
async function step(run: PipelineRun): Promise<void> {
  run.changed = false;
  if (run.state === null) return;
  for (const release of startable(run.state)) await startRelease(run, release);
  const { state, told } = admit(run.state);
  run.set(() => state);
  for (const { release, action, admission } of told) await run.tell(release, { action, admission });
  for (const deploy of state.ready) await run.sayWhy(deploy, whyWaiting(state, deploy));
  run.changed = run.state !== state;
}

async function waitForChange(run: PipelineRun): Promise<void> {
  const active = run.state?.active.some(({ state }) => state === 'running') ?? false;
  if (!active || run.state === null) return condition(() => run.changed);
  const { reconcileIntervalMs } = run.state.settings;
  const changed = await condition(() => run.changed, reconcileIntervalMs, {
    summary: 'check that the active releases still run',
  });
  if (!changed) await abandoned(run);
}

async function carryOn(run: PipelineRun): Promise<void> {
  await continueAsNew<typeof pipeline>(run.state);
}
