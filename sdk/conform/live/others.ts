import { actionServiceProtocol } from '../../protocol/actionService';
import { ACTION_SERVICE_CHECKS, type ActionServiceSubject } from '../actionService';
import { ARTIFACT_FINDER_CHECKS, type ArtifactFinderSubject } from '../artifactFinder';
import { BrokenRuleError } from '../check';
import { Conversation, type Reachable } from '../conversation';
import { DATA_SOURCE_CHECKS, type DataSourceSubject } from '../dataSource';
import { DEPENDENCY_GRAPH_CHECKS, type DependencyGraphSubject } from '../dependencyGraph';
import { HEALTH_SERVICE_CHECKS, type HealthServiceSubject } from '../healthService';
import type { Live } from '../run';
import { TASK_CONTROLLER_CHECKS, type TaskControllerSubject } from '../taskController';
import { TICKET_CHECKS, type TicketSubject } from '../tickets';
import { POLL_MS } from './pushType';
import type { LiveSettings } from './liveTime';

const CONFORM_CONTEXT = { pipeline: 'conform', release: 0, deployId: 'conform', actor: 'user:alice', config: {} };

/** An action service at any address; each run of the suite uses run ids that no other uses. */
export function liveActionService(
  options: Omit<ActionServiceSubject, 'runs' | 'settle'> & LiveSettings,
): Live<ActionServiceSubject> {
  const progress = async (runId: string): Promise<string> => {
    const asked = { protocol: actionServiceProtocol, method: 'getRunProgress', request: { runId } } as const;
    return (await new Conversation(options).ask({ ...asked, context: CONFORM_CONTEXT })).state;
  };
  const settle = async (runId: string): Promise<void> => {
    for (const deadline = options.now() + options.settleMs; ; await options.sleep(POLL_MS)) {
      if ((await progress(runId)) !== 'running') return;
      if (options.now() > deadline)
        throw new BrokenRuleError(`after ${options.settleMs / 1000} s getRunProgress still says running`);
    }
  };
  return {
    ...{ kind: 'action-service', checks: ACTION_SERVICE_CHECKS, prepares: 'getRunProgress' },
    prepare: async (nth) => {
      await ensureReachable(options, 'getRunProgress');
      return { ...options, settle, runs: `conform-${options.nonce}/${nth + 1}/build` };
    },
  };
}

/** Creates the suite for an artifact finder at any address, for `conform` to run. */
export function liveArtifactFinder(subject: ArtifactFinderSubject): Live<ArtifactFinderSubject> {
  return {
    ...{ kind: 'artifact-finder', checks: ARTIFACT_FINDER_CHECKS, prepares: 'getArtifacts' },
    prepare: () => ensureReachable(subject, 'getArtifacts'),
  };
}

/** Each check uses different operations, since the controller remembers them. */
export function liveTaskController(
  subject: Omit<TaskControllerSubject, 'ops'> & Pick<LiveSettings, 'nonce'>,
): Live<TaskControllerSubject> {
  return {
    ...{ kind: 'task-controller', checks: TASK_CONTROLLER_CHECKS, prepares: 'process' },
    prepare: async (nth) => ({
      ...(await ensureReachable(subject, 'process')),
      ops: `conform-${subject.nonce}/${nth}`,
    }),
  };
}

/** Creates the suite for a data source at any address, for `conform` to run. */
export function liveDataSource(subject: DataSourceSubject): Live<DataSourceSubject> {
  return {
    ...{ kind: 'data-source', checks: DATA_SOURCE_CHECKS, prepares: 'query' },
    prepare: () => ensureReachable(subject, 'query'),
  };
}

/** Creates the suite for a dependency graph at any address, for `conform` to run. */
export function liveDependencyGraph(subject: DependencyGraphSubject): Live<DependencyGraphSubject> {
  return {
    ...{ kind: 'dependency-graph', checks: DEPENDENCY_GRAPH_CHECKS, prepares: 'getDependents' },
    prepare: () => ensureReachable(subject, 'getDependents'),
  };
}

/** Creates the suite for a Health Check Service at any address, for `conform` to run. */
export function liveHealthService(subject: HealthServiceSubject): Live<HealthServiceSubject> {
  return {
    ...{ kind: 'health-service', checks: HEALTH_SERVICE_CHECKS, prepares: 'evaluate' },
    prepare: () => ensureReachable(subject, 'evaluate'),
  };
}

/** Each run of the suite uses ticket keys that no other uses. */
export function liveTickets(subject: Omit<TicketSubject, 'keys'> & Pick<LiveSettings, 'nonce'>): Live<TicketSubject> {
  return {
    ...{ kind: 'tickets', checks: TICKET_CHECKS, prepares: 'closeTicket' },
    prepare: async (nth) => ({
      ...(await ensureReachable(subject, 'closeTicket')),
      keys: `conform-${subject.nonce}/${nth}`,
    }),
  };
}

/** Returns the subject once its service has answered. @throws BrokenRuleError */
async function ensureReachable<S extends Reachable>(subject: S, method: string): Promise<S> {
  const talk = new Conversation(subject);
  if ((await talk.post(method, '{')) !== null) return subject;
  throw new BrokenRuleError(`${method}: ${talk.calls[0]?.answer ?? 'no answer'}`);
}
