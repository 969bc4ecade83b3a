import type { Context } from 'hono';
import { lastKnownHistory, lastKnownStatus, type Stale } from '../client/lastKnown';
import { ConveyorError } from '../domain/errors';
import type { FrontClient } from './deps';
import { RETRY_AFTER } from './failures';

/** The operations that tell a status. */
export type StatusReader = Pick<FrontClient, 'status' | 'listPipelines' | 'listReleases' | 'listDeploys'>;

/** `status`, or the last known state if no worker answers, marked with `live: false`. */
export const statusOrLastKnown = (c: Context, client: StatusReader, id: string): Promise<object> =>
  askOrLastKnown(
    c,
    () => client.status(id),
    (problem) => lastKnownStatus(client, id, problem),
  );

/** As `statusOrLastKnown`; every row is marked. */
export const historyOrLastKnown = (c: Context, client: FrontClient, pipeline: string): Promise<object> =>
  askOrLastKnown(
    c,
    () => client.history(pipeline),
    async (problem) => {
      const rows = await lastKnownHistory(client, pipeline, problem);
      return rows.length === 0 ? undefined : rows;
    },
  );

/** Answers readers with the last known state if no worker answers. Without such a state, or with `?live=true`, the error is returned. */
async function askOrLastKnown(
  c: Context,
  ask: () => Promise<object>,
  known: (problem: string) => Promise<Stale | readonly Stale[] | undefined>,
): Promise<object> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof ConveyorError) || error.code !== 'no-worker' || c.req.query('live') === 'true') throw error;
    // Listing needs no worker, so if it fails too, its error is the real one.
    const stale = await known(error.message);
    if (stale === undefined) throw error;
    c.header('retry-after', RETRY_AFTER);
    return stale;
  }
}
