import { WorkflowNotFoundError, type Client } from '@temporalio/client';
import type { Artifact } from '../../../domain/artifact';
import { hitWords, isInForce, toNamedOnly, type Bug, type BugRecords } from '../domain/bug';
import { listBuiltTargets, hitAmong, type AffectedBuild, type ArtifactHit } from '../domain/hits';
import { workflowIds } from '../../../domain/ids';
import { neverRan } from '../../../domain/queryRefusals';
import type { BugLook } from '../../../domain/release/bugNotice';
import { findAffectedTargets, listDependencyGraphs, isRefusal, type GraphPorts } from './dependencyGraphs';
import { searchSboms, hitIn, getSbomPlace, listSbomStores, type SbomHits } from './sboms';

/**
 * Looks for the bugs in force in some artifacts. If no graph and no store of SBOMs could answer, none is asked. If a graph refuses to answer about a
 * bug, the refusal is shown with that bug, and stops no deploy. @throws while a graph, a store, or the workflow of bugs does not answer, and if an
 * SBOM cannot be read
 */
export async function lookForBugs(ports: GraphPorts, artifacts: readonly Artifact[]): Promise<BugLook> {
  const hasGraph = listDependencyGraphs(ports).length > 0 && listBuiltTargets(artifacts).length > 0;
  const hasSbom =
    listSbomStores(ports).length > 0 && artifacts.some((artifact) => getSbomPlace(artifact) !== undefined);
  if (!hasGraph && !hasSbom) return {};
  const bugs = (await readKnownBugs(ports.client)).filter(isInForce);
  const asked = bugs.filter(({ advisory }) => (advisory === undefined ? hasGraph : hasSbom));
  const advisories = asked.flatMap(({ advisory }) => advisory ?? []);
  const sboms = advisories.length === 0 ? NO_HITS : searchSboms(ports, advisories, artifacts);
  const found = await Promise.all(
    asked.map(async (bug) => {
      const hit = await findBugHit(ports, sboms, bug, artifacts);
      return hit && hitWords(bug, hit);
    }),
  );
  const bug = found.find((words) => words !== undefined);
  return { ...(bug === undefined ? {} : { bug }), ...toNamedOnly((await sboms).namedOnly) };
}

const NO_HITS: SbomHits = { chains: new Map(), unreadable: new Map(), namedOnly: 0 };

async function findBugHit(
  ports: GraphPorts,
  sboms: SbomHits | Promise<SbomHits>,
  bug: Bug,
  artifacts: readonly Artifact[],
): Promise<ArtifactHit | undefined> {
  if (bug.advisory === undefined)
    return hitAmong(artifacts, await findAffectedTargets(ports, bug, listBuiltTargets(artifacts)).catch(unlessRefused));
  const hits = await sboms;
  const [problem] = hits.unreadable.values();
  const hit = hitIn(hits, bug.advisory, artifacts);
  if (hit === undefined && problem !== undefined) throw problem;
  return hit;
}

/** Failures that no retry changes, such as a revision that the graph does not know, count as no answer. */
function unlessRefused(error: unknown): ReadonlyMap<string, AffectedBuild> {
  if (isRefusal(error)) return new Map();
  throw error;
}

/** Empty if no bug was ever reported. */
export async function readKnownBugs(client: Client): Promise<readonly Bug[]> {
  try {
    return await bugsOfRun(client);
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return [];
    if (neverRan(error)) return earlierBugs(client);
    throw error;
  }
}

/** A run that a stranger started has no valid answer, so the run before it counts. */
async function earlierBugs(client: Client): Promise<readonly Bug[]> {
  for await (const { runId } of client.workflow.list({ query: `WorkflowId = '${workflowIds.bugs}'` })) {
    const known = await bugsOfRun(client, runId).catch((error: unknown) => {
      if (neverRan(error)) return undefined;
      throw error;
    });
    if (known !== undefined) return known;
  }
  return [];
}

const bugsOfRun = async (client: Client, runId?: string): Promise<readonly Bug[]> =>
  (await client.workflow.getHandle(workflowIds.bugs, runId).query<BugRecords>('bugs')).bugs;
