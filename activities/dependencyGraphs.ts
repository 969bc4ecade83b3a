import { WorkflowNotFoundError, type Client } from '@temporalio/client';
import type { Artifact } from '../domain/artifact';
import { hitWords, isInForce, type Bug, type BugRecords } from '../domain/bugs/bug';
import { builtFrom, hitAmong, keyOf, whyNotTrue, type Affected, type Built } from '../domain/bugs/hits';
import { ConveyorError, conveyorError } from '../domain/errors';
import { workflowIds } from '../domain/ids';
import { callExtension } from '../sdk/client';
import { dependencyGraphProtocol, MAX_BUILT_TARGETS } from '../sdk/protocol/dependencyGraph';
import type { ExtensionRef } from '../platform/extensions';
import type { CallPorts } from './pushCalls';

/** Asking dependency graphs what contains a bug. */
export type GraphPorts = Pick<CallPorts, 'registry' | 'fetch'> & { readonly client: Client };

export const graphsOf = ({ registry }: Pick<GraphPorts, 'registry'>): readonly ExtensionRef[] =>
  registry.extensions.filter(({ kind }) => kind === 'dependency-graph');

/**
 * Those of some built targets that contain a bug, by their keys. Every graph is asked, about none as well, so that a bug that all of them
 * refuse is known as such at once; one graph need not know the revisions of another. @throws the refusal where no graph takes the question
 */
export async function affectedBy(
  ports: GraphPorts,
  bug: Bug,
  built: readonly Built[],
): Promise<ReadonlyMap<string, Affected>> {
  const graphs = graphsOf(ports);
  const refusals: Error[] = [];
  const affected: Affected[] = [];
  for (const graph of graphs)
    try {
      affected.push(...(await askInPages(ports, graph, bug, built)));
    } catch (error) {
      if (!isRefusal(error)) throw error;
      refusals.push(error);
    }
  const [refusal] = refusals;
  if (refusal && refusals.length === graphs.length) throw refusal;
  return new Map(affected.map((one) => [keyOf(one), one]));
}

async function askInPages(
  ports: GraphPorts,
  graph: ExtensionRef,
  bug: Bug,
  built: readonly Built[],
): Promise<readonly Affected[]> {
  const affected: Affected[] = [];
  for (let at = 0; at === 0 || at < built.length; at += MAX_BUILT_TARGETS)
    affected.push(...(await askGraph(ports, graph, bug, built.slice(at, at + MAX_BUILT_TARGETS))));
  return affected;
}

/** @throws ConveyorError what `callExtension` throws, and `extension-protocol` for an answer that is not true to its question */
async function askGraph(
  { registry, fetch }: GraphPorts,
  service: ExtensionRef,
  { id, target, from, to }: Bug,
  among: readonly Built[],
): Promise<readonly Affected[]> {
  const { depth } = registry.bugs;
  const { affected } = await callExtension({
    ...{ service, protocol: dependencyGraphProtocol, method: 'getDependents' },
    request: { target, revisions: { from, ...(to === null ? {} : { to }) }, depth, among: [...among] },
    context: { pipeline: '', release: 0, deployId: id, actor: 'service:conveyor', config: {} },
    runId: workflowIds.bugs,
    ...(fetch === undefined ? {} : { fetch }),
  });
  const lie = whyNotTrue({ target, depth, among }, affected);
  if (lie === undefined) return affected;
  const where = { service: service.name, method: 'getDependents', field: 'affected' };
  throw conveyorError('extension-protocol', { ...where, detail: lie });
}

/**
 * Which bug in force some artifacts contain, in words; undefined where none. Without a graph nobody is asked. A bug about which a graph refuses to
 * answer is shown as such, and stops no deploy. @throws while a graph, or the workflow of bugs, does not answer
 */
export async function bugIn(ports: GraphPorts, artifacts: readonly Artifact[]): Promise<string | undefined> {
  const built = builtFrom(artifacts);
  if (built.length === 0 || graphsOf(ports).length === 0) return undefined;
  const bugs = (await knownBugs(ports.client)).filter(isInForce);
  const found = await Promise.all(
    bugs.map(async (bug) => {
      const hit = hitAmong(artifacts, await affectedBy(ports, bug, built).catch(unlessRefused));
      return hit && hitWords(bug, hit);
    }),
  );
  return found.find((words) => words !== undefined);
}

/** What no repetition changes, such as a revision that the graph does not know. */
function unlessRefused(error: unknown): ReadonlyMap<string, Affected> {
  if (isRefusal(error)) return new Map();
  throw error;
}

const isRefusal = (error: unknown): error is ConveyorError =>
  error instanceof ConveyorError && error.code === 'extension-rejected';

/** None where nobody ever reported one. */
export async function knownBugs(client: Client): Promise<readonly Bug[]> {
  try {
    return (await client.workflow.getHandle(workflowIds.bugs).query<BugRecords>('bugs')).bugs;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return [];
    throw error;
  }
}
