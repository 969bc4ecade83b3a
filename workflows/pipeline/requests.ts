import { ApplicationFailure, getExternalWorkflowHandle, setHandler } from '@temporalio/workflow';
import { rescheduled } from '../../domain/pipeline/openings';
import { cancelQueued } from '../../domain/pipeline/queue';
import {
  policyOf,
  refuseApply,
  refuseCancelQueued,
  refuseEmergency,
  refuseRelease,
  refuseRollBack,
  refuseSubmission,
  type Refusal,
} from '../../domain/pipeline/requests';
import { rollbackOf, rolledBack } from '../../domain/pipeline/rollback';
import { created, newPipeline } from '../../domain/pipeline/state';
import { completed, remembering, repeated, submitted } from '../../domain/pipeline/submissions';
import { approvalsNeeded } from '../../domain/release/approval';
import { formatTime } from '../../domain/text';
import { UNKNOWN_ACTOR, type CommandInput, type CommandReceipt } from '../../domain/verbs';
import { commandRecord } from '../inbox';
import {
  applyUpdate,
  cancelQueuedUpdate,
  policySignal,
  rollBackUpdate,
  startReleaseUpdate,
  submitUpdate,
  type Applied,
  type ApplyInput,
  type RollBackInput,
  type Started,
  type StartInput,
  type Submitted,
} from '../messages';
import { retag } from '../tags';
import type { PipelineRun } from './run';
import { subscribe } from './subscribe';

/** What programs ask of a pipeline: each is refused with a reason, or answered at once (domain/pipeline/requests.ts). */
export function answerRequests(run: PipelineRun): void {
  setHandler(applyUpdate, (input) => apply(run, input), {
    validator: (input) => refuse(refuseApply(run.state, input.spec, input.groups, input.actor)),
  });
  setHandler(startReleaseUpdate, (input) => startRelease(run, input), {
    validator: ({ artifacts, trigger, emergency, parentOwners = [] }) =>
      refuse(
        emergency
          ? refuseEmergency(run.known(), artifacts, trigger, emergency)
          : refuseRelease(run.known(), artifacts, trigger, parentOwners),
      ),
  });
  setHandler(submitUpdate, (input) => submit(run, input), {
    validator: ({ artifacts, trigger }) => refuse(refuseSubmission(run.known(), artifacts, trigger)),
  });
  setHandler(rollBackUpdate, (input) => rollBack(run, input), {
    validator: ({ of, actor }) => refuse(refuseRollBack(run.known(), of, actor ?? UNKNOWN_ACTOR)),
  });
  setHandler(cancelQueuedUpdate, (input) => cancel(run, input), {
    validator: ({ number, actor }) => refuse(refuseCancelQueued(run.known(), number, actor ?? UNKNOWN_ACTOR)),
  });
}

type Queued = CommandInput & { readonly number: number };

function apply(run: PipelineRun, { spec, groups, settings }: ApplyInput): Applied {
  const { state } = run;
  const previous = state?.spec ?? null;
  run.adopt(state ? rescheduled({ ...state, spec, groups, settings }) : newPipeline(spec, groups, settings));
  retag({
    ConveyorPipeline: spec.pipeline,
    ConveyorOwners: spec.owners,
    ConveyorLabels: Object.entries(spec.labels).map(([key, value]) => `${key}=${value}`),
    ConveyorFinders: Object.values(spec.artifacts).map(({ finder }) => finder),
  });
  subscribe(spec, previous);
  run.toRunning((id) => getExternalWorkflowHandle(id).signal(policySignal, policyOf({ spec, groups })));
  return { created: previous === null, previous };
}

function startRelease(run: PipelineRun, { artifacts, trigger, reportTo, emergency }: StartInput): Started {
  const known = run.known();
  const same = repeated(known, artifacts, trigger);
  if (same !== undefined) return { number: same, duplicate: true };
  const more = { ...(reportTo === undefined ? {} : { reportTo }), ...(emergency === undefined ? {} : { emergency }) };
  run.set((state, now) =>
    emergency
      ? created(
          remembering(
            state,
            artifacts.filter(({ name }) => Object.hasOwn(state.spec.artifacts, name)),
          ),
          artifacts,
          trigger,
          now,
          more,
        )
      : created(remembering(state, artifacts), completed(state, artifacts), trigger, now, more),
  );
  const approvals = approvalsNeeded(known.spec, trigger);
  return { number: known.nextNumber, duplicate: false, ...(approvals > 0 ? { approvals } : {}) };
}

function submit(run: PipelineRun, { artifacts, trigger }: StartInput): Submitted {
  const { state, number, duplicate } = submitted(run.known(), artifacts, trigger, Date.now());
  run.set(() => state);
  return { number, duplicate };
}

function cancel(run: PipelineRun, { number, ...command }: Queued): CommandReceipt {
  run.set((state, now) => cancelQueued(state, number, now));
  run.record(commandRecord('cancel', command));
  return { accepted: true, effect: 'it will not start' };
}

/** The release is undone by a new one. */
function rollBack(run: PipelineRun, { of, actor = UNKNOWN_ACTOR, reason = '', notBad }: RollBackInput): Started {
  const known = run.known();
  const back = rollbackOf(known, of);
  if ('impossible' in back) throw ApplicationFailure.nonRetryable(back.impossible, 'invalid-state');
  run.set((state, now) => rolledBack(state, back, { of, actor, reason, notBad: notBad === true }, now));
  run.record({ at: formatTime(Date.now()), verb: 'revert', actor, reason, accepted: true });
  return { number: known.nextNumber, duplicate: false };
}

function refuse(refusal: Refusal | undefined): void {
  if (refusal)
    throw ApplicationFailure.create({
      message: refusal.message,
      type: refusal.code,
      nonRetryable: true,
      details: [refusal.names ?? []],
    });
}
