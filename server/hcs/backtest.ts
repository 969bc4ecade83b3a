import type { ConveyorClient } from '../../client';
import { pastDeploys, type PastDeploys } from '../../client/pastDeploys';
import { ConveyorError } from '../../domain/errors';
import { listDeployActions, type NamedDeploy } from '../../domain/spec/deployActions';
import { drawBacktest } from '../../domain/health/plot';
import type { Fetch } from '../../sdk/request';
import { backtestChecks } from '../../sdk/health/backtest';
import { pastTicks } from '../../sdk/health/pastTicks';
import type { backtestMethod } from '../../sdk/protocol/backtest';
import type { RequestOf, ResponseOf } from '../../sdk/protocol/common';
import type { Registry } from '../../settings/registry';
import { ExtensionError } from '../../sdk/server';

/** Access to past deploys in Temporal, and to their data through their push types. */
export interface PastAccess {
  /** Connects to Temporal; each backtest has its own client, so that the service needs none in between. */
  readonly connect: () => Promise<ConveyorClient>;
  readonly registry: Pick<Registry, 'find'>;
  /** ms since the epoch. */
  readonly now: () => number;
  /** Reaches push types; the network by default. */
  readonly fetch?: Fetch;
}

type BacktestInput = RequestOf<typeof backtestMethod>;

/** `POST /backtest`. Throws `ExtensionError` with the code of the problem; it is retryable if a retry may help. */
export async function runBacktest(
  past: PastAccess,
  request: BacktestInput,
): Promise<ResponseOf<typeof backtestMethod>> {
  try {
    const { check, labels, since } = request;
    const sinceMs = 'at' in since ? since.at : past.now() - since.ago;
    const { deploys, lost } = await deploysFor(past, request, sinceMs);
    const ask = (deploy: (typeof deploys)[number]) =>
      pastTicks(deploy, [check], past.registry.find('push-type', deploy.pushType), { fetch: past.fetch });
    const [answer] = await backtestChecks({ checks: [check], deploys, labels, ask });
    if (answer === undefined) throw new Error('no answer for the check');
    return { ...answer, plot: drawBacktest(answer), lost };
  } catch (error) {
    if (!(error instanceof ConveyorError)) throw error;
    const { code, message, retryable } = error;
    throw new ExtensionError(code, message, { retryable, ...(code.startsWith('unknown-') ? { status: 404 } : {}) });
  }
}

async function deploysFor(
  { connect }: PastAccess,
  { check, pipeline }: BacktestInput,
  sinceMs: number,
): Promise<PastDeploys> {
  const client = await connect();
  try {
    const names =
      pipeline === undefined ? (await client.listPipelines({ limit: MOST_PIPELINES })).map(({ id }) => id) : [pipeline];
    const found: PastDeploys[] = [];
    for (const name of names) {
      const spec = await client.spec(name);
      for (const action of listDeployActions(spec))
        if (pipeline !== undefined || hasCheck(action, check.name))
          found.push(await pastDeploys(client, spec, action, sinceMs));
    }
    return { deploys: found.flatMap(({ deploys }) => deploys), lost: found.flatMap(({ lost }) => lost) };
  } finally {
    await client.close().catch(() => undefined);
  }
}

const MOST_PIPELINES = 1_000;

const hasCheck = ([, action]: NamedDeploy, name: string): boolean =>
  action.with.healthChecks.some((check) => check.name === name);
