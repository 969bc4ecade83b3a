import { continueAsNew, workflowInfo } from '@temporalio/workflow';
import type { DeployInput, DeployRecord } from '../../domain/deploy/state';
import { runPhase } from './phase';
import { fetchAgain } from './prepare';
import type { DeployRun } from './run';

/** Every phase that is left, in order, until the last is over or the deploy is to stop. */
export async function pushAll(run: DeployRun): Promise<void> {
  for (let index = Math.max(0, run.record.cursor); run.stop() === null; index += 1) {
    const { plan } = run.record;
    const phase = plan?.phases[index];
    if (!plan || !phase) return;
    const isCompletion = phase.kind === 'completion';
    if (isCompletion && index > 0) await fetchAgain(run);
    await runPhase(run, plan, phase);
    if (!isCompletion && workflowInfo().continueAsNewSuggested) await carryOn(run, index + 1);
  }
}

/** The workflow itself (../deploy.ts), as it is started anew. */
type Deploy = (input: DeployInput, carried: DeployRecord) => Promise<unknown>;

/** A long history is left behind between two phases, where nothing is under way but what the record holds. */
async function carryOn(run: DeployRun, cursor: number): Promise<void> {
  if (run.stop()) return;
  await run.drained();
  await continueAsNew<Deploy>({ ...run.input, policy: run.policy }, { ...run.record, cursor });
}
