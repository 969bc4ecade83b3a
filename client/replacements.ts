import type { Client } from '@temporalio/client';
import { areBrought, replacedBy, type Brought } from '../domain/brought';
import { BROUGHT_MEMO } from '../domain/mutex';
import { deploysWithConfig } from '../domain/spec/deployActions';
import type { PipelineSpec } from '../domain/spec/pipeline';
import type { GoodView, PipelineStatus } from '../domain/views';
import type { Temporal } from './connection';
import { queryWords } from './visibility';

/** A status comes without them if that takes longer. */
const LOCKS_TIMEOUT_MS = 2_000;
/** Runs of locks that are looked at, of each push type. */
const MOST_LOCKS = 2_000;

type LastGood = PipelineStatus['lastGood'];

/** A retired pipeline gets no notice of what other pipelines deploy to its services: their locks know. */
export async function withReplacements(
  { client }: Temporal,
  { pipeline, actions }: PipelineSpec,
  { lastGood, retired }: Pick<PipelineStatus, 'lastGood' | 'retired'>,
): Promise<LastGood> {
  if (retired === undefined) return lastGood;
  const pushTypes = new Set(deploysWithConfig({ actions }).map(([, { pushType }]) => pushType));
  const services = await client
    .withDeadline(Date.now() + LOCKS_TIMEOUT_MS, () => Promise.all([...pushTypes].map((one) => broughtTo(client, one))))
    .then((found) => found.flat())
    .catch((): (readonly Brought[])[] => []);
  return Object.fromEntries(
    Object.entries(lastGood).map(([action, good]) => [action, withReplacement(services, { pipeline, action }, good)]),
  );
}

function withReplacement(
  services: readonly (readonly Brought[])[],
  { pipeline, action }: Pick<Brought, 'pipeline' | 'action'>,
  good: GoodView,
): GoodView {
  for (const all of services) {
    const own = all.find((one) => one.pipeline === pipeline && one.action === action && one.release === good.release);
    if (own === undefined) continue;
    const found = replacedBy(all, own);
    if (found === null) return { release: good.release, version: good.version };
    const { by, version, on } = found;
    return { ...good, replaced: { by, version, ...(on === undefined ? {} : { on }) } };
  }
  return good;
}

/** What runs on each service of a push type, as the newest run of its lock has it. */
async function broughtTo(client: Client, pushType: string): Promise<(readonly Brought[])[]> {
  const prefix = queryWords([`lock/${pushType}/`]);
  const services = new Map<string, readonly Brought[]>();
  let seen = 0;
  for await (const { workflowId, memo } of client.workflow.list({
    query: `WorkflowType = 'lock' AND WorkflowId STARTS_WITH ${prefix}`,
    pageSize: 1_000,
  })) {
    const brought = memo?.[BROUGHT_MEMO];
    if (!services.has(workflowId)) services.set(workflowId, areBrought(brought) ? brought : []);
    seen += 1;
    if (seen >= MOST_LOCKS) break;
  }
  return [...services.values()];
}
