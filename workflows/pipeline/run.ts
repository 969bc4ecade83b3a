import { ApplicationFailure, getExternalWorkflowHandle, setCurrentDetails, setHandler } from '@temporalio/workflow';
import { workflowIds } from '../../domain/ids';
import { asked, picked, withdrawn, type Admission, type Overtaking } from '../../domain/pipeline/admission';
import { settled } from '../../domain/pipeline/books';
import { rescheduled } from '../../domain/pipeline/openings';
import { PIPELINE_EFFECTS, takePipeline, whyNotPipeline } from '../../domain/pipeline/control';
import type { Obstacle } from '../../domain/pipeline/obstacles';
import {
  policyOf,
  refuseApply,
  refuseEmergency,
  refuseRelease,
  refuseRollBack,
  refuseSubmission,
  type Refusal,
} from '../../domain/pipeline/requests';
import { rollbackOf, rolledBack } from '../../domain/pipeline/rollback';
import { created, newPipeline, restored, type PipelineState, type ReadyAction } from '../../domain/pipeline/state';
import { completed, remembering, repeated, submitted } from '../../domain/pipeline/submissions';
import { pipelineDetails, pipelineStatus } from '../../domain/pipeline/view';
import { mayCommand } from '../../domain/principals';
import { formatTime } from '../../domain/text';
import { PIPELINE_VERBS, UNKNOWN_ACTOR, type CommandRecord, type PipelineVerb } from '../../domain/verbs';
import { onSignal, openInbox } from '../inbox';
import {
  actionOverSignal,
  actionReadySignal,
  admissionSignal,
  applyUpdate,
  deployOverSignal,
  deployReadySignal,
  frozenSignal,
  overtakenSignal,
  pickedSignal,
  pipelineQuery,
  policySignal,
  releaseOverSignal,
  rollBackUpdate,
  startReleaseUpdate,
  statusQuery,
  submitUpdate,
  waitingSignal,
  type Applied,
  type ApplyInput,
  type RollBackInput,
  type Started,
  type StartInput,
  type Submitted,
} from '../messages';
import { retag } from '../tags';
import { subscribe } from './subscribe';

/** A pipeline's state and its inbox. There is none before the first `apply`; everything else is refused till then. */
export class PipelineRun {
  changed = true;
  private readonly said = new Map<string, string>();

  state: PipelineState | null;

  constructor(carried: PipelineState | null) {
    this.state = carried && restored(carried);
    setHandler(statusQuery, () => this.state && pipelineStatus(this.state, Date.now()));
    setHandler(pipelineQuery, () => this.state);
    setHandler(applyUpdate, (input) => this.apply(input), {
      validator: (input) => refuse(refuseApply(this.state, input.spec, input.groups, input.actor)),
    });
    setHandler(startReleaseUpdate, (input) => this.startRelease(input), {
      validator: ({ artifacts, trigger, emergency }) =>
        refuse(
          emergency
            ? refuseEmergency(this.known(), artifacts, trigger, emergency)
            : refuseRelease(this.known(), artifacts, trigger),
        ),
    });
    setHandler(submitUpdate, (input) => this.submit(input), {
      validator: ({ artifacts, trigger }) => refuse(refuseSubmission(this.known(), artifacts, trigger)),
    });
    setHandler(rollBackUpdate, (input) => this.rollBack(input), {
      validator: ({ of, actor }) => refuse(refuseRollBack(this.known(), of, actor ?? UNKNOWN_ACTOR)),
    });
    for (const signal of [deployReadySignal, actionReadySignal])
      onSignal(signal, (ready) => this.set((state, now) => asked(state, ready, now)));
    for (const signal of [deployOverSignal, actionOverSignal])
      onSignal(signal, (over) => this.set((state) => withdrawn(state, over)));
    onSignal(pickedSignal, (pick) => this.set((state) => picked(state, pick)));
    onSignal(releaseOverSignal, (result) => this.set((state, now) => settled(state, result, now)));
    openInbox<PipelineVerb>({
      verbs: PIPELINE_VERBS,
      permit: (actor) =>
        mayCommand(policyOf(this.known()), actor)
          ? undefined
          : `${actor} is not an owner of ${this.known().spec.pipeline}`,
      whyNot: (verb, input) => whyNotPipeline(this.known(), verb, input),
      take: (verb, input) => {
        this.set((state, now) => takePipeline(state, verb, input, now));
        if (verb === 'freeze' || verb === 'unfreeze') this.tellFrozen();
        return PIPELINE_EFFECTS[verb];
      },
      record: (command) => this.record(command),
      unknownSignal: () => undefined,
    });
    if (this.state) this.show();
  }

  set(step: (state: PipelineState, nowMs: number) => PipelineState): void {
    if (this.state === null) return;
    this.state = step(this.state, Date.now());
    this.changed = true;
    this.show();
  }

  /** Tells a release of an admission; one that is gone lets go of what it was given. */
  async tell(release: number, message: { action: string; admission: Admission }): Promise<void> {
    const { action } = message;
    await this.signal(release, (id) => getExternalWorkflowHandle(id).signal(admissionSignal, message)).catch(() =>
      this.set((state) => withdrawn(state, { release, action })),
    );
  }

  /** Tells a release that deploys to make way for another. */
  async overtake({ release, by, why }: Overtaking): Promise<void> {
    await this.signal(release, (id) => getExternalWorkflowHandle(id).signal(overtakenSignal, { by, why })).catch(
      () => undefined,
    );
  }

  /** Tells a release why one of its actions waits, once for each reason. */
  async sayWhy({ release, action }: ReadyAction, { why, untilMs }: Obstacle): Promise<void> {
    const key = `${release}/${action}`;
    if (this.said.get(key) === why) return;
    this.said.set(key, why);
    const message = { action, why, ...(untilMs === undefined ? {} : { untilMs }) };
    await this.signal(release, (id) => getExternalWorkflowHandle(id).signal(waitingSignal, message)).catch(
      () => undefined,
    );
  }

  private signal(release: number, send: (workflowId: string) => Promise<void>): Promise<void> {
    return send(workflowIds.release(this.known().spec.pipeline, release));
  }

  private known(): PipelineState {
    if (this.state) return this.state;
    throw ApplicationFailure.nonRetryable('it was never applied', 'unknown-pipeline');
  }

  private show(): void {
    if (this.state) setCurrentDetails(pipelineDetails(this.state, Date.now()));
  }

  /** To every release that runs; whoever has ended is none of our business. */
  private toRunning(send: (workflowId: string) => Promise<void>): void {
    for (const { number, state } of this.known().active)
      if (state === 'running') void this.signal(number, send).catch(() => undefined);
  }

  private tellFrozen(): void {
    const { frozen } = this.known();
    this.toRunning((id) => getExternalWorkflowHandle(id).signal(frozenSignal, { by: frozen }));
  }

  private apply({ spec, groups, settings }: ApplyInput): Applied {
    const previous = this.state?.spec ?? null;
    this.state = this.state
      ? rescheduled({ ...this.state, spec, groups, settings })
      : newPipeline(spec, groups, settings);
    this.changed = true;
    this.show();
    retag({
      ConveyorPipeline: spec.pipeline,
      ConveyorOwners: spec.owners,
      ConveyorLabels: Object.entries(spec.labels).map(([key, value]) => `${key}=${value}`),
      ConveyorFinders: Object.values(spec.artifacts).map(({ finder }) => finder),
    });
    subscribe(spec, previous);
    this.toRunning((id) => getExternalWorkflowHandle(id).signal(policySignal, policyOf({ spec, groups })));
    return { created: previous === null, previous };
  }

  private startRelease({ artifacts, trigger, reportTo, emergency }: StartInput): Started {
    const known = this.known();
    const same = repeated(known, artifacts, trigger);
    if (same !== undefined) return { number: same, duplicate: true };
    const more = { ...(reportTo === undefined ? {} : { reportTo }), ...(emergency === undefined ? {} : { emergency }) };
    this.set((state, now) =>
      emergency
        ? created(state, artifacts, trigger, now, more)
        : created(remembering(state, artifacts), completed(state, artifacts), trigger, now, more),
    );
    return { number: known.nextNumber, duplicate: false };
  }

  private submit({ artifacts, trigger }: StartInput): Submitted {
    const { state, number, duplicate } = submitted(this.known(), artifacts, trigger, Date.now());
    this.set(() => state);
    return { number, duplicate };
  }

  /** The release is undone by a new one. */
  private rollBack({ of, actor = UNKNOWN_ACTOR, reason = '', notBad }: RollBackInput): Started {
    const known = this.known();
    const back = rollbackOf(known, of);
    if ('impossible' in back) throw ApplicationFailure.nonRetryable(back.impossible, 'invalid-state');
    this.set((state, now) => rolledBack(state, back, { of, actor, reason, notBad: notBad === true }, now));
    this.record({ at: formatTime(Date.now()), verb: 'revert', actor, reason, accepted: true });
    return { number: known.nextNumber, duplicate: false };
  }

  private record(command: CommandRecord): void {
    this.set((state) => ({ ...state, commands: [...state.commands, command].slice(-100) }));
  }
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
