import { formatIdentity, type Artifact } from '../artifact';
import { excessOfArtifacts, excessOfCommand, excessOfTrigger, over } from '../excess';
import { REQUEST_LIMITS, STATE_LIMITS } from '../limits';
import { jsonBytes, textBytes } from '../size';
import { mayCommand } from '../principals';
import { UNKNOWN_ACTOR, type CommandInput } from '../verbs';
import type { Trigger } from '../views';
import { whyNeverApproved } from '../release/approval';
import { findKnownBad, refuseOtherDigest } from './digests';
import { explainLackingInputs, findRollbackArtifacts, rollbackUnderWay } from './rollback';
import { whyBadFull } from './knownBad';
import { whyFull, whyNotQueued } from './queue';
import { hasSameInputs, findBadArtifact, rerunCreated, rerunUnderWay, whyNotRerun } from './rerun';
import { noRoomForEmergency } from './room';
import { areArtifacts } from './shapes';
import { queueRelease, type ActiveRelease, type Emergency, type PipelineState } from './state';
import {
  completeArtifacts,
  findMissingArtifacts,
  recordLatestInputs,
  findRepeated,
  findResubmitted,
  findReusedKey,
} from './submissions';
import { type Refusal, toPolicy, notPermitted, tooLarge } from './refusal';

/**
 * A submission by a finder, a verified webhook or a parent's release needs no owner; a person's request does, by any door. A
 * repeated request gets the same answer. Inputs that are left out are taken from the pipeline's records.
 */
export function refuseRelease(
  state: PipelineState,
  artifacts: readonly Artifact[],
  trigger: Trigger,
  parentOwners: readonly string[] = [],
): Refusal | undefined {
  if (trigger.kind === 'parent' && !consents(state, trigger.parent ?? '', parentOwners))
    return {
      code: 'not-permitted',
      message: `${state.spec.pipeline} has no owner in common with ${trigger.parent ?? 'its parent'} and no label that names it`,
    };
  const wrong =
    refuseArtifacts(state, artifacts, trigger, Object.keys(state.spec.artifacts)) ??
    refuseReuse(state, artifacts, trigger);
  if (wrong !== undefined || findRepeated(state, artifacts, trigger) !== undefined) return wrong;
  const names = findMissingArtifacts(state, artifacts);
  if (names.length > 0)
    return { code: 'missing-artifact', message: `a release needs a version of ${names.join(', ')}`, names };
  return refuseNow(state, artifacts, trigger, completeArtifacts(state, artifacts));
}

/** Like `refuseRelease`, for artifacts that do not exist yet. */
export function refuseSubmission(
  state: PipelineState,
  artifacts: readonly Artifact[],
  trigger: Trigger,
): Refusal | undefined {
  const wrong = refuseArtifacts(state, artifacts, trigger, Object.keys(state.spec.artifacts));
  if (wrong !== undefined || findResubmitted(state, artifacts, trigger) !== undefined) return wrong;
  return refuseNow(state, artifacts, trigger);
}

/**
 * An emergency names a deploy, and brings the artifacts of that deploy. It bypasses the line but not a freeze: the actor of the freeze has to lift
 * it.
 */
export function refuseEmergency(
  state: PipelineState,
  artifacts: readonly Artifact[],
  trigger: Trigger,
  { action: name }: Emergency,
): Refusal | undefined {
  const action = state.spec.actions[name];
  if (action?.type !== 'deploy')
    return {
      code: 'invalid-state',
      message: action ? `${name} is not a deploy but a ${action.type}` : `it has no action ${name}`,
    };
  const wrong =
    refuseArtifacts(state, artifacts, trigger, action.inputs) ??
    refuseReuse(state, artifacts, trigger, { action: name });
  if (wrong !== undefined || findRepeated(state, artifacts, trigger) !== undefined) return wrong;
  if (state.frozen)
    return {
      code: 'invalid-state',
      message: `${state.frozen.actor} has frozen it: ${state.frozen.reason}. Unfreeze it first`,
    };
  const names = action.inputs.filter((input) => !artifacts.some((artifact) => artifact.name === input));
  if (names.length > 0)
    return { code: 'missing-artifact', message: `${name} needs a version of ${names.join(', ')}`, names };
  // An actor that was admitted by a rule of the platform knows the other approvers.
  const never = trigger.permitted === undefined ? whyNeverApproved(state.spec, toPolicy(state), trigger) : undefined;
  if (never !== undefined) return { code: 'invalid-state', message: never };
  const full = whyBadFull(state);
  if (full !== undefined) return { code: 'invalid-state', message: full };
  const noRoom = noRoomForEmergency(state, draftRelease(state, artifacts, trigger));
  if (noRoom !== undefined) return { code: 'emergency-full', message: noRoom };
  return refuseContent(state, artifacts, trigger);
}

/** A rerun of a release that has ended, with the same inputs. If a rerun is under way, a repeated request gets that one. */
export function refuseRerun(
  state: PipelineState,
  artifacts: readonly Artifact[],
  trigger: Trigger,
  of: number,
): Refusal | undefined {
  const names = areArtifacts(artifacts) ? artifacts.map(({ name }) => name) : [];
  const wrong =
    refuseArtifacts(state, artifacts, trigger, names) ?? refuseReuse(state, artifacts, trigger, { rerunOf: of });
  if (wrong !== undefined || findRepeated(state, artifacts, trigger) !== undefined) return wrong;
  if (rerunUnderWay(state, of) !== undefined) return undefined;
  const not = whyNotRerun(state, of);
  if (not) return { code: 'not-rerunnable', message: not.why, names: [not.instead] };
  if (!hasSameInputs(state, of, artifacts))
    return { code: 'invalid-state', message: `release ${of} was given other artifacts` };
  const lacking = findMissingArtifacts(state, artifacts);
  if (lacking.length > 0)
    return { code: 'missing-artifact', message: `a release needs a version of ${lacking.join(', ')}`, names: lacking };
  const bad = findBadArtifact(state, of, artifacts);
  if (bad) return { code: 'known-bad', message: bad[1].reason, names: [formatIdentity(bad[0])] };
  const badFull = whyBadFull(state);
  if (badFull !== undefined) return { code: 'invalid-state', message: badFull };
  const why = whyFull(state, newestIn(rerunCreated(state, of, artifacts, trigger, 0)));
  return why === undefined ? undefined : { code: 'queue-full', message: why };
}

function refuseArtifacts(
  state: PipelineState,
  artifacts: readonly Artifact[],
  trigger: Trigger,
  wanted: readonly string[],
): Refusal | undefined {
  const { spec } = state;
  if (!areArtifacts(artifacts)) return { code: 'invalid-state', message: 'its artifacts are not as the protocol says' };
  const excess = excessOfTrigger(trigger) ?? excessOfArtifacts(artifacts);
  if (excess) return tooLarge(excess);
  const forbidden = isPlatform(trigger) ? undefined : notPermitted(toPolicy(state), trigger, spec.pipeline);
  if (forbidden) return forbidden;
  const unknown = artifacts.find(({ name }) => !wanted.includes(name));
  if (unknown)
    return {
      code: 'unknown-artifact',
      message: `${spec.pipeline} takes no artifact ${unknown.name}`,
      names: [unknown.name, ...wanted],
    };
  const twice = artifacts.find((artifact, index) => artifacts.findIndex(({ name }) => name === artifact.name) < index);
  if (twice) return { code: 'invalid-state', message: `${twice.name} is given twice` };
  return undefined;
}

/** If the answer named a release with other content, it would look as if that shipped the requested content. */
function refuseReuse(...request: Parameters<typeof findReusedKey>): Refusal | undefined {
  const [, , trigger] = request;
  const reused = isPlatform(trigger) ? undefined : findReusedKey(...request);
  if (reused === undefined) return undefined;
  const { was, now } = reused;
  const names = [trigger.key ?? '', was, now];
  return {
    code: 'key-reused',
    message: `the key ${names[0]} already started ${was}, but now comes with ${now}`,
    names,
  };
}

/** A child accepts a release from a parent that shares one of its owners, or that it names in a label: `parent: inference`. */
function consents(state: PipelineState, parent: string, parentOwners: readonly string[]): boolean {
  const { owners, labels } = state.spec;
  const [pipeline] = parent.split('/');
  return (
    labels['parent'] === pipeline ||
    parentOwners.some((owner) => owners.includes(owner) || mayCommand(toPolicy(state), owner))
  );
}

const isPlatform = ({ kind }: Trigger): boolean => kind === 'finder' || kind === 'webhook' || kind === 'parent';

/** The last refusals: requests that cannot be taken now. */
function refuseNow(
  state: PipelineState,
  given: readonly Artifact[],
  trigger: Trigger,
  judged: readonly Artifact[] = given,
): Refusal | undefined {
  const badFull = whyBadFull(state);
  if (badFull !== undefined) return { code: 'invalid-state', message: badFull };
  const why = whyFull(state, draftRelease(state, completeArtifacts(state, given), trigger));
  if (why !== undefined) return { code: 'queue-full', message: why };
  return refuseContent(state, given, trigger, judged);
}

const refuseContent = (
  state: PipelineState,
  given: readonly Artifact[],
  trigger: Trigger,
  judged: readonly Artifact[] = given,
): Refusal | undefined =>
  refuseToRemember(state, given) ?? refuseBad(state, judged) ?? refuseOtherDigest(state, given, trigger);

function refuseToRemember(state: PipelineState, given: readonly Artifact[]): Refusal | undefined {
  const { inputs } = recordLatestInputs(state, given);
  const latest = Object.keys(state.spec.artifacts).flatMap((name) => inputs[name] ?? []);
  return tooLarge(over(STATE_LIMITS.inputs, jsonBytes(latest)));
}

/** The release that a request would create. */
const draftRelease = (state: PipelineState, artifacts: readonly Artifact[], trigger: Trigger): ActiveRelease =>
  newestIn(queueRelease(state, artifacts, trigger, 0));

const newestIn = ({ active }: PipelineState): ActiveRelease => {
  const made = active.at(-1);
  if (made === undefined) throw new Error('a release that was made is active');
  return made;
};

function refuseBad(state: PipelineState, artifacts: readonly Artifact[]): Refusal | undefined {
  const bad = artifacts.map((artifact) => findKnownBad(state, artifact)).find((one) => one !== undefined);
  return bad && { code: 'known-bad', message: bad.reason, names: [bad.artifact] };
}

/** A release reports its end to a workflow; no workflow id is longer than this. */
export const refuseReportTo = (workflowId: string): Refusal | undefined =>
  tooLarge(over(REQUEST_LIMITS.workflowId, textBytes(workflowId)));

export function refuseCancelQueued(state: PipelineState, number: number, command: CommandInput): Refusal | undefined {
  const forbidden = refuseCommand(state, command);
  if (forbidden) return forbidden;
  const why = whyNotQueued(state, number);
  return why === undefined ? undefined : { code: 'invalid-state', message: why };
}

/**
 * Never refused for their number: a repeated rollback is the one under way. A rollback that could not deploy the artifacts that it would
 * bring is refused.
 */
export function refuseRollBack(state: PipelineState, of: number, command: CommandInput): Refusal | undefined {
  const forbidden = refuseCommand(state, command);
  if (forbidden) return forbidden;
  if (rollbackUnderWay(state, of) !== undefined) return undefined;
  const back = findRollbackArtifacts(state, of);
  const why = 'impossible' in back ? back.impossible : explainLackingInputs(state, back);
  return why === undefined ? undefined : { code: 'invalid-state', message: why };
}

function refuseCommand(state: PipelineState, command: CommandInput): Refusal | undefined {
  const excess = excessOfCommand(command);
  if (excess) return tooLarge(excess);
  return notPermitted(toPolicy(state), { actor: UNKNOWN_ACTOR, ...command }, state.spec.pipeline);
}
