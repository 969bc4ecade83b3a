import { WorkflowNotFoundError, type Client } from '@temporalio/client';
import { formatIdentity, type Artifact } from '../domain/artifact';
import { PIPELINE_OUTPUT, whyCannotFind } from '../domain/finder/standard';
import type { FinderAnswer } from '../domain/finder/sweep';
import { workflowIds } from '../domain/ids';
import type { PipelineState } from '../domain/pipeline/state';
import type { HistoryRow, ReleaseStatus } from '../domain/views';
import type { Subscription } from '../sdk/protocol/artifactFinder';
import { atOnce } from './atOnce';
import type { Clock } from './clock';

interface OutputParts {
  readonly client: Client;
  readonly clock: Clock;
}

/** A pipeline may learn of the end of its release with this delay. During it, the same output is found again. */
const LATE_MS = 300_000;
const READS_AT_ONCE = 20;
const HISTORY_TIMEOUT_MS = 10_000;

/**
 * The standard finder `pipeline-output`, which runs in the worker: the artifacts that the newest succeeded release of another
 * pipeline brought or produced under a name. It implements the method of the artifact finder protocol; its cursor is a time.
 */
export async function findOutputs(
  { client, clock }: OutputParts,
  { subscriptions, cursor }: { readonly subscriptions: readonly Subscription[]; readonly cursor?: string },
): Promise<FinderAnswer> {
  const now = await clock.now();
  const since = Number(cursor ?? NaN);
  const valid = subscriptions.filter(({ with: wanted }) => whyCannotFind(PIPELINE_OUTPUT, wanted) === undefined);
  const histories = await readHistories({ client, clock }, new Set(valid.map(sourcePipeline)));
  const newer = valid.flatMap((subscription) => {
    const output = findNewestOutput(
      histories.get(sourcePipeline(subscription))?.history ?? [],
      String(subscription.with['artifact']),
    );
    return output === undefined || Date.parse(output.endedAt) <= since ? [] : [{ subscription, output }];
  });
  const releases = await releaseArtifacts({ client, clock }, new Set(newer.map(({ output }) => output.release)));
  const found = newer.flatMap(({ subscription, output: { artifact, release } }) => {
    const had = releases.get(release);
    if (had === undefined) return [];
    const whole = had.find((one) => formatIdentity(one) === formatIdentity(artifact)) ?? artifact;
    const producedBy = whole.producedBy ?? release.id;
    return [{ pipeline: subscription.pipeline, artifact: { ...whole, producedBy, name: subscription.artifact } }];
  });
  const silent = new Map(
    newer.flatMap(({ subscription, output: { release } }) =>
      releases.has(release) ? [] : [[subscription, release.id] as const],
    ),
  );
  const refused = subscriptions.flatMap((subscription) => {
    const release = silent.get(subscription);
    const trouble =
      histories.get(sourcePipeline(subscription))?.trouble ?? (release && `release ${release} does not answer`);
    const message = whyCannotFind(PIPELINE_OUTPUT, subscription.with) ?? trouble;
    return message === undefined ? [] : [{ pipeline: subscription.pipeline, artifact: subscription.artifact, message }];
  });
  return { found, cursor: String(now - LATE_MS), refused };
}

const sourcePipeline = ({ with: wanted }: Subscription): string => String(wanted['pipeline']);

/** The releases that a pipeline remembers, or the reason why it cannot be asked. */
interface KnownHistory {
  readonly history: readonly HistoryRow[];
  readonly trouble?: string;
}

async function readHistories(parts: OutputParts, sources: ReadonlySet<string>): Promise<Map<string, KnownHistory>> {
  const histories = new Map<string, KnownHistory>();
  await atOnce(READS_AT_ONCE, [...sources], async (source) => void histories.set(source, await ask(parts, source)));
  return histories;
}

async function ask({ client, clock }: OutputParts, source: string): Promise<KnownHistory> {
  const handle = client.workflow.getHandle(workflowIds.pipeline(source));
  const deadline = (await clock.now()) + HISTORY_TIMEOUT_MS;
  try {
    const state = await client.withDeadline(deadline, () => handle.query<PipelineState | null>('pipeline'));
    return state ?? { history: [], trouble: `there is no pipeline ${source}` };
  } catch (error) {
    const gone = error instanceof WorkflowNotFoundError;
    return { history: [], trouble: gone ? `there is no pipeline ${source}` : `pipeline ${source} does not answer` };
  }
}

/**
 * The artifacts of releases in full, since a pipeline remembers only their identities. A release whose history Temporal has deleted has
 * no artifacts to add; one that does not answer is left out, and the next sweep asks again.
 */
async function releaseArtifacts({ client, clock }: OutputParts, releases: ReadonlySet<HistoryRow>) {
  const found = new Map<HistoryRow, readonly Artifact[]>();
  await atOnce(READS_AT_ONCE, [...releases], async (release) => {
    const deadline = (await clock.now()) + HISTORY_TIMEOUT_MS;
    const handle = client.workflow.getHandle(workflowIds.release(release.pipeline, release.number));
    const asking = () => handle.query<Pick<ReleaseStatus, 'artifacts'>>('status');
    try {
      found.set(release, (await client.withDeadline(deadline, asking)).artifacts);
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) found.set(release, release.artifacts);
    }
  });
  return found;
}

/** The artifact of the newest successful release under a name, and the end of that release. */
function findNewestOutput(
  history: readonly HistoryRow[],
  name: string,
): { readonly artifact: Artifact; readonly release: HistoryRow; readonly endedAt: string } | undefined {
  const newest = history
    .filter(({ state, endedAt }) => state === 'succeeded' && endedAt !== null)
    .reduce<HistoryRow | undefined>((best, row) => (best && best.number > row.number ? best : row), undefined);
  const artifact = newest?.artifacts.find((each) => each.name === name);
  if (newest?.endedAt == null || artifact === undefined) return undefined;
  return { artifact, release: newest, endedAt: newest.endedAt };
}
