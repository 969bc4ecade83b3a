import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
import type { Artifact } from '../domain/artifact';
import type { ReplacedNotice } from '../domain/brought';
import type { BugNotice } from '../domain/bugs/consequence';
import type { Overtaken } from '../domain/deploy/control';
import type { Inheritance } from '../domain/deploy/planRevert';
import type { ActionRef } from '../domain/pipeline/begun';
import type { Admission } from '../domain/release/admission';
import type { Emergency, Held, PipelineState, ReadyAction } from '../domain/pipeline/state';
import type { Policy } from '../domain/principals';
import type { Found, PipelineDocument } from '../domain/pipeline/document';
import type { Recollection } from '../domain/release/rerun';
import type { DeployEnded, ReleaseResult } from '../domain/release/state';
import type { Settings } from '../domain/settings';
import type { Proven } from '../domain/proof';
import type { PipelineSpec } from '../domain/spec/pipeline';
import type { CommandInput, CommandReceipt, Verb } from '../domain/verbs';
import type { Pause, Trigger } from '../domain/views';

/**
 * Every operator verb is an update (validated and acknowledged) and a signal of the same name (fire and forget,
 * for the Web UI and `temporal workflow signal`). Both carry `CommandInput` (docs/design/workflows.md#commands-and-messages).
 */
export const verbUpdate = (verb: Verb) => defineUpdate<CommandReceipt, [CommandInput | undefined]>(verb);
export const verbSignal = (verb: Verb) => defineSignal<[CommandInput | undefined]>(verb);

/** The state of a pipeline, release or deploy as `status` prints it, but for the address of the Web UI. */
export const statusQuery = defineQuery<unknown>('status');

/** Who may command, when the owners of the pipeline change while a release or deploy runs. */
export const policySignal = defineSignal<[Policy]>('policy');

/** What programs ask of a pipeline. Updates, since whoever asks needs the answer or the reason for a refusal. */
export const applyUpdate = defineUpdate<Applied, [ApplyInput]>('apply');
export const startReleaseUpdate = defineUpdate<Started, [StartInput]>('start-release');
/** What a finder or a webhook brings: some of the pipeline's artifacts, which may or may not make a release. */
export const submitUpdate = defineUpdate<Submitted, [StartInput]>('submit');
/** A release that has not started yet never will. */
export const cancelQueuedUpdate = defineUpdate<CommandReceipt, [CommandInput & { readonly number: number }]>(
  'cancel-queued',
);
export const rollBackUpdate = defineUpdate<Started, [RollBackInput]>('roll-back');
/** As the update, from a release that ended as it was being reverted. */
export const rollBackSignal = defineSignal<[RollBackInput]>('roll-back');
/** The whole of what a pipeline remembers; null before its first `apply`. */
export const pipelineQuery = defineQuery<PipelineState | null>('pipeline');

/** Records that were exported take the place of those that the pipeline has. */
export const importUpdate = defineUpdate<Applied, [ImportInput]>('import');

export interface ImportInput extends Omit<ApplyInput, 'spec'> {
  readonly document: PipelineDocument;
}

export interface ApplyInput extends Proven {
  /** With the first message to a pipeline whose last workflow has ended. */
  readonly found?: Found;
  readonly spec: PipelineSpec;
  readonly groups: Policy['groups'];
  readonly settings: Settings;
  readonly actor: string;
  /** As of a command. */
  readonly permitted?: string;
}

export interface Applied {
  readonly created: boolean;
  readonly previous: PipelineSpec | null;
}

export interface StartInput extends Proven {
  readonly artifacts: readonly Artifact[];
  readonly trigger: Trigger;
  /** A workflow that the release signals `child-over` at its end. */
  readonly reportTo?: string;
  /** With the trigger `parent`: the owners of that pipeline. */
  readonly parentOwners?: readonly string[];
  /** With the trigger `emergency`. */
  readonly emergency?: Emergency;
  /** What did not succeed of this release is run again, with what it was given. */
  readonly rerunOf?: number;
}

export interface Submitted {
  /** Null while other artifacts of the pipeline have no value yet. */
  readonly number: number | null;
  readonly duplicate: boolean;
}

export interface RollBackInput extends CommandInput {
  readonly of: number;
  /** From the release itself: how those of its deploys ended that it had not reported to its pipeline before. */
  readonly settled?: readonly DeployEnded[];
}

export interface Started {
  readonly number: number;
  /** The same submission came before; nothing new was started. */
  readonly duplicate: boolean;
  /** An emergency that waits for so many approvals; left out where it waits for none. */
  readonly approvals?: number;
  /** Of a rollback: no other deploy starts until a person unholds the pipeline. Left out by workers of before 0.3. */
  readonly isHeld?: boolean;
  /** Of a rollback: the versions that it brings back. Left out by workers of before 0.3. */
  readonly brings?: readonly string[];
  /** Inputs that were left out, and whose latest version failed: which is taken, in words. */
  readonly passedOver?: readonly string[];
}

/** From a release to its pipeline. Signals, since a workflow can send no update. */
export const deployReadySignal = defineSignal<[ReadyAction]>('deploy-ready');
export const deployOverSignal = defineSignal<[ActionOver]>('deploy-over');
/** As those two, for what is not a deploy: an action with exclusion groups, or a pick. */
export const actionReadySignal = defineSignal<[ReadyAction]>('action-ready');
export const actionOverSignal = defineSignal<[ActionOver]>('action-over');
/** A person approved a pick: older releases that wait for the same one are superseded. */
export const pickedSignal = defineSignal<[ActionRef]>('picked');
export const releaseOverSignal = defineSignal<[ReleaseResult]>('release-over');
/** What a release has come to, for one that runs it again. */
export const recollectionQuery = defineQuery<Recollection>('recollection');
/** Whoever sees that a release was ended from outside says so: its pipeline looks at once. */
export const lookSignal = defineSignal<[{ readonly release: number }]>('look');

export interface ActionOver extends ActionRef {
  /** What a deploy leaves for the next to inherit; null: nothing any more. */
  readonly leaves?: Inheritance | null;
  /** How a deploy ended: booked before the next one is let in. */
  readonly settled?: DeployEnded;
}

/** From the lock of a service: another pipeline has replaced what this one brought there, or that version is back. */
export const replacedSignal = defineSignal<[ReplacedNotice]>('replaced');

/** A release reports its end to its `reportTo`; `state` is that of the release. */
export const childOverSignal = defineSignal<[ChildOver]>('child-over');

export interface ChildOver {
  readonly pipeline: string;
  readonly number: number;
  readonly state: ReleaseResult['state'];
}

/** From the pipeline to its releases, and from them to their deploys: nothing new begins while it is frozen. */
export const frozenSignal = defineSignal<[Frozen]>('frozen');
/** A wrapped null: a signal without input means nothing. */
export interface Frozen {
  readonly by: Held | null;
}

/** To a release: something of it contains a bug that was reported. */
export const bugSignal = defineSignal<[BugNotice]>('bug');

/** A deploy has to make way for that of another release (docs/design/pipeline.md#concurrency). */
export const overtakenSignal = defineSignal<[Overtaken]>('overtaken');

/** From a deploy to its release: it has paused, and somebody is to be notified. */
export const deployPausedSignal = defineSignal<[DeployPaused]>('deploy-paused');
export interface DeployPaused extends Pick<Pause, 'actor' | 'reason'> {
  readonly action: string;
  readonly phase: string | null;
}

/** From a release to its canary: the action that it was kept for, which is the input, has ended. */
export const canaryKeepOverSignal = defineSignal<[string]>('canary-keep-over');
/** From a canary that is to be kept to its release: it has baked. One signal for each canary, by the name of its action. */
export const canaryKeptSignal = (action: string) => defineSignal<[{ version: string }]>(`canary-kept-${action}`);

/** The pipeline answers: whether a deploy may begin, and until then why not. */
export const admissionSignal = defineSignal<[{ action: string; admission: Admission }]>('admission');
export const waitingSignal = defineSignal<[{ action: string; why: string; untilMs?: number }]>('waiting');
