import type { UpdateDefinition } from '@temporalio/common';
import { ApplicationFailure, getExternalWorkflowHandle, setHandler } from '@temporalio/workflow';
import { pickInheritance } from '../../domain/deploy/outcome';
import { isNestedTooDeep, NESTED } from '../../domain/json';
import { adoptReleases, importDocument, refuseImport, type RecoveredFacts } from '../../domain/pipeline/document';
import { clearOpenings } from '../../domain/pipeline/openings';
import { cancelQueued, withoutSurplus } from '../../domain/pipeline/queue';
import {
  refuseCancelQueued,
  refuseEmergency,
  refuseRelease,
  refuseReportTo,
  refuseRerun,
  refuseRollBack,
  refuseSubmission,
} from '../../domain/pipeline/requests';
import { policyGroups, labelWords, refuseApply } from '../../domain/pipeline/refuseApply';
import { withSpec } from '../../domain/pipeline/specChange';
import { isRollBack } from '../../domain/pipeline/shapes';
import { toPolicy, type Refusal } from '../../domain/pipeline/refusal';
import { rerunCreated, rerunUnderWay } from '../../domain/pipeline/rerun';
import { findRollbackArtifacts, rollbackUnderWay, queueRollback } from '../../domain/pipeline/rollback';
import { queueRelease, newPipeline, withKey, type PipelineState } from '../../domain/pipeline/state';
import {
  completeArtifacts,
  describePassedOver,
  recordLatestInputs,
  findRepeated,
  applySubmission,
} from '../../domain/pipeline/submissions';
import { approvalsNeeded } from '../../domain/release/approval';
import { whyNotBelieved, withProof, type Proven } from '../../domain/proof';
import type { DeployEndRecord } from '../../domain/release/state';
import { formatTime } from '../../domain/text';
import { UNKNOWN_ACTOR, type CommandInput, type CommandReceipt } from '../../domain/verbs';
import { commandRecord, onSignal } from '../inbox';
import {
  applyUpdate,
  cancelQueuedUpdate,
  importUpdate,
  policySignal,
  rollBackSignal,
  rollBackUpdate,
  startReleaseUpdate,
  submitUpdate,
  type ApplyOutcome,
  type ActionOver,
  type ApplyInput,
  type ImportInput,
  type RollBackInput,
  type StartResult,
  type StartInput,
  type SubmitResult,
} from '../messages';
import { retag } from '../tags';
import { recordActionOver, type PipelineRun } from './run';
import { subscribe } from './subscribe';

/**
 * Answers the requests of programs to a pipeline: each is refused with a reason, or answered at once
 * (domain/pipeline/requests.ts).
 */
export function answerRequests(run: PipelineRun): void {
  answerUpdate(run, applyUpdate, applySpec, ({ spec, groups, actor, permitted }) =>
    refuseApply(run.state, spec, groups, actor, permitted),
  );
  answerUpdate(run, importUpdate, importRecords, ({ document, groups, actor, permitted }) =>
    refuseImport(run.state, document, groups, actor, permitted),
  );
  answerUpdate(
    run,
    startReleaseUpdate,
    answerStart,
    (input) => refuseReportTo(input.reportTo ?? '') ?? refuseStart(run.known(), input),
  );
  answerUpdate(run, submitUpdate, submit, ({ artifacts, trigger }) =>
    refuseSubmission(run.known(), artifacts, trigger),
  );
  answerUpdate(run, rollBackUpdate, rollBack, ({ of, ...command }) => refuseRollBack(run.known(), of, command));
  onSignal(rollBackSignal, (input) => rollBackLate(run, input), isRollBack);
  answerUpdate(run, cancelQueuedUpdate, cancel, ({ number, ...command }) =>
    refuseCancelQueued(run.known(), number, command),
  );
}

/** A request with a proof is taken only once. */
function answerUpdate<Output, Input extends Proven>(
  run: PipelineRun,
  request: UpdateDefinition<Output, [Input]>,
  take: (run: PipelineRun, input: Input) => Output,
  refusal: (input: Input) => Refusal | undefined,
): void {
  const handler = (input: Input): Output => {
    const output = take(run, input);
    if (input.proof) run.believe(withProof(run.state?.proofs ?? [], input.proof));
    return output;
  };
  setHandler(request, handler, {
    validator: (input) => {
      if (isNestedTooDeep(input)) refuse({ code: 'invalid-state', message: `its input is ${NESTED}` });
      const why = whyNotBelieved(run.state?.proofs ?? [], request.name, input.proof);
      refuse(why === undefined ? refusal(input) : { code: 'not-permitted', message: why });
    },
  });
}

function refuseStart(
  known: PipelineState,
  { artifacts, trigger, emergency, rerunOf, parentOwners = [] }: StartInput,
): Refusal | undefined {
  if (emergency) return refuseEmergency(known, artifacts, trigger, emergency);
  if (rerunOf !== undefined) return refuseRerun(known, artifacts, trigger, rerunOf);
  return refuseRelease(known, artifacts, trigger, parentOwners);
}

type CancelCommand = CommandInput & { readonly number: number };

function applySpec(run: PipelineRun, { spec, groups: all, settings, found }: ApplyInput): ApplyOutcome {
  const { state } = run;
  const groups = policyGroups(spec, all);
  const next = state
    ? clearOpenings({ ...withSpec(state, spec), groups, settings })
    : newPipeline(spec, groups, settings);
  return adoptState(run, next, found);
}

function importRecords(run: PipelineRun, input: ImportInput): ApplyOutcome {
  const { document, groups: all, settings, found, actor, permitted } = input;
  const frozen = run.state?.frozen ?? null;
  const groups = policyGroups(document.spec, all);
  const next = importDocument(run.state, document, groups, settings, { actor, permitted, nowMs: Date.now() });
  const applied = adoptState(run, next, found);
  if ((run.known().frozen === null) !== (frozen === null)) run.reportFrozen();
  return applied;
}

/** Takes over another spec, or other records: shows them, and sends the policy to running releases. */
function adoptState(run: PipelineRun, next: PipelineState, found: RecoveredFacts | undefined): ApplyOutcome {
  const previous = run.state?.spec ?? null;
  const { spec, groups } = next;
  run.adopt(found ? adoptReleases(next, found) : next);
  retag({
    ConveyorPipeline: spec.pipeline,
    ConveyorState: run.tagged,
    ConveyorOwners: spec.owners,
    ConveyorLabels: labelWords(spec),
    ConveyorFinders: [...new Set(Object.values(spec.artifacts).map(({ finder }) => finder))],
  });
  // A workflow that has ended took its memo with it.
  subscribe(spec, found ? null : previous);
  run.toRunning((id) => getExternalWorkflowHandle(id).signal(policySignal, toPolicy({ spec, groups })));
  return { created: previous === null, previous };
}

function answerStart(run: PipelineRun, input: StartInput): StartResult {
  const { artifacts, trigger, reportTo, emergency, rerunOf } = input;
  if (rerunOf !== undefined) return rerun(run, input, rerunOf);
  const known = run.known();
  const same = findRepeated(known, artifacts, trigger);
  if (same !== undefined) return { number: same, duplicate: true };
  const more = { ...(reportTo === undefined ? {} : { reportTo }), ...(emergency === undefined ? {} : { emergency }) };
  run.set((state, now) =>
    emergency
      ? queueRelease(
          recordLatestInputs(
            state,
            artifacts.filter(({ name }) => Object.hasOwn(state.spec.artifacts, name)),
          ),
          artifacts,
          trigger,
          now,
          more,
        )
      : withoutSurplus(
          queueRelease(recordLatestInputs(state, artifacts), completeArtifacts(state, artifacts), trigger, now, more),
          now,
        ),
  );
  const approvals = approvalsNeeded(known.spec, trigger);
  const other = emergency ? [] : describePassedOver(known, artifacts);
  return {
    ...{ number: known.nextNumber, duplicate: false },
    ...(approvals > 0 ? { approvals } : {}),
    ...(other.length > 0 ? { passedOver: other } : {}),
  };
}

function rerun(run: PipelineRun, { artifacts, trigger }: StartInput, of: number): StartResult {
  const known = run.known();
  const same = findRepeated(known, artifacts, trigger) ?? rerunUnderWay(known, of);
  if (same !== undefined) {
    if (trigger.key !== null) run.set((state) => withKey(state, trigger, same));
    return { number: same, duplicate: true };
  }
  run.set((state, now) => withoutSurplus(rerunCreated(state, of, artifacts, trigger, now), now));
  return { number: known.nextNumber, duplicate: false };
}

function submit(run: PipelineRun, { artifacts, trigger }: StartInput): SubmitResult {
  const { state, number, duplicate } = applySubmission(run.known(), artifacts, trigger, Date.now());
  run.set((_, now) => withoutSurplus(state, now));
  return { number, duplicate };
}

function cancel(run: PipelineRun, { number, ...command }: CancelCommand): CommandReceipt {
  run.set((state, now) => cancelQueued(state, number, now));
  run.record(commandRecord('cancel', command));
  return { accepted: true, effect: 'it will not start' };
}

/** Starts a new release that undoes the given one. */
function rollBack(run: PipelineRun, { of, actor = UNKNOWN_ACTOR, reason = '', notBad }: RollBackInput): StartResult {
  const known = run.known();
  const isHeld = (): boolean => run.known().held !== null;
  const same = rollbackUnderWay(known, of);
  if (same !== undefined) {
    run.record({ at: formatTime(Date.now()), verb: 'revert', actor, reason, accepted: true });
    const brings = known.active.find(({ number }) => number === same)?.artifacts ?? [];
    return { number: same, duplicate: true, isHeld: isHeld(), brings: brings.map(({ version }) => version) };
  }
  const back = findRollbackArtifacts(known, of);
  if ('impossible' in back) throw ApplicationFailure.nonRetryable(back.impossible, 'invalid-state');
  run.set((state, now) => queueRollback(state, back, { of, actor, reason, notBad: notBad === true }, now));
  run.record({ at: formatTime(Date.now()), verb: 'revert', actor, reason, accepted: true });
  return { number: known.nextNumber, duplicate: false, isHeld: isHeld(), brings: back.map(({ version }) => version) };
}

/** From a release that has ended while it was being reverted. If it cannot be undone, the reason is recorded. */
function rollBackLate(run: PipelineRun, input: RollBackInput): void {
  if (run.state === null) return;
  const { of, settled = [] } = input;
  for (const deploy of settled) run.set((state, now) => recordActionOver(state, toActionOver(of, deploy), now));
  const refusal = refuseRollBack(run.known(), of, input);
  if (refusal) run.record(commandRecord('revert', input, refusal.message));
  else rollBack(run, input);
}

/**
 * The message that the release sends at the end of the action: the resources that it held become free for the rollback.
 */
const toActionOver = (release: number, deploy: DeployEndRecord): ActionOver => ({
  ...{ release, action: deploy.action, settled: deploy },
  ...pickInheritance(deploy.result),
});

function refuse(refusal: Refusal | undefined): void {
  if (refusal)
    throw ApplicationFailure.create({
      message: refusal.message,
      type: refusal.code,
      nonRetryable: true,
      details: [refusal.names ?? []],
    });
}
