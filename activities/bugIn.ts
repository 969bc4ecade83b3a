import { WorkflowNotFoundError, type Client } from '@temporalio/client';
import type { Artifact } from '../domain/artifact';
import { hitWords, isInForce, namedOnlyIn, type Bug, type BugRecords } from '../domain/bugs/bug';
import { builtFrom, hitAmong, type Affected, type ArtifactHit } from '../domain/bugs/hits';
import { workflowIds } from '../domain/ids';
import { neverRan } from '../domain/queryRefusals';
import { affectedBy, graphsOf, isRefusal, type GraphPorts } from './dependencyGraphs';
import { affectedBySboms, hitIn, sbomOf, sbomStoresOf, type SbomHits } from './sboms';

/** What is known of bugs in some artifacts. */
export interface BugLook {
  /** Which bug in force they contain, in words. */
  readonly bug?: string;
  /** Components of their SBOMs that nobody can tell by a package URL; left out where there are none. */
  readonly namedOnly?: number;
}

/**
 * Looks for the bugs in force in some artifacts. Where neither a graph nor a store of SBOMs could answer, nobody is asked.
 * A bug about which a graph refuses to answer is shown as such, and stops no deploy. @throws while a graph, a store, or the workflow of bugs does
 * not answer, and of an SBOM that cannot be read
 */
export async function lookForBugs(ports: GraphPorts, artifacts: readonly Artifact[]): Promise<BugLook> {
  const hasGraph = graphsOf(ports).length > 0 && builtFrom(artifacts).length > 0;
  const hasSbom = sbomStoresOf(ports).length > 0 && artifacts.some((artifact) => sbomOf(artifact) !== undefined);
  if (!hasGraph && !hasSbom) return {};
  const bugs = (await knownBugs(ports.client)).filter(isInForce);
  const asked = bugs.filter(({ advisory }) => (advisory === undefined ? hasGraph : hasSbom));
  const advisories = asked.flatMap(({ advisory }) => advisory ?? []);
  const sboms = advisories.length === 0 ? NO_HITS : affectedBySboms(ports, advisories, artifacts);
  const found = await Promise.all(
    asked.map(async (bug) => {
      const hit = await hitOf(ports, sboms, bug, artifacts);
      return hit && hitWords(bug, hit);
    }),
  );
  const bug = found.find((words) => words !== undefined);
  return { ...(bug === undefined ? {} : { bug }), ...namedOnlyIn((await sboms).namedOnly) };
}

const NO_HITS: SbomHits = { chains: new Map(), unreadable: new Map(), namedOnly: 0 };

async function hitOf(
  ports: GraphPorts,
  sboms: SbomHits | Promise<SbomHits>,
  bug: Bug,
  artifacts: readonly Artifact[],
): Promise<ArtifactHit | undefined> {
  if (bug.advisory === undefined)
    return hitAmong(artifacts, await affectedBy(ports, bug, builtFrom(artifacts)).catch(unlessRefused));
  const hits = await sboms;
  const [problem] = hits.unreadable.values();
  const hit = hitIn(hits, bug.advisory, artifacts);
  if (hit === undefined && problem !== undefined) throw problem;
  return hit;
}

/** What no repetition changes, such as a revision that the graph does not know. */
function unlessRefused(error: unknown): ReadonlyMap<string, Affected> {
  if (isRefusal(error)) return new Map();
  throw error;
}

/** None where nobody ever reported one. */
export async function knownBugs(client: Client): Promise<readonly Bug[]> {
  try {
    return await bugsOfRun(client);
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return [];
    if (neverRan(error)) return earlierBugs(client);
    throw error;
  }
}

/** A run that a stranger started answers nothing: the run before it counts. */
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
