import type { Client } from '@temporalio/client';
import { findReplacement, type BroughtVersion } from '../domain/broughtVersions';
import { areBrought } from '../domain/broughtVersionShapes';
import { hashConfig } from '../domain/deploy/result';
import { BROUGHT_MEMO } from '../domain/mutex';
import type { PipelineState } from '../domain/pipeline/state';
import { deploysWithConfig } from '../domain/spec/deployActions';
import type { GoodView, PipelineStatus } from '../domain/views';
import type { Temporal } from './connection';
import { queryWords } from './visibility';

/** If this takes longer, the status omits them. */
const LOCKS_TIMEOUT_MS = 2_000;
/** The most runs of locks read for each push type. */
const MOST_LOCKS = 2_000;

type LastGood = PipelineStatus['lastGood'];

/**
 * Locks notify a pipeline of other pipelines' deploys to its services, under the name that its own deploy had then. A
 * retired pipeline, or one with a renamed deploy, gets no such notice, so this reads the locks instead.
 */
export async function withReplacements(
  { client }: Temporal,
  { spec: { pipeline, actions }, history }: Pick<PipelineState, 'spec' | 'history'>,
  { lastGood, retired }: Pick<PipelineStatus, 'lastGood' | 'retired'>,
): Promise<LastGood> {
  if (retired === undefined && !isRenamed(lastGood, history)) return lastGood;
  const pushTypes = new Set(deploysWithConfig({ actions }).map(([, { pushType }]) => pushType));
  const read = await client
    .withDeadline(Date.now() + LOCKS_TIMEOUT_MS, () =>
      Promise.all([...pushTypes].map((one) => readRunningVersions(client, one))),
    )
    .catch((): LockReadResult[] => [NOTHING_READ]);
  return Object.fromEntries(
    Object.entries(lastGood).map(([action, good]) => {
      const deploy = deploysWithConfig({ actions }).find(([name]) => name === action)?.[1];
      const isOwn = (one: BroughtVersion): boolean =>
        one.pipeline === pipeline &&
        one.release === good.release &&
        (one.action === action || (deploy !== undefined && one.config === hashConfig(deploy)));
      return [action, withReplacement(read, isOwn, good)];
    }),
  );
}

/** Whether a deploy was renamed after its last good version. */
const isRenamed = (lastGood: LastGood, history: PipelineState['history']): boolean =>
  Object.entries(lastGood).some(([action, { release }]) => {
    const row = history.find(({ number }) => number === release);
    return row !== undefined && !row.deploys.some((deploy) => deploy.action === action);
  });

/** The version that each service runs, and whether all services were read. */
interface LockReadResult {
  readonly services: readonly (readonly BroughtVersion[])[];
  readonly isWhole: boolean;
}
const NOTHING_READ: LockReadResult = { services: [], isWhole: false };

function withReplacement(
  read: readonly LockReadResult[],
  isOwn: (one: BroughtVersion) => boolean,
  good: GoodView,
): GoodView {
  for (const all of read.flatMap(({ services }) => services)) {
    const own = all.find(isOwn);
    if (own === undefined) continue;
    const found = findReplacement(all, own);
    if (found === null) {
      const { replaced: _, replacedUnknown: _unknown, ...own } = good;
      return own;
    }
    const { by, version, on, removed } = found;
    const more = { ...(on === undefined ? {} : { on }), ...(removed ? { removed } : {}) };
    return { ...good, replaced: { by, version, ...more } };
  }
  const isKnown = good.replaced !== undefined || read.every(({ isWhole }) => isWhole);
  return isKnown ? good : { ...good, replacedUnknown: true };
}

/** The version that each service of a push type runs, from the newest run of its lock. */
async function readRunningVersions(client: Client, pushType: string): Promise<LockReadResult> {
  const prefix = queryWords([`lock/${pushType}/`]);
  const services = new Map<string, readonly BroughtVersion[]>();
  let seen = 0;
  for await (const { workflowId, memo } of client.workflow.list({
    query: `WorkflowType = 'lock' AND WorkflowId STARTS_WITH ${prefix}`,
    // The record that a lock keeps of its service takes up to 256 kB.
    pageSize: 100,
  })) {
    if (seen === MOST_LOCKS) return { services: [...services.values()], isWhole: false };
    seen += 1;
    const brought = memo?.[BROUGHT_MEMO];
    if (!services.has(workflowId)) services.set(workflowId, areBrought(brought) ? brought : []);
  }
  return { services: [...services.values()], isWhole: true };
}
