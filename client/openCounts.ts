import { DEPLOY_STATES } from '../domain/deploy/spans';
import type { OpenCount } from '../domain/metrics';
import type { Temporal } from './connection';

const RUNNING = DEPLOY_STATES.filter((state) => state !== 'ended');

/**
 * Running workflows by state, from Temporal's lists: a dozen counts, however many workflows there are. A paused deploy
 * counts only as paused.
 */
export function openCounts({ client }: Pick<Temporal, 'client'>): Promise<OpenCount[]> {
  const count = async (kind: OpenCount['kind'], state: string, condition: string): Promise<OpenCount> => {
    const query = `WorkflowType = '${kind}' AND ExecutionStatus = 'Running'${condition}`;
    return { kind, state, count: (await client.workflow.count(query)).count };
  };
  const isState = (state: string): string => ` AND ConveyorState = '${state}'`;
  return Promise.all([
    count('pipeline', '', ''),
    ...['running', 'paused'].map((state) => count('release', state, isState(state))),
    ...RUNNING.map((state) => count('deploy', state, isState(state))),
    count('deploy', 'paused', ` AND ConveyorState STARTS_WITH 'paused'`),
  ]);
}
