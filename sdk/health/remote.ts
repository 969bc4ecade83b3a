import { redactUrl } from '../../domain/redactUrl';
import { callExtension } from '../client';
import type { Fetch } from '../request';
import { createErroredResponse, type JudgeRequest, type JudgeResponse } from '../health';
import type { CallContext } from '../protocol/common';
import { healthServiceProtocol } from '../protocol/healthService';

/** Options of `remoteJudge`: the address of a Health Check Service (docs/reference/health.md#the-health-check-service). */
export interface RemoteJudgeOptions {
  /** The URL of `conveyor hcs`: `http://localhost:4600`. */
  readonly url: string;
  /** Sent as a bearer token. */
  readonly token?: string;
  /** Longest wait for the verdicts. Default 10 s. */
  readonly timeoutMs?: number;
  /** The data source for checks that name none: the store of this fleet, by its name in the service's configuration. */
  readonly source?: string;
  /** Default: that of Node. */
  readonly fetch?: Fetch;
}

/** Judges tasks on behalf of the caller in the context. */
export type RemoteJudge = (
  request: Omit<JudgeRequest, 'query' | 'deadlineMs'>,
  call: { readonly context: CallContext },
) => Promise<JudgeResponse>;

const REMOTE_JUDGE_TIMEOUT_MS = 10_000;

/**
 * As `judgeTargets`, but judged by the Health Check Service: in `runHealthChecks`, a push type only resolves its
 * targets to task identifiers. Never rejects: if the service is gone, slow or broken, every check is `errored`.
 */
export function remoteJudge({ url, token, timeoutMs, source, fetch }: RemoteJudgeOptions): RemoteJudge {
  const service = {
    name: 'hcs',
    url,
    timeoutMs: timeoutMs ?? REMOTE_JUDGE_TIMEOUT_MS,
    ...(token === undefined ? {} : { token }),
  };
  const via = fetch === undefined ? {} : { fetch };
  return async ({ targets, checks, baseline, now, intervalMs }, { context }) => {
    const units = targets.map(({ id, fresh, updated, control, before }) => ({
      ...{ id, updated },
      ...{ fresh: [...fresh], control: [...control], before: [...before] },
    }));
    const request = { targets: units, checks: [...checks], baseline, now, intervalMs, source };
    try {
      return await callExtension({
        service,
        protocol: healthServiceProtocol,
        method: 'evaluate',
        request,
        context,
        ...via,
      });
    } catch (error) {
      return createErroredResponse(
        { targets, checks, now, intervalMs },
        `at ${redactUrl(url)}: ${(error as Error).message}`,
      );
    }
  };
}
