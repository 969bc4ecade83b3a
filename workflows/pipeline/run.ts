import { ApplicationFailure, getExternalWorkflowHandle, setCurrentDetails, setHandler } from '@temporalio/workflow';
import { workflowIds } from '../../domain/ids';
import { withdrawn, type Admission } from '../../domain/pipeline/admission';
import { PIPELINE_EFFECTS, takePipeline, whyNotPipeline } from '../../domain/pipeline/control';
import { policyOf, refuseApply, refuseRelease, refuseRollBack, type Refusal } from '../../domain/pipeline/requests';
import { rollbackOf, rolledBack } from '../../domain/pipeline/rollback';
import {
  created,
  newPipeline,
  repeated,
  settled,
  type PipelineState,
  type ReadyDeploy,
} from '../../domain/pipeline/state';
import { pipelineDetails, pipelineStatus } from '../../domain/pipeline/view';
import { mayCommand } from '../../domain/principals';
import { formatTime } from '../../domain/text';
import { PIPELINE_VERBS, UNKNOWN_ACTOR, type CommandRecord, type PipelineVerb } from '../../domain/verbs';
import { onSignal, openInbox } from '../inbox';
import {
  admissionSignal,
  applyUpdate,
  deployOverSignal,
  deployReadySignal,
  pipelineQuery,
  policySignal,
  releaseOverSignal,
  rollBackUpdate,
  startReleaseUpdate,
  statusQuery,
  waitingSignal,
  type Applied,
  type ApplyInput,
  type RollBackInput,
  type Started,
  type StartInput,
} from '../messages';
import { holders } from '../proxies';
import { retag } from '../tags';

/** A pipeline's state and its inbox. There is none before the first `apply`; everything else is refused till then. */
export class PipelineRun {
  changed = true;
  private readonly said = new Map<string, string>();

  constructor(public state: PipelineState | null) {
    setHandler(statusQuery, () => this.state && pipelineStatus(this.state));
    setHandler(pipelineQuery, () => this.state);
    setHandler(applyUpdate, (input) => this.apply(input), {
      validator: (input) => refuse(refuseApply(this.state, input.spec, input.groups, input.actor)),
    });
    setHandler(startReleaseUpdate, (input) => this.startRelease(input), {
      validator: ({ artifacts, trigger }) => refuse(refuseRelease(this.known(), artifacts, trigger)),
    });
    setHandler(rollBackUpdate, (input) => this.rollBack(input), {
      validator: ({ of, actor }) => refuse(refuseRollBack(this.known(), of, actor ?? UNKNOWN_ACTOR)),
    });
    onSignal(deployReadySignal, (deploy) => this.ready(deploy));
    onSignal(deployOverSignal, (deploy) => this.set((state) => withdrawn(state, deploy)));
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
        return PIPELINE_EFFECTS[verb];
      },
      record: (command) => this.record(command),
      unknownSignal: () => undefined,
    });
    if (state) this.show();
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

  /** Tells a release why its deploy waits, once for each reason. */
  async sayWhy({ release, action }: ReadyDeploy, why: string): Promise<void> {
    const key = `${release}/${action}`;
    if (this.said.get(key) === why) return;
    this.said.set(key, why);
    await this.signal(release, (id) => getExternalWorkflowHandle(id).signal(waitingSignal, { action, why })).catch(
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
    if (this.state) setCurrentDetails(pipelineDetails(this.state));
  }

  private ready(deploy: ReadyDeploy): void {
    this.set((state) => {
      const others = state.ready.filter(
        ({ release, action }) => release !== deploy.release || action !== deploy.action,
      );
      return { ...state, ready: [...others, deploy] };
    });
  }

  private apply({ spec, groups, settings }: ApplyInput): Applied {
    const previous = this.state?.spec ?? null;
    this.state = this.state ? { ...this.state, spec, groups, settings } : newPipeline(spec, groups, settings);
    this.changed = true;
    this.show();
    retag({
      ConveyorPipeline: spec.pipeline,
      ConveyorOwners: spec.owners,
      ConveyorLabels: Object.entries(spec.labels).map(([key, value]) => `${key}=${value}`),
      ConveyorFinders: Object.values(spec.artifacts).map(({ finder }) => finder),
    });
    for (const { number, state } of this.state.active)
      if (state === 'running')
        void this.signal(number, (id) =>
          getExternalWorkflowHandle(id).signal(policySignal, policyOf({ spec, groups })),
        ).catch(() => undefined);
    return { created: previous === null, previous };
  }

  private startRelease({ artifacts, trigger }: StartInput): Started {
    const known = this.known();
    const same = repeated(known, artifacts, trigger);
    if (same !== undefined) return { number: same, duplicate: true };
    this.set((state, now) => created(state, artifacts, trigger, now));
    return { number: known.nextNumber, duplicate: false };
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

/** A release that was terminated can say nothing: its books are closed for it, and what it held is free again. */
export async function abandoned(run: PipelineRun): Promise<void> {
  const { spec, active } = run.state ?? { spec: null, active: [] };
  if (spec === null) return;
  const running = active.filter(({ state }) => state === 'running');
  const ids = running.map(({ number }) => workflowIds.release(spec.pipeline, number));
  const alive = await holders.stillRunning(ids);
  for (const { number, artifacts } of running.filter((_, index) => !alive.includes(ids[index] ?? ''))) {
    run.set((state, now) => {
      const result = {
        number,
        state: 'failed' as const,
        cause: null,
        artifacts,
        deploys: [],
        endedAt: formatTime(now),
      };
      const freed = Object.keys(state.spec.actions).reduce(
        (next, action) => withdrawn(next, { release: number, action }),
        state,
      );
      return settled(freed, result, now);
    });
  }
}
