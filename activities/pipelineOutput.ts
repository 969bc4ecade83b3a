import { WorkflowNotFoundError, type Client } from '@temporalio/client';
import type { Artifact } from '../domain/artifact';
import { PIPELINE_OUTPUT, whyCannotFind } from '../domain/finder/standard';
import type { FinderAnswer } from '../domain/finder/sweep';
import { workflowIds } from '../domain/ids';
import type { PipelineState } from '../domain/pipeline/state';
import type { HistoryRow } from '../domain/views';
import type { Subscription } from '../sdk/protocol/artifactFinder';
import { atOnce } from './atOnce';
import type { Clock } from './clock';

interface Parts {
  readonly client: Client;
  readonly clock: Clock;
}

/** A pipeline may learn of the end of its release this long after it. Until then the same output is found again. */
const LATE_MS = 300_000;
const AT_ONCE = 20;
const ANSWER_MS = 10_000;

/**
 * The standard finder `pipeline-output`, in the worker: what the newest succeeded release of another pipeline brought or
 * produced under a name. The method of the artifact finder protocol; its cursor is a time.
 */
export async function findOutputs(
  { client, clock }: Parts,
  { subscriptions, cursor }: { readonly subscriptions: readonly Subscription[]; readonly cursor?: string },
): Promise<FinderAnswer> {
  const now = await clock.now();
  const since = Number(cursor ?? NaN);
  const valid = subscriptions.filter(({ with: wanted }) => whyCannotFind(PIPELINE_OUTPUT, wanted) === undefined);
  const books = await booksOf({ client, clock }, new Set(valid.map(sourceOf)));
  const refused = subscriptions.flatMap((asked) => {
    const message = whyCannotFind(PIPELINE_OUTPUT, asked.with) ?? books.get(sourceOf(asked))?.trouble;
    return message === undefined ? [] : [{ pipeline: asked.pipeline, artifact: asked.artifact, message }];
  });
  const found = valid.flatMap((asked) => {
    const output = outputOf(books.get(sourceOf(asked))?.history ?? [], String(asked.with['artifact']));
    if (output === undefined || Date.parse(output.endedAt) <= since) return [];
    return [{ pipeline: asked.pipeline, artifact: { ...output.artifact, name: asked.artifact } }];
  });
  return { found, cursor: String(now - LATE_MS), refused };
}

const sourceOf = ({ with: wanted }: Subscription): string => String(wanted['pipeline']);

/** What a pipeline remembers of its releases, or why it cannot be asked. */
interface Books {
  readonly history: readonly HistoryRow[];
  readonly trouble?: string;
}

async function booksOf(parts: Parts, sources: ReadonlySet<string>): Promise<Map<string, Books>> {
  const books = new Map<string, Books>();
  await atOnce(AT_ONCE, [...sources], async (source) => void books.set(source, await ask(parts, source)));
  return books;
}

async function ask({ client, clock }: Parts, source: string): Promise<Books> {
  const handle = client.workflow.getHandle(workflowIds.pipeline(source));
  const deadline = (await clock.now()) + ANSWER_MS;
  try {
    const state = await client.withDeadline(deadline, () => handle.query<PipelineState | null>('pipeline'));
    return state ?? { history: [], trouble: `there is no pipeline ${source}` };
  } catch (error) {
    const gone = error instanceof WorkflowNotFoundError;
    return { history: [], trouble: gone ? `there is no pipeline ${source}` : `pipeline ${source} does not answer` };
  }
}

/** What the newest release that succeeded had under a name, and when it ended. */
function outputOf(
  history: readonly HistoryRow[],
  name: string,
): { readonly artifact: Artifact; readonly endedAt: string } | undefined {
  const newest = history
    .filter(({ state, endedAt }) => state === 'succeeded' && endedAt !== null)
    .reduce<HistoryRow | undefined>((best, row) => (best && best.number > row.number ? best : row), undefined);
  const artifact = newest?.artifacts.find((each) => each.name === name);
  if (newest?.endedAt == null || artifact === undefined) return undefined;
  return { artifact: { ...artifact, producedBy: artifact.producedBy ?? newest.id }, endedAt: newest.endedAt };
}
