import type { Client } from '@temporalio/client';
import type { Bug } from '../domain/bug';
import { formatBuiltKey, type AffectedBuild, type TargetBuild } from '../domain/hits';
import { ConveyorError } from '../../../domain/errors';
import { workflowIds } from '../../../domain/ids';
import { callExtension } from '../../../sdk/client';
import { dependencyGraphProtocol, MAX_BUILT_TARGETS } from '../../../sdk/protocol/dependencyGraph';
import type { ExtensionRef } from '../../../settings/extensions';
import type { CallPorts } from '../../../activities/pushCalls';

/** The means to ask dependency graphs which artifacts contain a bug. */
export type GraphPorts = Pick<CallPorts, 'registry' | 'fetch'> & { readonly client: Client };

export const listDependencyGraphs = ({ registry }: Pick<GraphPorts, 'registry'>): readonly ExtensionRef[] =>
  registry.extensions.filter(({ kind, holdsSboms }) => kind === 'dependency-graph' && !holdsSboms);

/**
 * The built targets that contain a bug, by their keys. Every graph is asked, even with no targets, so that a bug that all graphs refuse is known
 * at once. A graph need not know the revisions of another. @throws the refusal if no graph takes the question
 */
export async function findAffectedTargets(
  ports: GraphPorts,
  bug: Bug,
  built: readonly TargetBuild[],
): Promise<ReadonlyMap<string, AffectedBuild>> {
  const graphs = listDependencyGraphs(ports);
  const refusals: Error[] = [];
  const affected: AffectedBuild[] = [];
  for (const graph of graphs)
    try {
      affected.push(...(await askInPages(ports, graph, bug, built)));
    } catch (error) {
      if (!isRefusal(error)) throw error;
      refusals.push(error);
    }
  const [refusal] = refusals;
  if (refusal && refusals.length === graphs.length) throw refusal;
  return new Map(affected.map((one) => [formatBuiltKey(one), one]));
}

async function askInPages(
  ports: GraphPorts,
  graph: ExtensionRef,
  bug: Bug,
  built: readonly TargetBuild[],
): Promise<readonly AffectedBuild[]> {
  const affected: AffectedBuild[] = [];
  for (let at = 0; at === 0 || at < built.length; at += MAX_BUILT_TARGETS)
    affected.push(...(await askGraph(ports, graph, bug, built.slice(at, at + MAX_BUILT_TARGETS))));
  return affected;
}

/** @throws ConveyorError like `callExtension` */
async function askGraph(
  { registry, fetch }: GraphPorts,
  service: ExtensionRef,
  { id, target, from, to }: Bug,
  among: readonly TargetBuild[],
): Promise<readonly AffectedBuild[]> {
  const { depth } = registry.bugs;
  const { affected } = await callExtension({
    ...{ service, protocol: dependencyGraphProtocol, method: 'getDependents' },
    request: { target, revisions: { from, ...(to === null ? {} : { to }) }, depth, among: [...among] },
    context: { pipeline: '', release: 0, deployId: id, actor: 'service:conveyor', config: {} },
    runId: workflowIds.bugs,
    ...(fetch === undefined ? {} : { fetch }),
  });
  return affected;
}

export const isRefusal = (error: unknown): error is ConveyorError =>
  error instanceof ConveyorError && error.code === 'extension-rejected';
