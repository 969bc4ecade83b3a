import type { Proven } from './proof';
import { withReason } from './text';

/**
 * Inputs of verbs, in addition to actor and reason: each row is an option of the command line and a field of the API.
 */
interface InputRow {
  /** A `flag` is true or left out; a list names the allowed words. */
  readonly is: 'flag' | 'text' | 'name' | 'version' | 'moment' | 'choice' | readonly string[];
  readonly help: string;
  /**
   * Its form on the command line: an option, or an operand after the id. With neither, the verb has its own syntax
   * there.
   */
  readonly option?: string;
  readonly operand?: string;
}

export const INPUTS = {
  noRevert: { is: 'flag', option: '--no-revert', help: 'do not revert on an unhealthy verdict while it is paused' },
  acceptMissing: {
    is: 'flag',
    option: '--accept-missing',
    help: 'finish a completion phase whose update timeout has passed without its missing tasks',
  },
  notBad: { is: 'flag', option: '--not-bad', help: 'do not mark the artifact known-bad' },
  check: { is: 'text', option: '--check <name>', help: 'only this check (default: all checks)' },
  for: { is: ['phase', 'deploy'], option: '--for <phase|deploy>', help: 'how long the skip lasts (default: phase)' },
  phase: {
    is: 'text',
    option: '--phase <name>',
    help: 'only if this phase is under way, in case another person has already skipped it',
  },
  until: {
    is: 'moment',
    option: '--until <time>',
    help: 'when the freeze ends by itself (default: when a person unfreezes)',
  },
  artifact: { is: 'version', operand: '<name@version>', help: 'which artifact' },
  user: { is: 'text', operand: '<pipeline/action>', help: 'which deploy of another pipeline' },
  action: { is: 'name', help: 'which action of the release' },
  approve: { is: 'choice', help: 'continue, or fail the action' },
} as const satisfies Readonly<Record<string, InputRow>>;

export type InputName = keyof typeof INPUTS;
export type InputKind = Extract<InputRow['is'], string>;

type ValueOf<R extends InputRow> = R['is'] extends 'flag' | 'choice'
  ? boolean
  : R['is'] extends readonly (infer Word)[]
    ? Word
    : string;

/** The rows of all inputs, as one type. */
export const inputRow = (name: InputName): InputRow => INPUTS[name];

/**
 * The level at which a verb acts: each has a row with its effect in `control.ts` of domain/deploy, domain/release or
 * domain/pipeline.
 */
type Level = 'deploy' | 'release' | 'pipeline';

interface VerbRow {
  readonly of: readonly Level[];
  /** It concerns one action and is handled by the release itself. */
  readonly ofAction?: true;
  /** The placeholder for the id on the command line. */
  readonly operand: '<id>' | '<deploy>' | '<release/action>' | '<pipeline>';
  readonly inputs: readonly InputName[];
  readonly help: string;
  /** The arguments in the example of its help. */
  readonly example: string;
}

/**
 * The operator's verbs, as typed on the command line; each is an update and a signal of this name
 * (docs/design/workflows.md#commands-and-messages). Workflows register them in this order, so those of one level keep theirs: a new
 * verb is the last of its levels.
 */
const VERBS = {
  pause: {
    of: ['deploy', 'release'],
    operand: '<id>',
    inputs: ['noRevert'],
    help: 'stop forward motion; checks continue, and an unhealthy verdict still reverts',
    example: 'kvstore/12 --reason "looking at the latency"',
  },
  resume: {
    of: ['deploy', 'release'],
    operand: '<id>',
    inputs: ['acceptMissing'],
    help: 'continue after one fresh healthy verdict',
    example: 'kvstore/12 --reason "it was the load test"',
  },
  cancel: {
    of: ['deploy', 'release'],
    operand: '<id>',
    inputs: [],
    help: 'stop here and leave the fleet as it is, on mixed versions',
    example: 'kvstore/12 --reason "wrong artifact"',
  },
  revert: {
    of: ['deploy', 'release'],
    operand: '<id>',
    inputs: ['notBad'],
    help: 'return everything that it updated to its previous version',
    example: 'kvstore/12 --reason "customers see errors"',
  },
  'skip-phase': {
    of: ['deploy'],
    operand: '<deploy>',
    inputs: ['phase'],
    help: 'leave the current phase unfinished; the next phase covers the rest',
    example: 'kvstore/12/deploy --phase region-x --reason "region x is drained"',
  },
  'skip-bake': {
    of: ['deploy'],
    operand: '<deploy>',
    inputs: ['phase'],
    help: 'end the bake of the current phase now',
    example: 'kvstore/12/deploy --reason "hotfix, metrics looked at by hand"',
  },
  'skip-health-check': {
    of: ['deploy'],
    operand: '<deploy>',
    inputs: ['check', 'for'],
    help: 'ignore one check, or all, for the current phase or the whole deploy',
    example: 'kvstore/12/deploy --check cpu --for deploy --reason "known regression"',
  },
  pick: {
    of: ['release'],
    ofAction: true,
    operand: '<release/action>',
    inputs: ['action', 'approve'],
    help: 'decide at a manual-pick: let the release continue (--approve), or fail the action (--reject)',
    example: 'kvstore/12/approve --approve --reason "the canary looks good"',
  },
  retry: {
    of: ['release'],
    ofAction: true,
    operand: '<release/action>',
    inputs: ['action'],
    help: 'start a failed action again, while its release runs',
    example: 'kvstore/12/integration --reason "the test bed is up again"',
  },
  'skip-window': {
    of: ['deploy', 'release'],
    operand: '<id>',
    inputs: ['action'],
    help: 'bypass a closed window, a blackout or a soak, and nothing else',
    example: 'kvstore/12/deploy --reason "the fix cannot wait until Monday"',
  },
  hold: {
    of: ['pipeline'],
    operand: '<pipeline>',
    inputs: [],
    help: 'start no deploy of the pipeline; builds and tests continue',
    example: 'kvstore --reason "incident 4711"',
  },
  unhold: {
    of: ['pipeline'],
    operand: '<pipeline>',
    inputs: [],
    help: 'let deploys start again',
    example: 'kvstore --reason "incident 4711 is over"',
  },
  freeze: {
    of: ['pipeline'],
    operand: '<pipeline>',
    inputs: ['until'],
    help: 'start nothing in the pipeline, and pause its deploys before their next phase; reverts continue',
    example: 'kvstore --until 2h --reason "the network is being moved"',
  },
  unfreeze: {
    of: ['pipeline'],
    operand: '<pipeline>',
    inputs: [],
    help: 'let releases and deploys continue',
    example: 'kvstore --reason "the network is moved"',
  },
  'allow-artifact': {
    of: ['pipeline'],
    operand: '<pipeline>',
    inputs: ['artifact'],
    help: 'allow a known-bad artifact to be deployed again',
    example: 'kvstore executable@kv:13 --reason "it was the test data"',
  },
  retire: {
    of: ['pipeline'],
    operand: '<pipeline>',
    inputs: [],
    help: 'end a pipeline that is no longer needed; apply brings it back',
    example: 'kvstore --reason "it is part of the shop now"',
  },
  'end-use': {
    of: ['pipeline'],
    operand: '<pipeline>',
    inputs: ['user'],
    help: 'end the use of its offers by a deploy of another pipeline that is gone',
    example: 'network shop/deploy --reason "the shop was removed by hand"',
  },
  undeploy: {
    of: ['pipeline'],
    operand: '<pipeline>',
    inputs: [],
    help: 'remove all that a pipeline has deployed, once no other pipeline uses its offers',
    example: 'kvstore --reason "the shop no longer needs it"',
  },
  'override-offer': {
    of: ['release'],
    ofAction: true,
    operand: '<release/action>',
    inputs: ['action'],
    help: 'let a deploy begin although an offer that it changes or removes does not fit its users, which are listed first',
    example: 'network/12/deploy --reason "the old network is being attacked"',
  },
} as const satisfies Readonly<Record<string, VerbRow>>;

export type Verb = keyof typeof VERBS;

type VerbOf<L extends Level> = { [V in Verb]: L extends (typeof VERBS)[V]['of'][number] ? V : never }[Verb];
export type DeployVerb = VerbOf<'deploy'>;
export type ReleaseVerb = VerbOf<'release'>;
export type PipelineVerb = VerbOf<'pipeline'>;

/** Verbs that start a release. They are updates of a pipeline with inputs of their own, so they have no row above. */
export const START_VERBS = ['release', 'rerun'] as const;
export type StartVerb = (typeof START_VERBS)[number];
export const isStartVerb = (verb: Verb | StartVerb): verb is StartVerb => START_VERBS.some((one) => one === verb);

export const ALL_VERBS = Object.keys(VERBS) as Verb[];
export const verbRow = (verb: Verb): VerbRow => VERBS[verb];

const listVerbs = <L extends Level>(level: L) =>
  ALL_VERBS.filter((verb): verb is VerbOf<L> => verbRow(verb).of.includes(level));
export const DEPLOY_VERBS: readonly DeployVerb[] = listVerbs('deploy');
export const RELEASE_VERBS: readonly ReleaseVerb[] = listVerbs('release');
export const PIPELINE_VERBS: readonly PipelineVerb[] = listVerbs('pipeline');

export const isReleaseVerb = (verb: Verb): boolean => verbRow(verb).of.includes('release');
export const isPipelineVerb = (verb: Verb): boolean => verbRow(verb).of.includes('pipeline');
export const isActionVerb = (verb: Verb): boolean => verbRow(verb).ofAction === true;

type VerbInputs = { readonly [N in InputName]?: ValueOf<(typeof INPUTS)[N]> };

/** The input of a verb. A signal may leave out everything: its actor then counts as `user:unknown`. */
export interface CommandInput extends Proven, VerbInputs {
  readonly actor?: string;
  readonly reason?: string;
  /** The rule by which the server permitted the command; owners are not consulted then. */
  readonly permitted?: string;
  /** pick: groups that allow the actor to approve and that only the identity provider knows, as the server saw them. */
  readonly vouched?: readonly string[];
}

/** A command as it is queued and recorded: its actor, verb, time and reason, and whether it was accepted. */
export interface CommandRecord {
  readonly at: string;
  readonly verb: Verb;
  readonly actor: string;
  readonly reason: string;
  readonly accepted: boolean;
  /** Why it was not accepted. */
  readonly rejection?: string;
  /** The rule of the platform that permitted it: its actor need not be an owner. */
  readonly permitted?: string;
}

/** A command in the words of the timeline. */
export function commandText({ verb, actor, reason, accepted, rejection, permitted }: CommandRecord): string {
  const given = `${verb} by ${actor}${permitted === undefined ? '' : ` (${permitted})`}`;
  return accepted ? withReason(given, reason) : `ignored ${given}: ${rejection ?? ''}`;
}

/** The answer to an accepted update. */
export interface CommandReceipt {
  readonly accepted: true;
  /** One sentence: the effect now. */
  readonly effect: string;
}

export const UNKNOWN_ACTOR = 'user:unknown';
