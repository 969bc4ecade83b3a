import { condition, getExternalWorkflowHandle } from '@temporalio/workflow';
import { workflowIds } from '../../domain/ids';
import { admissionMeasure } from '../../domain/metrics';
import type { Admission } from '../../domain/release/admission';
import type { ReadyAction } from '../../domain/pipeline/state';
import { actionOverSignal, actionReadySignal, deployOverSignal, deployReadySignal, type ActionOver } from '../messages';
import { getFailureMessage } from '../deploy/calls';
import { measure } from '../measure';
import type { ReleaseSession } from './session';

export type AdmissionRequest = Required<Pick<ReadyAction, 'kind'>> & Pick<ReadyAction, 'artifacts' | 'mutex' | 'later'>;

/** Signals the pipeline that an action is ready, and waits for its answer; undefined if the action gives up first. */
export async function awaitAdmission(
  run: ReleaseSession,
  name: string,
  asking: AdmissionRequest,
  givesUp = (): boolean => run.control.ending !== null,
): Promise<Admission | undefined> {
  const askedMs = Date.now();
  signalReady(run, name, asking);
  await condition(() => run.admissions.has(name) || givesUp() || run.unreachable !== null);
  assertReachable(run);
  const admission = run.admissions.get(name);
  if (admission !== undefined) measure(admissionMeasure(asking.kind, Date.now() - askedMs));
  return admission;
}

/** Signals the pipeline that an action is ready. An answer to an earlier attempt no longer counts. */
export function signalReady(run: ReleaseSession, name: string, asking: AdmissionRequest): void {
  const { number, trigger } = run.input;
  run.admissions.delete(name);
  const message: ReadyAction = {
    release: number,
    action: name,
    rollback: trigger.kind === 'rollback',
    ...(trigger.kind === 'emergency' ? { emergency: true } : {}),
    ...(run.control.approvals[name] && trigger.kind === 'emergency' ? { approved: true } : {}),
    ...asking,
  };
  const signal = asking.kind === 'deploy' ? deployReadySignal : actionReadySignal;
  const send = () => toPipeline(run).signal(signal, message);
  // Waits until the pipeline has recorded the end of the previous attempt; it would take that for the end of this one.
  const before = run.overs.get(name);
  const sent = before === undefined ? send() : before.then(send);
  run.track(sent.catch((error: unknown) => run.markUnreachable(getFailureMessage(error))));
}

/** @throws if the pipeline is gone, because it can grant nothing any more. */
export function assertReachable({ unreachable, input }: ReleaseSession): void {
  if (unreachable !== null) throw new Error(`the pipeline ${input.spec.pipeline} does not answer: ${unreachable}`);
}

/** Signals the pipeline that an action has ended, or no longer waits. */
export async function signalOver(
  run: ReleaseSession,
  name: string,
  kind: AdmissionRequest['kind'],
  left: Omit<ActionOver, 'release' | 'action'> = {},
): Promise<void> {
  const signal = kind === 'deploy' ? deployOverSignal : actionOverSignal;
  const signalled = toPipeline(run)
    .signal(signal, { release: run.input.number, action: name, ...left })
    .catch(() => undefined);
  run.overs.set(name, signalled);
  await signalled;
}

export const toPipeline = ({ input }: ReleaseSession) =>
  getExternalWorkflowHandle(workflowIds.pipeline(input.spec.pipeline));
