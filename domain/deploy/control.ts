import { formatTime, withReason } from '../text';
import { UNKNOWN_ACTOR, type CommandInput, type DeployVerb } from '../verbs';
import type { Pause } from '../views';

/** The actor, time and reason of a command. */
export interface GivenCommand {
  readonly actor: string;
  readonly reason: string;
  readonly at: string;
}

/** A check (null: all) that does not count because a person has skipped it. */
export interface CheckSkip extends GivenCommand {
  readonly check: string | null;
  readonly for: 'phase' | 'deploy';
}

/**
 * The commands of operators that the deploy has not carried out completely: the fold of all commands taken so far. Scopes find
 * their reasons in it, and waits their wake-ups; handlers only fold commands into it.
 */
export interface Control {
  readonly paused: Pause | null;
  /** Set by `pause --no-revert`: an unhealthy verdict does not revert while paused. */
  readonly noRevert: boolean;
  /** A command to resume; the runner first needs a fresh healthy verdict. */
  readonly resuming: GivenCommand | null;
  /** A command to resume without the missing tasks of the phase under way. */
  readonly accepted: GivenCommand | null;
  readonly cancel: GivenCommand | null;
  readonly revert: (GivenCommand & { readonly notBad: boolean; readonly paused: Pause | null }) | null;
  readonly skipPhase: GivenCommand | null;
  readonly skipBake: GivenCommand | null;
  readonly skippedChecks: readonly CheckSkip[];
  /** The deploy continues outside its window until it ends. */
  readonly skipWindow?: GivenCommand;
  /** The freeze of the pipeline, if there is one: no further phase begins. */
  readonly frozen: (GivenCommand & { readonly until?: string }) | null;
  readonly overtaken: Overtaken | null;
}

/** The release that takes its place: `superseded` before the next phase, `preempted` as soon as possible. */
export interface Overtaken {
  readonly by: number;
  readonly why: 'superseded' | 'preempted';
}

export const NO_COMMANDS: Control = {
  paused: null,
  noRevert: false,
  resuming: null,
  accepted: null,
  cancel: null,
  revert: null,
  skipPhase: null,
  skipBake: null,
  skippedChecks: [],
  frozen: null,
  overtaken: null,
};

/** The facts about the deploy that the rules below need. */
export interface DeploySituation {
  readonly control: Control;
  readonly ended: boolean;
  readonly reverting: boolean;
  /** The tasks of the revert do not come up; only then may a person end it. */
  readonly revertStuck: boolean;
  /** The only units left to revert are those whose earlier version is unknown. */
  readonly withoutPast?: boolean;
  /** Null before the first phase and between two phases. */
  readonly phase: {
    readonly kind: 'partial' | 'completion';
    readonly name: string;
    /** Its bake is over. */
    readonly baked?: boolean;
  } | null;
  /** It waits for its window to open. */
  readonly atWindow?: boolean;
  /** It removes its units. */
  readonly removal?: true;
  /** It is undone, however it ends. */
  readonly canary?: true;
  /** It is a canary that goes back although nothing has reverted it. */
  readonly canaryOver?: true;
  /** The completion phase is under way or over. */
  readonly completing: boolean;
  readonly checks: readonly string[];
  /** If units go back to several versions: the version of each. */
  readonly ranEach?: string;
}

/** The reason why a verb cannot be taken now; undefined if it can (docs/design/deploy.md#verbs). */
export function whyNot(situation: DeploySituation, verb: DeployVerb, input: CommandInput): string | undefined {
  const { control, ended, revertStuck, withoutPast } = situation;
  if (ended) return 'it has ended';
  if (verb === 'revert') return situation.removal ? NOT_BACK : undefined;
  if (verb === 'cancel' && revertStuck) return VERBS.cancel.refuse(situation, input);
  if (control.cancel && verb !== 'cancel') return 'it is being cancelled';
  if (withoutPast) return `no earlier version is known; ${WITHOUT_PAST}`;
  if (isReverting(situation) && verb !== 'pause' && verb !== 'resume') return REVERTING;
  if (control.overtaken?.why === 'preempted') return alreadyOvertaken(control.overtaken);
  return VERBS[verb].refuse(situation, input);
}

/** True from the command on, so that a repeated command changes nothing. */
export const isReverting = ({ reverting, control }: Pick<DeploySituation, 'reverting' | 'control'>): boolean =>
  reverting || control.revert !== null;

/** A canary goes back at its end in any case, so a revert that comes meanwhile says that it has failed. */
export const failsCanary = ({ canaryOver, control }: Pick<DeploySituation, 'canaryOver' | 'control'>): boolean =>
  canaryOver === true && control.revert === null;

/**
 * The reason why Temporal's own cancel request ends no revert, not even one that is stuck: its sender may not have
 * meant the revert.
 */
export const whyOnlyPersons = (situation: DeploySituation): string | undefined =>
  isReverting(situation) ? REVERTING : undefined;

/** The way out for units without a known earlier version: no other deploy updates them before this one has ended. */
export const WITHOUT_PAST = 'cancel it, then deploy a good version';

/** A removal brings no version. */
export const NOT_BACK = 'an undeploy cannot be reverted: cancel it, then release the version that should run';

const REVERTING = 'it is reverting; a revert can be paused but not stopped';
const alreadyOvertaken = ({ by, why }: Overtaken): string => `release ${by} has already ${why} it`;

type VerbRule = (situation: DeploySituation, input: CommandInput) => string | undefined;

const inPhase: VerbRule = ({ phase }) => (phase ? undefined : 'no phase is under way');

/** A person who names the phase that they see does not skip the next one if another command was quicker. */
const otherPhase: VerbRule = ({ phase }, { phase: meant }) =>
  phase && meant !== undefined && meant !== phase.name ? `phase ${phase.name} is under way, not ${meant}` : undefined;

/** The meaning of a verb for a deploy. */
interface VerbOfDeploy {
  /** The reason why it cannot be taken; undefined if it can. `whyNot` has the reasons that all verbs share. */
  readonly refuse: VerbRule;
  readonly apply: (control: Control, asked: GivenCommand, input: CommandInput) => Control;
  /** The effect now, for the person who typed the verb; `phase` names the phase under way. */
  readonly effect: (situation: DeploySituation, input: CommandInput, phase: string) => string;
}

const VERBS: Readonly<Record<DeployVerb, VerbOfDeploy>> = {
  pause: {
    // A new pause takes back a resume that still waits for its verdict.
    refuse: ({ control: { paused, resuming } }) =>
      paused?.by === 'operator' && !resuming ? `${paused.actor ?? 'a person'} has already paused it` : undefined,
    apply: (control, asked, { noRevert }) => ({
      ...control,
      paused: { by: 'operator', ...asked },
      noRevert: noRevert === true,
      resuming: null,
      accepted: null,
    }),
    effect: ({ reverting: isBack, removal }) => {
      if (removal) return 'it stops no further tasks';
      return isBack
        ? 'the revert starts no further updates'
        : 'no further updates start; health checks continue and can still revert it, unless --no-revert was given';
    },
  },
  resume: {
    refuse: ({ control, phase }, { acceptMissing }) => {
      if (!control.paused) return 'it is not paused';
      if (acceptMissing && (control.paused.by !== 'timeout' || phase?.kind !== 'completion'))
        return 'only a completion phase that its update timeout has paused can end without tasks; leave other phases with skip-phase';
      if (control.paused.by === 'freeze') return 'it is frozen, and continues by itself once the pipeline is unfrozen';
      return control.resuming ? `${control.resuming.actor} has already resumed it` : undefined;
    },
    apply: (control, asked, { acceptMissing }) => ({
      ...control,
      resuming: asked,
      accepted: acceptMissing ? asked : null,
    }),
    effect: ({ reverting: isBack, removal }, { acceptMissing }) => {
      if (removal) return 'the removal continues';
      return isBack
        ? 'the revert continues'
        : `it continues ${acceptMissing ? 'without the missing tasks ' : ''}after one fresh healthy verdict, or at once if nothing is updated or checked`;
    },
  },
  cancel: {
    refuse: ({ control }) => (control.cancel ? `${control.cancel.actor} has already cancelled it` : undefined),
    apply: (control, asked) => ({ ...control, cancel: asked }),
    effect: ({ reverting: isBack, removal, canary }) => {
      if (removal) return 'it stops; tasks that are gone stay gone';
      if (canary && !isBack) return 'it stops; tasks that it updated go back, as at the end of any canary';
      return isBack
        ? 'the revert stops halfway, and the deploy ends as revert-failed'
        : 'it stops; tasks already updated stay on the new version';
    },
  },
  revert: {
    refuse: () => undefined,
    apply: (control, asked, { notBad }) =>
      control.revert ? control : applyRevert(control, { ...asked, notBad: notBad === true, paused: control.paused }),
    effect: (situation) => {
      if (failsCanary(situation)) return 'its tasks are already going back; it ends as reverted';
      return isReverting(situation)
        ? 'it is already reverting; nothing changes'
        : withReason('every task that it updated returns to its previous version', situation.ranEach ?? '');
    },
  },
  'skip-phase': {
    refuse: (situation, input) => {
      const other = otherPhase(situation, input);
      if (other !== undefined) return other;
      if (situation.phase?.kind === 'completion')
        return 'the completion phase cannot be skipped; cancel or revert instead';
      if (situation.control.skipPhase) return 'the phase is already being skipped';
      return inPhase(situation, input);
    },
    // This ends a pause that belongs to the phase alone.
    apply: (control, asked) => ({
      ...control,
      skipPhase: asked,
      resuming: isOfPhase(control.paused) ? asked : control.resuming,
    }),
    effect: (_situation, _input, phase) =>
      `the remaining updates of ${phase} are cancelled; the next phase covers them`,
  },
  'skip-bake': {
    refuse: (situation, input) => {
      const other = otherPhase(situation, input);
      if (other !== undefined) return other;
      if (situation.control.skipBake) return 'the bake of this phase is already skipped';
      return situation.phase?.baked ? 'the bake of this phase is over' : inPhase(situation, input);
    },
    apply: (control, asked) => ({ ...control, skipBake: asked }),
    effect: (_situation, _input, phase) => `${phase} continues without baking`,
  },
  'skip-health-check': {
    refuse: ({ checks, control }, { check, for: span }) => {
      if (checks.length === 0) return 'it has no health checks';
      if (control.skippedChecks.some((skip) => covers(skip, check, span))) return 'it is already skipped';
      if (check === undefined || checks.includes(check)) return undefined;
      return `it has no check called ${check} (${checks.join(', ')})`;
    },
    apply: (control, asked, { check = null, for: span = 'phase' }) => ({
      ...control,
      skippedChecks: [...control.skippedChecks, { ...asked, check, for: span }],
    }),
    effect: () => 'the verdict of the check is shown, but does not count',
  },
  'skip-window': {
    refuse: ({ control, atWindow }) => {
      if (control.skipWindow) return `${control.skipWindow.actor} has already skipped its window`;
      return atWindow ? undefined : 'it is not waiting for a window';
    },
    apply: (control, asked) => ({ ...control, skipWindow: asked }),
    effect: () => 'it ignores its window until it ends; checks and bakes still apply',
  },
};

const covers = (skip: CheckSkip, check: string | undefined, span: CommandInput['for']): boolean =>
  (skip.check === null || skip.check === check) && (skip.for === 'deploy' || span !== 'deploy');

/** The control after a verb that `whyNot` accepted. */
export function take(control: Control, verb: DeployVerb, input: CommandInput, nowMs: number): Control {
  const asked: GivenCommand = {
    actor: input.actor ?? UNKNOWN_ACTOR,
    reason: input.reason ?? '',
    at: formatTime(nowMs),
  };
  return VERBS[verb].apply(control, asked, input);
}

const isOfPhase = (paused: Pause | null): boolean => paused?.by === 'timeout' || paused?.by === 'unit';

/** A revert, by a person or by a verdict, ends an earlier pause and cancel; later ones apply to the revert. */
export const applyRevert = (control: Control, revert: Control['revert']): Control => ({
  ...control,
  revert,
  paused: null,
  resuming: null,
  accepted: null,
  cancel: null,
  overtaken: null,
});

/** Sets or ends a freeze. A pause for another reason, such as by a person, remains. */
export const freeze = (control: Control, frozen: Control['frozen']): Control => ({
  ...control,
  frozen,
  paused: frozen === null && control.paused?.by === 'freeze' ? null : control.paused,
});

/** The reason why another release cannot take its place, at all or any more; undefined if it can. */
export function whyNotOvertaken({ control, ...now }: DeploySituation, { why }: Overtaken): string | undefined {
  if (now.ended) return 'it has ended';
  if (now.reverting || control.revert) return REVERTING;
  if (control.cancel) return 'it is being cancelled';
  if (control.overtaken && (control.overtaken.why === 'preempted' || why === 'superseded'))
    return alreadyOvertaken(control.overtaken);
  return why === 'superseded' && now.completing ? 'it is completing' : undefined;
}

/** The effect of a verb that was taken, for the person who typed it. */
export const describeEffect = (verb: DeployVerb, situation: DeploySituation, input: CommandInput = {}): string =>
  VERBS[verb].effect(situation, input, situation.phase ? `phase ${situation.phase.name}` : 'the deploy');

/** Skips checks on behalf of the system itself, for the whole deploy. */
export const forgive = (control: Control, checks: readonly string[], reason: string, nowMs: number): Control => ({
  ...control,
  skippedChecks: [
    ...control.skippedChecks,
    ...checks.map((check) => ({ check, for: 'deploy' as const, actor: SYSTEM, reason, at: formatTime(nowMs) })),
  ],
});

/** The actor of skips by the system itself. */
export const SYSTEM = 'service:conveyor';

/** The checks that an evaluation must not count. */
export function listSkippedChecks(control: Control): 'all' | string[] {
  const names = control.skippedChecks.map((skip) => skip.check);
  return names.includes(null) ? 'all' : names.filter((name) => name !== null);
}

/** At the end of a phase, commands for that phase alone are dropped. */
export function phaseOver(control: Control): Control {
  return {
    ...control,
    accepted: null,
    skipPhase: null,
    skipBake: null,
    skippedChecks: control.skippedChecks.filter((skip) => skip.for === 'deploy'),
  };
}
