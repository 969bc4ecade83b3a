import { judgeTargets, type JudgeRequest, type JudgeResponse } from '../../sdk/health';
import { remoteJudge, type RemoteJudge, type RemoteJudgeOptions } from '../../sdk/health/remote';
import type { Call } from '../../sdk/server';
import { askInside, type InsideWait } from '../httpFaults';
import { metricWorld } from '../metrics/series';
import { queryMetrics } from '../metrics/store';
import type { Simulation } from '../simulation';

/** Checks may call the fleet's own metric store by this name; they need not. */
const STORE = 'metrics';

/** The judge of the fleet's tasks: the push type itself, or the Health Check Service if there is one. */
export type FleetJudge = (request: Omit<JudgeRequest, 'query' | 'deadlineMs'>, call: Call) => Promise<JudgeResponse>;

export type FleetJudgeOptions = Omit<RemoteJudgeOptions, 'source'>;

/** How long it waits for an answer of the store. */
const STORE_DEADLINE_MS = 10_000;

export function fleetJudge(
  simulation: Simulation,
  service: FleetJudgeOptions | undefined,
  sleep: InsideWait['sleep'],
): FleetJudge {
  const waiting = { sleep, deadlineMs: STORE_DEADLINE_MS };
  if (service === undefined)
    return (request) =>
      judgeTargets({ ...request, query: ownStore(simulation, waiting), deadlineMs: STORE_DEADLINE_MS });
  const judge: RemoteJudge = remoteJudge({ ...service, source: STORE });
  return judge;
}

const ownStore =
  (simulation: Simulation, waiting: InsideWait): JudgeRequest['query'] =>
  async (query, { source }) => {
    if (source !== undefined && source !== STORE)
      throw new Error(`the fleet has no data source ${source}, only ${STORE}`);
    const answer = () => ({ series: queryMetrics(metricWorld(simulation), simulation.world.now, query) });
    return askInside(simulation, 'data-source', 'query', answer, waiting);
  };
