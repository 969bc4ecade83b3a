import type { Proven } from './proof';
import { withReason } from './text';

/** The operator's verbs, as typed on the command line; each is an update and a signal of this name (docs/design/workflows.md#commands-and-messages). */
export const DEPLOY_VERBS = [
  'pause',
  'resume',
  'cancel',
  'revert',
  'skip-phase',
  'skip-bake',
  'skip-health-check',
  'skip-window',
] as const;
export const RELEASE_VERBS = ['pause', 'resume', 'cancel', 'revert', 'pick', 'retry', 'skip-window'] as const;
export const PIPELINE_VERBS = ['hold', 'unhold', 'freeze', 'unfreeze', 'allow-artifact', 'retire'] as const;

export type DeployVerb = (typeof DEPLOY_VERBS)[number];
export type ReleaseVerb = (typeof RELEASE_VERBS)[number];
export type PipelineVerb = (typeof PIPELINE_VERBS)[number];
export type Verb = DeployVerb | ReleaseVerb | PipelineVerb;

export const isReleaseVerb = (verb: Verb): boolean => RELEASE_VERBS.some((own) => own === verb);
export const isPipelineVerb = (verb: Verb): boolean => PIPELINE_VERBS.some((own) => own === verb);

/** What comes with a verb. A signal may leave out everything: its actor then counts as `user:unknown`. */
export interface CommandInput extends Proven {
  readonly actor?: string;
  readonly reason?: string;
  /** pause: an unhealthy verdict does not revert meanwhile. */
  readonly noRevert?: boolean;
  /** resume: of a completion phase that its update timeout has paused, go on without the tasks that are missing. */
  readonly acceptMissing?: boolean;
  /** revert: do not mark the artifact known-bad. */
  readonly notBad?: boolean;
  /** skip-health-check: one check by name; without it all of them. */
  readonly check?: string;
  /** skip-health-check: for the present phase (default) or the whole deploy. */
  readonly for?: 'phase' | 'deploy';
  /** skip-phase, skip-bake: the phase that is meant, so that whoever comes too late does not skip the next. */
  readonly phase?: string;
  /** freeze: when it lifts itself, as RFC 3339 has it. */
  readonly until?: string;
  /** allow-artifact: `name@version`. */
  readonly artifact?: string;
  /** pick, retry, skip-window: which action of the release. */
  readonly action?: string;
  /** pick: go on, or fail the action. */
  readonly approve?: boolean;
  /** By which rule the door lets them that took the command; owners are asked no more then. */
  readonly permitted?: string;
  /** pick: groups by which they may approve that only an identity provider knows, as the door says. */
  readonly vouched?: readonly string[];
}

/** A command as it is queued and recorded: who, what, when, why, and whether it was taken. */
export interface CommandRecord {
  readonly at: string;
  readonly verb: Verb;
  readonly actor: string;
  readonly reason: string;
  readonly accepted: boolean;
  /** Why it was not accepted. */
  readonly rejection?: string;
  /** A rule of the platform by which it was taken: its actor need not be an owner. */
  readonly permitted?: string;
}

/** A command as the timeline tells it. */
export function commandText({ verb, actor, reason, accepted, rejection, permitted }: CommandRecord): string {
  const given = `${verb} by ${actor}${permitted === undefined ? '' : ` (${permitted})`}`;
  return accepted ? withReason(given, reason) : `ignored ${given}: ${rejection ?? ''}`;
}

/** What an accepted update answers. */
export interface CommandReceipt {
  readonly accepted: true;
  /** One sentence: what happens now. */
  readonly effect: string;
}

export const UNKNOWN_ACTOR = 'user:unknown';
