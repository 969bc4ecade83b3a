import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
import type { Artifact } from '../domain/artifact';
import type { ReplacedNotice } from '../domain/broughtVersions';
import type { DeployAlarm } from '../domain/deploy/alarm';
import type { BugNotice } from '../domain/release/bugNotice';
import type { Overtaken } from '../domain/deploy/control';
import type { Inheritance } from '../domain/deploy/planRevert';
import type { ActionRef } from '../domain/pipeline/actionStart';
import type { Admission } from '../domain/release/admission';
import type { Emergency, PipelineStopRecord, PipelineState, ReadyAction } from '../domain/pipeline/state';
import type { Policy } from '../domain/principals';
import type { RecoveredFacts, PipelineDocument } from '../domain/pipeline/document';
import type { WithdrawalNotice } from '../domain/pipeline/undeploy';
import type { Recollection } from '../domain/release/rerun';
import type { DeployEndRecord, ReleaseResult } from '../domain/release/state';
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

/** The state of a pipeline, release or deploy as `status` prints it, without the address of the Web UI. */
export const statusQuery = defineQuery<unknown>('status');

/** The new rules for who may command, if the owners of the pipeline change while a release or deploy runs. */
export const policySignal = defineSignal<[Policy]>('policy');

/**
 * Requests of programs to a pipeline. They are updates, since the caller needs the answer or the reason for a refusal.
 */
export const applyUpdate = defineUpdate<ApplyOutcome, [ApplyInput]>('apply');
export const startReleaseUpdate = defineUpdate<StartResult, [StartInput]>('start-release');
/** Artifacts of the pipeline from a finder or a webhook; they may or may not make a release. */
export const submitUpdate = defineUpdate<SubmitResult, [StartInput]>('submit');
/** Cancels a release that has not started, so that it never does. */
export const cancelQueuedUpdate = defineUpdate<CommandReceipt, [CommandInput & { readonly number: number }]>(
  'cancel-queued',
);
export const rollBackUpdate = defineUpdate<StartResult, [RollBackInput]>('roll-back');
/** Like the update, from a release that ended while it was being reverted. */
export const rollBackSignal = defineSignal<[RollBackInput]>('roll-back');
/** The full state of a pipeline; null before its first `apply`. */
export const pipelineQuery = defineQuery<PipelineState | null>('pipeline');

/** Replaces the records of the pipeline by exported ones. */
export const importUpdate = defineUpdate<ApplyOutcome, [ImportInput]>('import');

export interface ImportInput extends Omit<ApplyInput, 'spec'> {
  readonly document: PipelineDocument;
}

export interface ApplyInput extends Proven {
  /** Present in the first message to a pipeline whose last workflow has ended. */
  readonly found?: RecoveredFacts;
  readonly spec: PipelineSpec;
  readonly groups: Policy['groups'];
  readonly settings: Settings;
  readonly actor: string;
  /** As in a command. */
  readonly permitted?: string;
}

export interface ApplyOutcome {
  readonly created: boolean;
  readonly previous: PipelineSpec | null;
}

export interface StartInput extends Proven {
  readonly artifacts: readonly Artifact[];
  readonly trigger: Trigger;
  /** The workflow to which the release signals `child-over` at its end. */
  readonly reportTo?: string;
  /** With the trigger `parent`: the owners of the parent pipeline. */
  readonly parentOwners?: readonly string[];
  /** With the trigger `emergency`. */
  readonly emergency?: Emergency;
  /** The actions of this release that did not succeed run again, with the same inputs. */
  readonly rerunOf?: number;
}

export interface SubmitResult {
  /** Null if other artifacts of the pipeline have no value yet. */
  readonly number: number | null;
  readonly duplicate: boolean;
}

export interface RollBackInput extends CommandInput {
  readonly of: number;
  /** From the release itself: the ends of its deploys that it had not yet reported to its pipeline. */
  readonly settled?: readonly DeployEndRecord[];
}

export interface StartResult {
  readonly number: number;
  /** The same submission came before, so no new release was started. */
  readonly duplicate: boolean;
  /** The number of approvals that an emergency waits for; left out if it waits for none. */
  readonly approvals?: number;
  /** For a rollback: no other deploy starts until a person unholds the pipeline. */
  readonly isHeld?: boolean;
  /** For a rollback: the versions that it brings back. */
  readonly brings?: readonly string[];
  /** The inputs that were left out and whose latest version failed, with the version taken instead, in words. */
  readonly passedOver?: readonly string[];
}

/** From a release to its pipeline. These are signals, since a workflow cannot send updates. */
export const deployReadySignal = defineSignal<[ReadyAction]>('deploy-ready');
export const deployOverSignal = defineSignal<[ActionOver]>('deploy-over');
/** Like those two, for actions other than deploys: one with exclusion groups, or a pick. */
export const actionReadySignal = defineSignal<[ReadyAction]>('action-ready');
export const actionOverSignal = defineSignal<[ActionOver]>('action-over');
/** A person approved a pick: older releases that wait for the same pick are superseded. */
export const pickedSignal = defineSignal<[ActionRef]>('picked');
export const releaseOverSignal = defineSignal<[ReleaseResult]>('release-over');
/** The results of a release, for one that runs it again. */
export const recollectionQuery = defineQuery<Recollection>('recollection');
/** From a workflow that sees that a release was ended from outside: its pipeline looks at once. */
export const lookSignal = defineSignal<[{ readonly release: number }]>('look');

export interface ActionOver extends ActionRef {
  /** The changes that a deploy leaves for the next one to inherit; null if none are left. */
  readonly leaves?: Inheritance | null;
  /** How a deploy ended, recorded before the next one is admitted. */
  readonly settled?: DeployEndRecord;
}

/** From the offers of another pipeline: it withdraws an offer that a deploy uses. */
export const offerWithdrawnSignal = defineSignal<[WithdrawalNotice]>('offer-withdrawn');

/**
 * From the lock of a service: another pipeline has replaced the version that this one brought, or that version is back.
 */
export const replacedSignal = defineSignal<[ReplacedNotice]>('replaced');

/** A release reports its end to its `reportTo`; `state` is that of the release. */
export const childOverSignal = defineSignal<[ChildOver]>('child-over');

export interface ChildOver {
  readonly pipeline: string;
  readonly number: number;
  readonly state: ReleaseResult['state'];
}

/**
 * From the pipeline to its releases, and from them to their deploys: nothing new begins while the pipeline is frozen.
 */
export const frozenSignal = defineSignal<[FreezeNotice]>('frozen');
/** A wrapper for null, because a signal without input means nothing. */
export interface FreezeNotice {
  readonly by: PipelineStopRecord | null;
}

/** To a release: one of its artifacts contains a reported bug. */
export const bugSignal = defineSignal<[BugNotice]>('bug');

/** A deploy has to make way for a deploy of another release (docs/design/pipeline.md#concurrency). */
export const overtakenSignal = defineSignal<[Overtaken]>('overtaken');

/** From a deploy to its release: it has paused, and people are to be notified. */
export const deployPausedSignal = defineSignal<[PauseNotice]>('deploy-paused');
export interface PauseNotice extends Pick<Pause, 'actor' | 'reason'> {
  readonly action: string;
  readonly phase: string | null;
}

/** From a deploy to its release: it pauses or reverts by itself, no longer does, or a person acts on it. */
export const deployAlarmSignal = defineSignal<[AlarmNotice]>('deploy-alarm');
export interface AlarmNotice {
  readonly action: string;
  /** Null if the deploy needs no person. */
  readonly alarm: DeployAlarm | null;
  /** The actor of a command that it has just taken. */
  readonly answeredBy?: string;
}

/** From the front end: a person has acknowledged the page in the service that paged them. */
export const pageAnsweredSignal = defineSignal<[PageAnswer]>('page-answered');
export interface PageAnswer {
  /** The action whose deploy the page is about; null for all of the release. */
  readonly action: string | null;
  /** `Alice in PagerDuty` */
  readonly by: string;
  /** When the person acknowledged it; ms since the epoch. */
  readonly atMs: number;
}

/** From a release to its canary: the action in the input, for which the canary was kept, has ended. */
export const canaryKeepOverSignal = defineSignal<[string]>('canary-keep-over');
/** From a canary that is to be kept to its release: it has baked. Each canary has its own signal, named after its action. */
export const canaryKeptSignal = (action: string) => defineSignal<[{ version: string }]>(`canary-kept-${action}`);

/** From the pipeline: the permission to begin a deploy, or until then the reason for the wait. */
export const admissionSignal = defineSignal<[{ action: string; admission: Admission }]>('admission');
export const waitingSignal = defineSignal<[{ action: string; why: string; untilMs?: number }]>('waiting');
