import { trafficOf } from '../../domain/deploy/lockstep';
import type { Ending } from '../../domain/deploy/outcome';
import { touchedUnits } from '../../domain/deploy/planRevert';
import { unitsOf, type PhasePlan } from '../../domain/deploy/plan';
import { present } from '../../domain/deploy/unavailable';
import type { Traffic } from '../../activities/pushType';
import { insist, resumed } from './dependable';
import type { DeployRun } from './run';
import type { UpdateControl } from './updates';

/** Lockstep (Conveyor §3.2): traffic follows the tasks forward, and leads them back. */

/** Whether the push type can do it, asked before anything is touched. @returns why the deploy ends, if it cannot. */
export async function cannotShift(run: DeployRun): Promise<Ending | undefined> {
  if (!run.input.spec.lockstep) return undefined;
  const answer = await shift(run, { step: 'plan', units: [], percent: 0 }, () => run.stop() !== null);
  if (answer === undefined || ('value' in answer && answer.value)) return undefined;
  if ('refused' in answer) return { kind: 'failed', reason: answer.refused, fault: 'conveyor' };
  const reason = `${run.input.spec.pushType} has no shiftTraffic, which lockstep needs`;
  return { kind: 'failed', reason, fault: 'change' };
}

/** The new version gets the share of the traffic that a phase has brought every unit to. */
export async function shiftForward(run: DeployRun, phase: PhasePlan, control: UpdateControl): Promise<void> {
  if (!run.input.spec.lockstep) return;
  const units = unitsOf(phase, present(run.record));
  const percent = trafficOf(phase, units);
  const traffic = { step: String(phase.key), units: units.map(({ id }) => id), percent };
  const { leave, closed, hold } = control;
  const stands = () => leave() || closed() || run.paused?.by === 'operator';
  for (;;) {
    await hold();
    if (leave()) return;
    const answer = await shift(run, traffic, stands);
    if (answer === undefined) continue;
    if ('value' in answer)
      return run.note('traffic-shifted', `${percent}% of the traffic goes to ${run.input.version}`);
    run.pause('dependency', `${run.input.spec.pushType} refused shiftTraffic: ${answer.refused}`);
    await resumed(run, leave);
  }
}

/** Before a revert takes tasks back nothing goes to them any more. */
export async function shiftBack(run: DeployRun, leave: () => boolean): Promise<void> {
  if (!run.input.spec.lockstep || run.record.plan === null) return;
  const units = touchedUnits(run.record).map(({ id }) => id);
  const answer = await shift(run, { step: 'revert', units, percent: 0 }, leave);
  if (answer && 'refused' in answer) run.note('trouble', `shifting the traffic back was refused: ${answer.refused}`);
  else run.note('traffic-shifted', `no traffic goes to ${run.input.version} any more`);
}

/** What was on its way when it is left is waited for, so that nothing overtakes it. */
async function shift(run: DeployRun, traffic: Omit<Traffic, 'toVersion'>, leave: () => boolean) {
  const options = {
    summary: `${traffic.percent}% of the traffic`,
    cancellationType: 'WAIT_CANCELLATION_COMPLETED' as const,
  };
  const request = { ...traffic, toVersion: run.input.version };
  let shifting: Promise<unknown> = Promise.resolve();
  const answer = await insist(
    run,
    'shiftTraffic',
    (push) => {
      const call = push.shiftTraffic.executeWithOptions(options, [run.call, request]);
      shifting = call;
      return call;
    },
    leave,
  );
  if (answer === undefined) await shifting.catch(() => undefined);
  return answer;
}
