import type { WorkflowExecutionInfo } from '@temporalio/client';
import type { Openings } from '../domain/calendar/opening';
import type { WindowState } from '../domain/calendar/window';
import { meanUpdateMs } from '../domain/deploy/pastUpdates';
import { WHERE_LIMITS } from '../domain/limits';
import type { PipelineState } from '../domain/pipeline/state';
import { pipelineStatus } from '../domain/pipeline/view';
import { getOnClose, toOpenTimes, withBlackouts } from '../domain/release/openTimes';
import { formatTime } from '../domain/text';
import type { DeployStatus, DeploySummary, ReleaseStatus, ReleaseSummary } from '../domain/views';
import { expectEverywhere } from '../domain/where/progress';
import { toWhereRelease, type PipelineFacts } from '../domain/where/release';
import type { WhereRelease } from '../domain/where/view';
import { answerInTime } from './inTime';
import { toDeploySummary } from './lists';
import { findWorkflowProblems } from './problems';
import { listDeploysWithin } from './visibility';
import type { Workflows } from './workflows';

/** A release that contains the revision. */
export interface FoundRelease {
  readonly info: WorkflowExecutionInfo;
  readonly release: ReleaseSummary;
  readonly contains: WhereRelease['contains'];
}

/** The workflows of the first releases are asked how far they are, all at once; one that is silent delays the answer by this. */
const ASK_MS = 2_000;
/** The deploys of one release that are asked. */
const MOST_DEPLOYS = 5;

/** Releases with what is known about them: from visibility alone, except for the first ones and their pipelines. */
export async function describeReleases(
  workflows: Workflows,
  found: readonly FoundRelease[],
): Promise<readonly WhereRelease[]> {
  const asked = found.slice(0, WHERE_LIMITS.asked.max);
  const pipelines = new Map(
    [...new Set(asked.map(({ release }) => release.pipeline))].map(
      (name) => [name, askPipeline(workflows, name)] as const,
    ),
  );
  const [deploys, problemOf] = await Promise.all([
    readDeploys(
      workflows,
      found.map(({ release }) => release.id),
    ),
    findWorkflowProblems(
      workflows.temporal,
      found.map(({ info }) => info),
    ),
  ]);
  return Promise.all(
    found.map(async (one, index) => {
      const own = deploys.get(one.release.id) ?? [];
      const pipeline = await pipelines.get(one.release.pipeline);
      const isAsked = index < asked.length && one.release.endedAt === null;
      const live = isAsked ? await askRelease(workflows, one, pipeline) : NOT_ASKED;
      const silent = isAsked && live.status === undefined ? 'its workflow does not answer' : undefined;
      const problem = problemOf(one.info) ?? silent;
      const { release, contains } = one;
      return toWhereRelease({ release, contains, deploys: own, pipeline: pipeline?.facts, ...live, problem });
    }),
  );
}

const askInTime = <T>(asked: Promise<T>): Promise<T | undefined> => answerInTime(asked, ASK_MS);

interface LiveRelease {
  readonly status: ReleaseStatus | undefined;
  readonly deployStatuses: readonly DeployStatus[];
  readonly everywhereAt: string | null;
}

const NOT_ASKED: LiveRelease = { status: undefined, deployStatuses: [], everywhereAt: null };

/** The newest attempt of each deploy, by release. */
async function readDeploys(
  { temporal }: Workflows,
  releases: readonly string[],
): Promise<ReadonlyMap<string, readonly DeploySummary[]>> {
  const found = new Map<string, DeploySummary[]>();
  const read = async (): Promise<void> => {
    for await (const info of listDeploysWithin(temporal.client, releases)) {
      const deploy = toDeploySummary(info);
      if (deploy === undefined) continue;
      const release = deploy.id.slice(0, deploy.id.lastIndexOf('/'));
      const known = found.get(release) ?? [];
      const before = known.find(({ id }) => id === deploy.id);
      if (before === undefined || before.attempt < deploy.attempt)
        found.set(release, [...known.filter((one) => one !== before), deploy]);
    }
  };
  await temporal.client.withDeadline(Date.now() + ASK_MS, read).catch(() => undefined);
  return found;
}

interface QueriedPipeline {
  readonly facts: PipelineFacts;
  readonly state: PipelineState;
}

async function askPipeline(workflows: Workflows, name: string): Promise<QueriedPipeline | undefined> {
  const state = await askInTime(workflows.pipelineState(name));
  if (state === undefined) return undefined;
  const isDeploying = state.active.some(({ deploying }) => deploying);
  return { state, facts: { status: pipelineStatus(state, Date.now()), history: state.history, isDeploying } };
}

async function askRelease(
  workflows: Workflows,
  { release: { pipeline, number } }: FoundRelease,
  asked: QueriedPipeline | undefined,
): Promise<LiveRelease> {
  const status = await askInTime(workflows.releaseWithWaits(pipeline, number));
  if (status === undefined) return NOT_ASKED;
  const begun = status.actions
    .filter(({ type, deploy }) => type === 'deploy' && deploy !== null)
    .slice(0, MOST_DEPLOYS);
  const answers = await Promise.all(begun.map(({ name }) => askInTime(workflows.deploy(pipeline, number, name))));
  const deployStatuses = answers.filter((one) => one !== undefined);
  const everywhereMs = asked && (await expectRelease(workflows, status, deployStatuses, asked.state));
  return { status, deployStatuses, everywhereAt: everywhereMs == null ? null : formatTime(everywhereMs) };
}

/** When the last deploy will be everywhere. Null while one of them has not begun, since nothing tells how long the actions before it take. */
async function expectRelease(
  workflows: Workflows,
  { actions }: ReleaseStatus,
  deploys: readonly DeployStatus[],
  state: PipelineState,
): Promise<number | null> {
  const open = actions.filter(({ type, endedAt }) => type === 'deploy' && endedAt === null);
  if (open.length === 0 || state.frozen) return null;
  const nowMs = Date.now();
  const ends = await Promise.all(
    open.map(async ({ name, deploy }) => {
      const status = deploys.find(({ id }) => id === deploy);
      if (status === undefined) return null;
      const window = await readWindow(state, name);
      const known = meanUpdateMs([status]);
      const pastUpdateMs = known === null ? await readPastUpdates(workflows, state, name) : null;
      return expectEverywhere(status, { nowMs, window, pastUpdateMs });
    }),
  );
  return ends.some((end) => end === null) ? null : Math.max(...ends.map((end) => end ?? 0));
}

/** By the present file of the pipeline. The rules of calendars take time to load, so only deploys with windows need them. */
async function readWindow({ spec }: PipelineState, name: string) {
  const action = spec.actions[name];
  const open = action && toOpenTimes(withBlackouts(spec, action));
  if (open === undefined) return undefined;
  const { getOpeningState } = await import('../domain/calendar/opening');
  const stateAt = (atMs: number): WindowState => getOpeningState(open satisfies Openings, atMs);
  return { onClose: getOnClose(open), stateAt };
}

/** How long the updates of a phase took in the last good deploy, if Temporal still has it. */
async function readPastUpdates(
  workflows: Workflows,
  { spec, good }: PipelineState,
  name: string,
): Promise<number | null> {
  const last = good[name]?.findLast(({ by, release }) => by === undefined && release > 0);
  const past = last && (await askInTime(workflows.deploy(spec.pipeline, last.release, name)));
  return past === undefined ? null : meanUpdateMs([past]);
}
