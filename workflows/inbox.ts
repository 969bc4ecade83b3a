import type { SignalDefinition } from '@temporalio/common';
import { ApplicationFailure, setDefaultSignalHandler, setHandler } from '@temporalio/workflow';
import { excessOfCommand, excessText } from '../domain/excess';
import { isNestedTooDeep } from '../domain/json';
import { REQUEST_LIMITS } from '../domain/limits';
import { isGroup } from '../domain/principals';
import { whyNotBelieved, withProof, type Proofs } from '../domain/proof';
import { whyNoCommand } from '../domain/messageShapes';
import { cutText } from '../domain/size';
import { formatTime } from '../domain/text';
import { UNKNOWN_ACTOR, type CommandInput, type CommandReceipt, type CommandRecord, type Verb } from '../domain/verbs';
import { verbSignal, verbUpdate } from './messages';

/** The rules of a workflow's verbs, for its inbox. Everything here is synchronous: handlers record, the loop acts. */
export interface VerbRules<V extends Verb> {
  readonly verbs: readonly V[];
  /** Permission: undefined if the actor may, else the reason why not. */
  readonly permit: (actor: string, verb: V, input: CommandInput) => string | undefined;
  /** The reason why the verb cannot be taken in the present state, which includes every command taken so far. */
  readonly whyNot: (verb: V, input: CommandInput) => string | undefined;
  /** Folds an accepted command into the state, and returns the effect in words. */
  readonly take: (verb: V, input: CommandInput) => string;
  /** Passes a signal that is refused here on to workflows that may take it, and that record it. @returns whether there are any */
  readonly handOn?: (verb: V, input: CommandInput) => boolean;
  readonly record: (command: CommandRecord) => void;
  /** The proofs of the commands that it has taken (domain/proof.ts). */
  readonly proofs: () => Proofs | undefined;
  readonly believe: (taken: Proofs) => void;
  /** Called for a signal with an unknown name; it is recorded too. */
  readonly unknownSignal: (name: string) => void;
}

/**
 * Registers each verb as an update and as a signal. A refused update returns the reason and leaves no accepted event. A refused
 * signal is recorded, since it would otherwise go unseen. Call this before the first await, and after all other signal handlers:
 * signals that came with the first task are delivered as handlers appear, and any that are left count as unknown.
 */
export function openInbox<V extends Verb>(rules: VerbRules<V>): void {
  for (const verb of rules.verbs) {
    setHandler(verbUpdate(verb), (input) => accept(rules, verb, input ?? {}), {
      validator: (input) => refuseVerb(rules, verb, input ?? {}),
    });
    setHandler(verbSignal(verb), (input) => takeSignal(rules, verb, input ?? {}));
  }
  setDefaultSignalHandler((name) => rules.unknownSignal(name));
}

/** Temporal's own cancel request counts as the verb `cancel` without a person as its actor (docs/design/deploy.md#verbs). */
export const TEMPORAL_CANCEL = { actor: 'service:temporal', reason: 'cancelled through Temporal' } as const;

/** Takes a signal between workflows. Any user of the Web UI can send one, without input or with a malformed one; that changes nothing. */
export function onSignal<T>(
  signal: SignalDefinition<[T]>,
  take: (input: T) => void,
  isSent: (input: unknown) => boolean = () => true,
): void {
  setHandler(signal, (input: T | undefined) => {
    if (input !== undefined && input !== null && !isNestedTooDeep(input) && isSent(input)) take(input);
  });
}

/** A proof is valid only for its receiver. The workflow vouches for the messages that it passes on. */
function accept<V extends Verb>(rules: VerbRules<V>, verb: V, { proof, ...input }: CommandInput): CommandReceipt {
  if (proof) rules.believe(withProof(rules.proofs() ?? [], proof));
  const effect = rules.take(verb, input);
  rules.record(commandRecord(verb, input));
  return { accepted: true, effect };
}

function refuseVerb<V extends Verb>(rules: VerbRules<V>, verb: V, input: CommandInput): void {
  const none = whyNoCommand(input);
  if (none !== undefined) throw ApplicationFailure.nonRetryable(none, 'invalid-state');
  const excess = excessOfCommand(input);
  if (excess)
    throw ApplicationFailure.create({
      message: excessText(excess),
      type: 'over-limit',
      nonRetryable: true,
      details: [[excess.what, excess.size, excess.limit]],
    });
  const forbidden = whyForbidden(rules, verb, input);
  if (forbidden !== undefined) throw ApplicationFailure.nonRetryable(forbidden, 'not-permitted');
  const why = rules.whyNot(verb, input);
  if (why !== undefined) throw ApplicationFailure.nonRetryable(why, 'invalid-state');
}

function takeSignal<V extends Verb>(rules: VerbRules<V>, verb: V, input: CommandInput): void {
  const none = whyNoCommand(input);
  if (none !== undefined) return rules.record(commandRecord(verb, {}, none));
  const excess = excessOfCommand(input);
  const refused = excess ? excessText(excess) : whyForbidden(rules, verb, input);
  const why = refused ?? rules.whyNot(verb, input);
  if (why === undefined) accept(rules, verb, input);
  else if (refused === undefined && isHandedOn(rules, verb, input)) rules.record(commandRecord(verb, input));
  else rules.record(commandRecord(verb, input, why));
}

function isHandedOn<V extends Verb>(rules: VerbRules<V>, verb: V, { proof, ...input }: CommandInput): boolean {
  if (!rules.handOn?.(verb, input)) return false;
  if (proof) rules.believe(withProof(rules.proofs() ?? [], proof));
  return true;
}

const NO_GROUPS = 'groups never act: come as one of its members';

/** An actor that was admitted by a rule of the platform need not be an owner. */
function whyForbidden<V extends Verb>(rules: VerbRules<V>, verb: V, input: CommandInput): string | undefined {
  if (isGroup(input.actor ?? '')) return NO_GROUPS;
  const why = whyNotBelieved(rules.proofs() ?? [], verb, input.proof);
  return why ?? (input.permitted === undefined ? rules.permit(input.actor ?? UNKNOWN_ACTOR, verb, input) : undefined);
}

/** A command as it is recorded, with the present time; one that is too long is cut. */
export function commandRecord(verb: Verb, input: CommandInput, rejection?: string): CommandRecord {
  return {
    at: formatTime(Date.now()),
    verb,
    actor: cutText(input.actor ?? UNKNOWN_ACTOR, REQUEST_LIMITS.actor.max),
    reason: cutText(input.reason ?? '', REQUEST_LIMITS.reason.max),
    accepted: rejection === undefined,
    // The permission of owners is implied, so it is not recorded.
    ...(input.permitted?.startsWith('platform.')
      ? { permitted: cutText(input.permitted, REQUEST_LIMITS.actor.max) }
      : {}),
    ...(rejection === undefined ? {} : { rejection }),
  };
}
