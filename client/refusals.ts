import type { ApplicationFailure } from '@temporalio/common';
import { conveyorError, type ConveyorError } from '../domain/errors';

/** Readable names of updates, whose own names people never type. */
const UPDATE_WORDS: Readonly<Record<string, string>> = {
  'roll-back': 'revert',
  'start-release': 'release',
  submit: 'release',
  'cancel-queued': 'cancel',
};

/** The workflow does not exist, or no longer. */
export function unknownWorkflow(id: string): ConveyorError {
  if (!id.includes('/')) return conveyorError('unknown-pipeline', { pipeline: id });
  return conveyorError('invalid-state', { verb: 'command', id, why: 'it has ended' });
}

/** The details of a workflow's refusal: the subject, its size and the limit. */
export const overLimit = ([what = 'it', size = '', limit = '']: readonly string[]): ConveyorError =>
  conveyorError('over-limit', { what, size, limit });

/** A workflow's refusal, worded for people (domain/pipeline/requests.ts, workflows/inbox.ts). */
export function refusalError(
  id: string,
  update: string,
  input: object,
  code: string,
  failure: ApplicationFailure,
): ConveyorError {
  const verb = 'emergency' in input ? 'push' : 'rerunOf' in input ? 'rerun' : (UPDATE_WORDS[update] ?? update);
  const pipeline = id.split('/')[0] ?? id;
  const names = (failure.details?.[0] as readonly string[] | undefined) ?? [];
  const actor =
    (input as { actor?: string; trigger?: { actor: string } }).actor ??
    (input as { trigger?: { actor: string } }).trigger?.actor ??
    '';
  switch (code) {
    case 'not-permitted':
      // A pick may name other people than the owners, and groups never act.
      return / may not pick | never act/.test(failure.message)
        ? conveyorError('not-permitted', { actor, pipeline, why: failure.message })
        : conveyorError('not-permitted', { actor, pipeline });
    case 'key-reused':
      return conveyorError('key-reused', { key: names[0] ?? '', was: names[1] ?? '', now: names[2] ?? '' });
    case 'not-rerunnable':
      return conveyorError('not-rerunnable', { id, why: failure.message, instead: names[0] ?? '' });
    case 'known-bad':
      return conveyorError('known-bad', { artifact: names[0] ?? '', pipeline, since: failure.message });
    case 'digest-changed':
      return conveyorError('digest-changed', {
        ...{ artifact: names[0] ?? '', pipeline },
        ...{ known: names[1] ?? '', from: names[2] ?? '' },
      });
    case 'missing-artifact':
      return conveyorError('missing-artifact', { pipeline, names });
    case 'unknown-artifact':
      return conveyorError('unknown-artifact', { pipeline, name: names[0] ?? '', known: names.slice(1) });
    case 'unknown-pipeline':
      return conveyorError('unknown-pipeline', { pipeline });
    case 'over-limit':
      return overLimit(names);
    case 'queue-full':
    case 'emergency-full':
      return conveyorError(code, { pipeline, why: failure.message });
    default:
      return conveyorError('invalid-state', { verb, id, why: failure.message });
  }
}
