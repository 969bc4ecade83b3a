import { decideBirth } from '../domain/access/children';
import { grantAccess, denyAccess, type AccessDecision } from '../domain/access/decision';
import { isOperation, NEEDS, OPERATIONS, type Door, type OperationName } from '../domain/access/operations';
import { pathRights, whyNotPaths, type ProposedRepository } from '../domain/access/paths';
import { USE_KINDS, type PlatformFacts } from '../domain/access/platform';
import { decideDeploy, decideScripts, decideUse } from '../domain/access/usage';
import { conveyorError } from '../domain/errors';
import { NAME, parseId } from '../domain/ids';
import { PRINCIPAL } from '../domain/principals';
import type { PipelineSpec } from '../domain/spec/pipeline';
import { decideApply, decideAudit, decideBug, decideProposal, decideVerb, type FactSource } from './about';

/** A question whether a principal may do something: `conveyor can WHO VERB WHAT`, as typed. */
export interface Question {
  readonly who: string;
  readonly verb: string;
  /** `''` if no target is named. */
  readonly what: string;
  /** For create and apply: the spec to apply. */
  readonly spec?: PipelineSpec | undefined;
}

/** The facts of the decision, and the client to look up resources. */
interface Means {
  readonly client: FactSource;
  readonly facts: PlatformFacts;
  readonly door: Door;
  readonly repositories: readonly ProposedRepository[];
}

/** @throws ConveyorError `usage` or `invalid-id` for an invalid question; `unknown-pipeline` */
export function answerTo(means: Means, question: Question): Promise<AccessDecision> {
  const { verb } = question;
  if (!isOperation(verb))
    throw conveyorError('usage', { text: `there is no ${verb}`, hint: `one of ${Object.keys(OPERATIONS).join(', ')}` });
  const { needs } = OPERATIONS[verb];
  if (needs === 'nobody' || needs === 'key' || needs === 'delivery')
    return Promise.resolve(grantAccess(needs, `${verb} is for ${NEEDS[needs]}`));
  if (needs === 'parent') return ofParent(means, question);
  if (!PRINCIPAL.test(question.who))
    throw conveyorError('usage', { text: `${question.who} is not a principal`, hint: 'name one such as user:alice' });
  if (needs === 'service' || needs === 'use' || needs === 'scripts')
    return Promise.resolve(ofUse(means.facts, question));
  if (needs === 'proposer') return Promise.resolve(ofProposal(means, question));
  if (verb === 'report-bug' || verb === 'close-bug')
    return Promise.resolve(decideBug(means.facts, { principal: question.who, door: means.door }, verb));
  if (needs === 'auditor') return ofAudit(means, question);
  if (verb === 'create' || verb === 'apply' || verb === 'import') return ofApply(means, { ...question, verb });
  return ofVerb(means, { ...question, verb });
}

/** Resources that an owner's pipelines may use: `twine/kvstore-x`, `mutex/region-x`. */
function ofUse(facts: PlatformFacts, { who, verb, what }: Question): AccessDecision {
  const owners = [who];
  if (verb === 'run-scripts') return decideScripts(facts, owners);
  const at = what.indexOf('/');
  const [kind, name] = [what.slice(0, Math.max(at, 0)), what.slice(at + 1)];
  if (verb === 'deploy' && kind !== '') return decideDeploy(facts, owners, { pushType: kind, units: [name] });
  const use = USE_KINDS.find((one) => one === kind);
  if (verb === 'use' && use !== undefined && NAME.test(name)) return decideUse(facts, owners, { kind: use, name });
  const hint =
    verb === 'deploy'
      ? 'name a unit, such as twine/kvstore-x'
      : `name one such as mutex/region-x: ${USE_KINDS.join(', ')}`;
  throw conveyorError('usage', { text: `${verb} does not take ${what || 'nothing'}`, hint });
}

async function ofApply(
  { client, facts, door }: Means,
  { who, what, verb, spec }: Question & { verb: 'create' | 'apply' | 'import' },
): Promise<AccessDecision> {
  const would = spec ?? (await client.spec(pipelineIn(what)));
  const principal = { principal: who, door };
  return decideApply(client, facts, { who: principal, verb: verb === 'import' ? 'import' : 'apply', spec: would });
}

function pipelineIn(what: string): string {
  const id = parseId(what);
  if (id?.kind === 'pipeline') return id.pipeline;
  throw conveyorError('invalid-id', {
    text: what || 'nothing',
    expected: 'the name of a pipeline; or give its --file',
  });
}

function ofVerb(
  { client, facts, door }: Means,
  { who, verb, what }: Question & { verb: OperationName },
): Promise<AccessDecision> {
  const id = parseId(what);
  if (id === undefined)
    throw conveyorError('invalid-id', { text: what || 'nothing', expected: 'the id of a pipeline, release or deploy' });
  return decideVerb(client, facts, { who: { principal: who, door }, verb, id });
}

function ofProposal({ facts, door, repositories }: Means, { who, what }: Question): AccessDecision {
  const at = what.indexOf('/');
  const [named, path] = at < 0 ? [what, undefined] : [what.slice(0, at), what.slice(at + 1)];
  const repository = repositories.find(({ name }) => name === named);
  if (repository !== undefined) {
    const decision = decideProposal(facts, { who: { principal: who, door }, repository });
    const rights = decision.allowed && path !== undefined ? pathRights(facts, repository, who) : null;
    const why = rights === null ? undefined : whyNotPaths(rights, [{ path: path ?? '' }]);
    return why === undefined ? decision : denyAccess(why);
  }
  const names = repositories.map(({ name }) => name).join(', ') || 'none';
  throw conveyorError('usage', {
    text: `${what || 'nothing'} is not a repository of configuration`,
    hint: `config.repositories of conveyor.config.yaml lists ${names}`,
  });
}

/** Only servers keep an audit. */
function ofAudit({ client, facts }: Means, { who, what }: Question): Promise<AccessDecision> {
  const pipeline = what === '' ? undefined : pipelineIn(what);
  return decideAudit(client, facts, { who: { principal: who, door: 'api' }, pipeline });
}

/** Whether a pipeline may start another; the actor who starts the parent is not known yet. */
async function ofParent({ client, facts }: Means, { who, what }: Question): Promise<AccessDecision> {
  const parent = pipelineIn(who);
  const { pipeline: child, owners, labels } = await client.spec(pipelineIn(what));
  return decideBirth(facts, { child, owners, names: labels['parent'], parent, startedBy: undefined });
}
