import { Context } from '@temporalio/activity';
import { WorkflowNotFoundError, type Client } from '@temporalio/client';
import type { Artifact } from '../../../domain/artifact';
import { hitWords, isFoundAnew, isInForce, toNamedOnly, type Bug, type BugHit, type BugSearch } from '../domain/bug';
import type { BugNotice } from '../../../domain/release/bugNotice';
import { listBuiltTargets, hitAmong, type ArtifactHit } from '../domain/hits';
import { ConveyorError } from '../../../domain/errors';
import { workflowIds } from '../../../domain/ids';
import { BUG_LIMITS } from '../../../domain/limits';
import { MINUTE_MS } from '../../../domain/milliseconds';
import type { IndexedRelease, PipelineIndex } from '../../../domain/pipeline/pipelineIndex';
import { cutText } from '../../../domain/size';
import { formatTime } from '../../../domain/text';
import { atOnce } from '../../../activities/atOnce';
import { withHeartbeats, type Clock } from '../../../activities/clock';
import { readKnownBugs } from './lookForBugs';
import { findAffectedTargets, listDependencyGraphs, type GraphPorts } from './dependencyGraphs';
import { searchSboms, hitIn, listSbomStores } from './sboms';

export interface BugPorts extends GraphPorts {
  readonly clock: Clock;
  readonly index: Pick<PipelineIndex, 'releases'>;
}

export interface SearchOrder {
  readonly bug: Bug;
  /** Searches only the releases that began since the report, or just before. */
  readonly again: boolean;
  readonly heartbeatTimeoutMs: number;
}

export type BugActivities = ReturnType<typeof createBugActivities>;

/** The number of releases that are notified at the same time; the others wait. */
const NOTICES_AT_ONCE = 20;

export function createBugActivities(ports: BugPorts) {
  return {
    /**
     * Finds everything that contains a bug, and notifies the releases among them that are under way. If it runs twice, each release acts once.
     */
    searchBug: ({ bug, again, heartbeatTimeoutMs }: SearchOrder): Promise<BugSearch> => {
      const { heartbeat } = Context.current();
      return withHeartbeats(
        heartbeatTimeoutMs / 3,
        () => heartbeat(),
        () => search(ports, bug, again),
      );
    },
  };
}

async function search(ports: BugPorts, ordered: Bug, again: boolean): Promise<BugSearch> {
  const at = formatTime(await ports.clock.now());
  const nothing = { at, problem: null, asked: 0, affected: 0, releases: [], exposed: 0, deployed: [] };
  // The search may have waited long for a graph, and the bug may be closed by now.
  const bug = await asItStands(ports, ordered);
  if (bug === undefined || !isInForce(bug)) return nothing;
  const sources = bug.advisory === undefined ? listDependencyGraphs(ports) : listSbomStores(ports);
  const wanted = bug.advisory === undefined ? 'dependency-graph' : 'dependency-graph of the type sboms';
  if (sources.length === 0)
    return { ...nothing, problem: `no ${wanted} is configured, so nobody knows what contains it` };
  const listed = await listSearchedReleases(ports, bug, again);
  try {
    const { hitOf, poor } = await answersAbout(ports, bug, listed);
    const hits = hitsIn(listed, hitOf);
    const [running, deployed] = [hits.filter(({ runs }) => runs), hits.filter(({ runs }) => !runs)];
    const anew = (some: readonly ReleaseHit[]) => some.filter((one) => isFoundAnew(bug.search, one));
    // If the bug was closed meanwhile, a notice would end releases that were made because it is fixed.
    const now = await asItStands(ports, bug);
    if (now === undefined) return nothing;
    if (now.to !== bug.to || !isInForce(now)) return await search(ports, now, again);
    await notifyAll(ports, bug, running);
    const first = (some: readonly ReleaseHit[]): BugHit[] => some.slice(0, BUG_LIMITS.shown.max).map(({ hit }) => hit);
    const asked = listed.filter((one) => isFoundAnew(bug.search, one)).length;
    const counts = { asked, affected: anew(running).length, exposed: anew(deployed).length };
    return { ...nothing, ...counts, releases: first(anew(running)), deployed: first(anew(deployed)), ...poor };
  } catch (error) {
    if (!(error instanceof ConveyorError) || error.retryable) throw error;
    return { ...nothing, problem: error.message };
  }
}

/** Undefined if the bug is forgotten, which happens only to bugs that are not in force. */
async function asItStands({ client }: BugPorts, ordered: Bug): Promise<Bug | undefined> {
  const known = (await readKnownBugs(client)).find(({ id }) => id === ordered.id);
  return known && { ...ordered, to: known.to, closed: known.closed };
}

interface Answers {
  readonly hitOf: (artifacts: readonly Artifact[]) => ArtifactHit | undefined;
  /** Parts of SBOMs that were not understood. */
  readonly poor: Pick<BugSearch, 'unread' | 'namedOnly'>;
}

async function answersAbout(ports: BugPorts, bug: Bug, listed: readonly IndexedRelease[]): Promise<Answers> {
  const artifacts = listed.flatMap((release) => release.artifacts);
  const { advisory } = bug;
  if (advisory === undefined) {
    const affected = await findAffectedTargets(ports, bug, listBuiltTargets(artifacts));
    return { hitOf: (some) => hitAmong(some, affected), poor: {} };
  }
  const hits = await searchSboms(ports, [advisory], artifacts);
  const [first] = hits.unreadable.values();
  const unread = first
    ? { unread: { count: hits.unreadable.size, why: cutText(first.message, BUG_LIMITS.path.max) } }
    : {};
  return { hitOf: (some) => hitIn(hits, advisory, some), poor: { ...unread, ...toNamedOnly(hits.namedOnly) } };
}

/** All releases under way, and the newest successful release of each pipeline. */
async function listSearchedReleases(
  { index }: BugPorts,
  { at }: Bug,
  again: boolean,
): Promise<readonly IndexedRelease[]> {
  const listed: IndexedRelease[] = [];
  const succeeded = new Set<string>();
  const since = again ? Date.parse(at) - MINUTE_MS : -Infinity;
  for await (const release of index.releases()) {
    const isOld = !release.runs && succeeded.has(release.pipeline);
    if (!release.runs) succeeded.add(release.pipeline);
    if (!isOld && Date.parse(release.startedAt) >= since) listed.push(release);
  }
  return listed;
}

interface ReleaseHit extends Pick<IndexedRelease, 'id' | 'startedAt'> {
  readonly hit: BugHit;
  readonly runs: boolean;
  readonly workflowId: string;
}

const hitsIn = (listed: readonly IndexedRelease[], hitOf: Answers['hitOf']): readonly ReleaseHit[] =>
  listed.flatMap(({ id, pipeline, number, artifacts, owners, runs, startedAt }) => {
    const hit = hitOf(artifacts);
    if (hit === undefined) return [];
    const workflowId = workflowIds.release(pipeline, number);
    return [{ id, startedAt, hit: { release: id, owners, ...hit }, runs, workflowId }];
  });

async function notifyAll({ client, registry }: BugPorts, bug: Bug, running: readonly ReleaseHit[]): Promise<void> {
  const { onRunning } = registry.bugs;
  await atOnce(NOTICES_AT_ONCE, running, ({ hit, workflowId }) =>
    notifyRelease(client, workflowId, { id: bug.id, why: hitWords(bug, hit), onRunning }),
  );
}

/** A release that has ended meanwhile needs no notice. */
async function notifyRelease(client: Client, workflowId: string, notice: BugNotice): Promise<void> {
  try {
    await client.workflow.getHandle(workflowId).signal('bug', notice);
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  }
}
