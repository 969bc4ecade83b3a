import { formatTime } from '../text';
import { UNKNOWN_ACTOR, type CommandInput, type DeployVerb } from '../verbs';
import type { Pause } from '../views';

/** Who asked for something, when and why. */
export interface Asked {
  readonly actor: string;
  readonly reason: string;
  readonly at: string;
}

/** A check (null: all) that a person said not to count. */
export interface CheckSkip extends Asked {
  readonly check: string | null;
  readonly for: 'phase' | 'deploy';
}

/**
 * What the operators have asked of a deploy and it has not finished doing: the fold of all commands taken so far.
 * The runner reads it between steps and while it waits; handlers do nothing but fold into it.
 */
export interface Control {
  readonly paused: Pause | null;
  /** Set by `pause --no-revert`: an unhealthy verdict does not revert while paused. */
  readonly noRevert: boolean;
  /** Asked to resume; the runner wants one fresh healthy verdict first. */
  readonly resuming: Asked | null;
  /** Resumed without the tasks that are missing from the phase under way. */
  readonly accepted: Asked | null;
  readonly cancel: Asked | null;
  readonly revert: (Asked & { readonly notBad: boolean; readonly paused: Pause | null }) | null;
  readonly skipPhase: Asked | null;
  readonly skipBake: Asked | null;
  readonly skippedChecks: readonly CheckSkip[];
  /** It goes on outside of its window, until it ends. */
  readonly skipWindow?: Asked;
  /** Who froze the pipeline, and when: no further phase begins. */
  readonly frozen: (Asked & { readonly until?: string }) | null;
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

/** What the rules below need to know of the deploy. */
export interface Situation {
  readonly control: Control;
  readonly ended: boolean;
  readonly reverting: boolean;
  /** The revert's tasks do not come up; only now may a person end it. */
  readonly revertStuck: boolean;
  /** Null before the first phase and between two. */
  readonly phase: {
    readonly kind: 'partial' | 'completion';
    readonly name: string;
    /** Its bake is over. */
    readonly baked?: boolean;
  } | null;
  /** It waits for its window to open. */
  readonly atWindow?: boolean;
  /** The completion phase is under way or over. */
  readonly completing: boolean;
  readonly checks: readonly string[];
}

/** Why a verb cannot be taken now; undefined when it can (docs/design/deploy.md#verbs). */
export function whyNot(situation: Situation, verb: DeployVerb, input: CommandInput): string | undefined {
  const { control, ended, revertStuck } = situation;
  if (ended) return 'it has ended';
  if (verb === 'revert') return undefined;
  if (verb === 'cancel' && revertStuck) return RULES.cancel(situation, input);
  if (control.cancel && verb !== 'cancel') return 'it is being cancelled';
  if (isReverting(situation) && verb !== 'pause' && verb !== 'resume') return REVERTING;
  if (control.overtaken?.why === 'preempted') return alreadyOvertaken(control.overtaken);
  return RULES[verb](situation, input);
}

/** Already, so that a person who asks for it again changes nothing. */
export const isReverting = ({ reverting, control }: Pick<Situation, 'reverting' | 'control'>): boolean =>
  reverting || control.revert !== null;

const REVERTING = 'it is reverting; a revert can be paused, not stopped';
const alreadyOvertaken = ({ by, why }: Overtaken): string => `release ${by} has ${why} it already`;

type Rule = (situation: Situation, input: CommandInput) => string | undefined;

const inPhase: Rule = ({ phase }) => (phase ? undefined : 'no phase is under way');

/** A person who names the phase that they see does not skip the next one when somebody else was quicker. */
const otherPhase: Rule = ({ phase }, { phase: meant }) =>
  phase && meant !== undefined && meant !== phase.name ? `phase ${phase.name} is under way, not ${meant}` : undefined;

const RULES: Readonly<Record<Exclude<DeployVerb, 'revert'>, Rule>> = {
  // A resume that still waits for its verdict is taken back by a new pause.
  pause: ({ control: { paused, resuming } }) =>
    paused?.by === 'operator' && !resuming ? `${paused.actor ?? 'somebody'} has paused it already` : undefined,
  resume: ({ control, phase }, { acceptMissing }) => {
    if (!control.paused) return 'it is not paused';
    if (acceptMissing && (control.paused.by !== 'timeout' || phase?.kind !== 'completion'))
      return 'tasks may be missing only from a completion phase that its update timeout has paused; skip-phase leaves others';
    if (control.paused.by === 'freeze') return 'it is frozen, and goes on by itself once the pipeline is unfrozen';
    return control.resuming ? `${control.resuming.actor} has resumed it already` : undefined;
  },
  cancel: ({ control }) => (control.cancel ? `${control.cancel.actor} has cancelled it already` : undefined),
  'skip-phase': (situation, input) => {
    const other = otherPhase(situation, input);
    if (other !== undefined) return other;
    if (situation.phase?.kind === 'completion')
      return 'the completion phase cannot be skipped; cancel or revert instead';
    if (situation.control.skipPhase) return 'the phase is being skipped already';
    return inPhase(situation, input);
  },
  'skip-bake': (situation, input) => {
    const other = otherPhase(situation, input);
    if (other !== undefined) return other;
    if (situation.control.skipBake) return 'the bake of this phase is skipped already';
    return situation.phase?.baked ? 'the bake of this phase is over' : inPhase(situation, input);
  },
  'skip-health-check': ({ checks, control }, { check, for: span }) => {
    if (checks.length === 0) return 'it has no health checks';
    if (control.skippedChecks.some((skip) => covers(skip, check, span))) return 'it is skipped already';
    if (check === undefined || checks.includes(check)) return undefined;
    return `it has no check called ${check} (${checks.join(', ')})`;
  },
  'skip-window': ({ control, atWindow }) => {
    if (control.skipWindow) return `${control.skipWindow.actor} has skipped its window already`;
    return atWindow ? undefined : 'it does not wait for its window';
  },
};

const covers = (skip: CheckSkip, check: string | undefined, span: CommandInput['for']): boolean =>
  (skip.check === null || skip.check === check) && (skip.for === 'deploy' || span !== 'deploy');

/** The control after a verb that `whyNot` let through. */
export function take(control: Control, verb: DeployVerb, input: CommandInput, nowMs: number): Control {
  const asked: Asked = { actor: input.actor ?? UNKNOWN_ACTOR, reason: input.reason ?? '', at: formatTime(nowMs) };
  switch (verb) {
    case 'pause':
      return {
        ...control,
        paused: { by: 'operator', ...asked },
        noRevert: input.noRevert === true,
        resuming: null,
        accepted: null,
      };
    case 'resume':
      return { ...control, resuming: asked, accepted: input.acceptMissing ? asked : null };
    case 'cancel':
      return { ...control, cancel: asked };
    case 'revert':
      return control.revert
        ? control
        : reverting(control, { ...asked, notBad: input.notBad === true, paused: control.paused });
    case 'skip-phase':
      // What a phase could not do alone pauses it no longer.
      return { ...control, skipPhase: asked, resuming: isOfPhase(control.paused) ? asked : control.resuming };
    case 'skip-bake':
      return { ...control, skipBake: asked };
    case 'skip-window':
      return { ...control, skipWindow: asked };
    case 'skip-health-check':
      return {
        ...control,
        skippedChecks: [...control.skippedChecks, { ...asked, check: input.check ?? null, for: input.for ?? 'phase' }],
      };
  }
}

const isOfPhase = (paused: Pause | null): boolean => paused?.by === 'timeout' || paused?.by === 'unit';

/** A revert, by a person or by a verdict, ends the pause and the cancel that it finds; later ones hold it. */
export const reverting = (control: Control, revert: Control['revert']): Control => ({
  ...control,
  revert,
  paused: null,
  resuming: null,
  accepted: null,
  cancel: null,
  overtaken: null,
});

/** Frozen, or not any more. What paused it for another reason, such as a person, goes on doing so. */
export const freeze = (control: Control, frozen: Control['frozen']): Control => ({
  ...control,
  frozen,
  paused: frozen === null && control.paused?.by === 'freeze' ? null : control.paused,
});

/** Why another release cannot take its place, or not any more; undefined when it can. */
export function whyNotOvertaken({ control, ...now }: Situation, { why }: Overtaken): string | undefined {
  if (now.ended) return 'it has ended';
  if (now.reverting || control.revert) return REVERTING;
  if (control.cancel) return 'it is being cancelled';
  if (control.overtaken && (control.overtaken.why === 'preempted' || why === 'superseded'))
    return alreadyOvertaken(control.overtaken);
  return why === 'superseded' && now.completing ? 'it is completing' : undefined;
}

/** What a taken verb does now, for the person who typed it. */
export function effectOf(verb: DeployVerb, situation: Situation, { acceptMissing }: CommandInput = {}): string {
  const phase = situation.phase ? `phase ${situation.phase.name}` : 'the deploy';
  const effects: Readonly<Record<DeployVerb, string>> = {
    pause: situation.reverting
      ? 'the revert starts no further update'
      : 'no further update starts; health checks go on, and may still revert it unless --no-revert was given',
    resume: situation.reverting
      ? 'the revert goes on'
      : `it goes on ${acceptMissing ? 'without the tasks that are missing ' : ''}after one fresh healthy verdict`,
    cancel: situation.reverting
      ? 'the revert ends unfinished, and the deploy as revert-failed'
      : 'it stops; tasks already updated stay on the new version',
    revert: isReverting(situation)
      ? 'it is reverting already; nothing changes'
      : 'every task that it updated goes back to what it ran before',
    'skip-phase': `the remaining updates of ${phase} are cancelled; the next phase covers them`,
    'skip-bake': `${phase} goes on without baking`,
    'skip-health-check': 'the verdict of the check is shown and not counted',
    'skip-window': 'it goes on outside of its window until it ends; checks and bakes stay',
  };
  return effects[verb];
}

/** Checks that the system itself does not count, in the whole deploy. */
export const forgive = (control: Control, checks: readonly string[], reason: string, nowMs: number): Control => ({
  ...control,
  skippedChecks: [
    ...control.skippedChecks,
    ...checks.map((check) => ({ check, for: 'deploy' as const, actor: SYSTEM, reason, at: formatTime(nowMs) })),
  ],
});

/** Who skips what the system itself does not count. */
export const SYSTEM = 'service:conveyor';

/** What an evaluation is not to count. */
export function skipsOf(control: Control): 'all' | string[] {
  const names = control.skippedChecks.map((skip) => skip.check);
  return names.includes(null) ? 'all' : names.filter((name) => name !== null);
}

/** At the end of a phase what was meant for it alone is dropped. */
export function phaseOver(control: Control): Control {
  return {
    ...control,
    accepted: null,
    skipPhase: null,
    skipBake: null,
    skippedChecks: control.skippedChecks.filter((skip) => skip.for === 'deploy'),
  };
}
