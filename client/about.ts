import { listRequesters } from '../domain/access/approvals';
import { decideAccess, type AccessDecision } from '../domain/access/decide';
import type { Request, Units, RequestFacts, AccessRequester } from '../domain/access/request';
import { OPERATIONS, type OperationName } from '../domain/access/operations';
import type { ProposedRepository } from '../domain/access/paths';
import type { PlatformFacts } from '../domain/access/platform';
import { ConveyorError, conveyorError } from '../domain/errors';
import { SHOWN_UNITS } from '../domain/fleet/limits';
import { deployId, releaseId, type Id } from '../domain/ids';
import type { PipelineSpec } from '../domain/spec/pipeline';
import type { DeployStatus, ReleaseStatus } from '../domain/views';
import type { ConveyorClient } from './api';

/** Sources of the facts about a pipeline, release or deploy that a decision needs. */
export type FactSource = Pick<ConveyorClient, 'spec' | 'status' | 'exportPipeline' | 'listPipelines'>;

export interface VerbQuestion {
  readonly who: AccessRequester;
  readonly verb: OperationName;
  readonly id: Id;
  /** For a pick: whether it approves or rejects. */
  readonly approves?: boolean;
  /** For an emergency: whether it skips bakes. */
  readonly skipBake?: boolean;
}

/**
 * Decides whether a principal may give a verb to a pipeline, release, action or deploy. The resources that it holds are
 * looked up only if the decision depends on them.
 * @throws ConveyorError `unknown-pipeline`
 */
export async function decideVerb(
  client: FactSource,
  facts: PlatformFacts,
  { verb, who, id, approves = true, skipBake = false }: VerbQuestion,
): Promise<AccessDecision> {
  const known = { ...(await pipelineFacts(client, id.pipeline, verb)), skipBake };
  const what = verb === 'pick' ? { ...known, pick: await fetchPickFacts(client, id, known, approves) } : known;
  const decision = await decideHeld(client, facts, { who, verb, what }, id);
  if (decision.allowed || OPERATIONS[verb].needs !== 'evictor' || id.kind !== 'action') return decision;
  const holds = await unitsHeldBy(client, id);
  return holds === undefined ? decision : decideAccess(facts, { who, verb, what: { ...what, holds } });
}

/** Rules may concern the units that a deploy holds or will hold; for a release, those of all its deploys. */
async function decideHeld(client: FactSource, facts: PlatformFacts, request: Request, id: Id): Promise<AccessDecision> {
  const decision = decideAccess(facts, request);
  const gate = OPERATIONS[request.verb].protection;
  const isGuarded = (gate === 'checks' || gate === 'window') && id.kind !== 'pipeline';
  if (!decision.allowed || !isGuarded || !facts.policy?.protection.some(({ services }) => services.length > 0))
    return decision;
  const actions = Object.entries(request.what.spec?.actions ?? {});
  for (const [name, action] of actions) {
    if ((action.type !== 'deploy' && action.type !== 'canary') || (id.kind === 'action' && id.action !== name))
      continue;
    const any = { pushType: action.with.pushType, units: [], any: true as const };
    const found = await unitsHeldBy(client, { ...id, kind: 'action', action: name });
    const isWhole = found !== undefined && found.units.length > 0 && found.units.length < SHOWN_UNITS;
    const held = decideAccess(facts, { ...request, what: { ...request.what, holds: isWhole ? found : any } });
    if (!held.allowed) return held;
  }
  return decision;
}

/**
 * Decides whether a principal may create a pipeline or change an existing one.
 * @param verb for an existing pipeline
 */
export async function decideApply(
  client: FactSource,
  facts: PlatformFacts,
  {
    who,
    verb,
    spec,
  }: { readonly who: AccessRequester; readonly verb: 'apply' | 'import'; readonly spec: PipelineSpec },
): Promise<AccessDecision & { readonly verb: OperationName }> {
  const owners = await ownersNow(client, spec.pipeline);
  // An import under a new name needs the right, too, because it determines what counts as having run.
  const asked = owners === null && verb === 'apply' ? 'create' : verb;
  return { ...decideAccess(facts, { who, verb: asked, what: { pipeline: spec.pipeline, owners, spec } }), verb: asked };
}

/**
 * Decides whether a principal may read the records of a pipeline, or all of them. Admins may also read those of deleted
 * pipelines.
 * @throws ConveyorError `unknown-pipeline`
 */
export async function decideAudit(
  client: Pick<FactSource, 'spec'>,
  facts: PlatformFacts,
  { who, pipeline = '' }: { readonly who: AccessRequester; readonly pipeline?: string | undefined },
): Promise<AccessDecision> {
  const asked = (owners: RequestFacts['owners']): AccessDecision =>
    decideAccess(facts, { who, verb: 'read-audit', what: { pipeline, owners } });
  const decision = asked(null);
  return decision.allowed || pipeline === '' ? decision : asked((await client.spec(pipeline)).owners);
}

/** Decides whether a principal may propose changes of a repository. */
export const decideProposal = (
  facts: PlatformFacts,
  {
    who,
    repository: { name, owners, paths = [] },
  }: { readonly who: AccessRequester; readonly repository: ProposedRepository },
): AccessDecision =>
  decideAccess(facts, {
    who,
    verb: 'propose',
    what: { pipeline: '', owners: owners ?? null, repository: name, paths },
  });

/** @throws ConveyorError `not-permitted` @returns the rule that allows it */
export function requireProposer(facts: PlatformFacts, who: AccessRequester, repository: ProposedRepository): string {
  const decision = decideProposal(facts, { who, repository });
  if (decision.allowed) return decision.through === null ? decision.by : `${decision.by} through ${decision.through}`;
  const actor = who.principal ?? 'nobody';
  const { name } = repository;
  throw conveyorError('not-permitted', { actor, pipeline: name, why: decision.why, can: `${actor} propose ${name}` });
}

/** Includes a pipeline whose workflow has ended, which no other principal may take over. */
async function ownersNow(client: FactSource, pipeline: string): Promise<PipelineSpec['owners'] | null> {
  const orNull = (error: unknown): null => {
    if (error instanceof ConveyorError && error.code === 'unknown-pipeline') return null;
    throw error;
  };
  const spec = await client.spec(pipeline).catch(orNull);
  if (spec !== null) return spec.owners;
  const document = await client.exportPipeline(pipeline).catch(orNull);
  return document === null ? null : document.spec.owners;
}

/** If no worker answers, the owners are read from visibility, so that a deploy can still be stopped and the command is kept. */
async function pipelineFacts(client: FactSource, pipeline: string, verb: OperationName): Promise<RequestFacts> {
  try {
    const spec = await client.spec(pipeline);
    return { pipeline, owners: spec.owners, spec };
  } catch (error) {
    const isSilent = error instanceof ConveyorError && error.code === 'no-worker';
    if (!isSilent || OPERATIONS[verb].protection !== undefined) throw error;
    const [row] = await client.listPipelines({ pipeline, limit: 1 });
    if (row === undefined) throw error;
    return { pipeline, owners: row.owners };
  }
}

/** The picked action names the people who may pick, and its release the person who requested it. */
async function fetchPickFacts(
  client: FactSource,
  id: Id,
  { spec }: RequestFacts,
  approves: boolean,
): Promise<NonNullable<RequestFacts['pick']>> {
  const action = id.kind === 'action' ? spec?.actions[id.action] : undefined;
  const release = id.kind === 'pipeline' ? undefined : await client.status(releaseId(id.pipeline, id.number));
  return {
    principals: action?.type === 'manual-pick' ? action.with.principals : [],
    askedBy: release?.kind === 'release' ? listRequesters(release.trigger) : [],
    approves,
    places: listApprovalPlaces(release?.kind === 'release' ? release : undefined, id),
  };
}

/** The rules that apply to the units of a pick, according to a worker. */
const listApprovalPlaces = (release: ReleaseStatus | undefined, id: Id): string[] =>
  release && id.kind === 'action'
    ? release.actions.flatMap(({ name, approval }) =>
        name === id.action ? (approval?.rules ?? []).map(({ place }) => place) : [],
      )
    : [];

async function unitsHeldBy(client: FactSource, { pipeline, number, action }: Extract<Id, { kind: 'action' }>) {
  const status = await client.status(deployId(pipeline, number, action)).catch(() => undefined);
  return status?.kind === 'deploy' ? unitsOfDeploy(status) : undefined;
}

const unitsOfDeploy = ({ pushType, phases }: DeployStatus): Units => ({
  pushType,
  units: [...new Set(phases.flatMap(({ units }) => units.map(({ id }) => id)))],
});

/** Decides whether a principal may report bugs, or close them. */
export const decideBug = (
  facts: PlatformFacts,
  who: AccessRequester,
  verb: 'report-bug' | 'close-bug',
): AccessDecision => decideAccess(facts, { who, verb, what: { pipeline: '', owners: null } });
