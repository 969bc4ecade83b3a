import { conveyorError } from './errors';
import { parseId, type Id } from './ids';
import { isPipelineVerb, isStartVerb, type StartVerb, type Verb } from './verbs';

/** Parses an id that a person typed. @throws ConveyorError `invalid-id` */
export function requireId(text: string): Id {
  const id = parseId(text);
  if (id === undefined)
    throw conveyorError('invalid-id', { text, expected: 'the id of a pipeline, release or deploy' });
  return id;
}

/** Parses an id to which the verb applies. @throws ConveyorError `invalid-id` */
export function requireTarget(text: string, verb: Verb | StartVerb): Id {
  const id = requireId(text);
  const isOfPipeline = isStartVerb(verb) ? verb === 'release' : isPipelineVerb(verb);
  if (isOfPipeline && id.kind !== 'pipeline')
    throw conveyorError('invalid-id', { text, expected: `the id of a pipeline, which ${verb} needs` });
  if (!isOfPipeline && id.kind === 'pipeline')
    throw conveyorError('invalid-id', { text, expected: `a release or deploy, which ${verb} needs` });
  return id;
}

/** The id of an action. @throws ConveyorError `invalid-id` */
export function requireAction(text: string): Extract<Id, { readonly kind: 'action' }> {
  const id = parseId(text);
  if (id?.kind === 'action') return id;
  throw conveyorError('invalid-id', { text, expected: 'the id of an action, such as kvstore/12/deploy' });
}
