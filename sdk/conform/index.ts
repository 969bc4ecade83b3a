/** The suites with which extension authors test a service: all obligations of its kind, by name. */
export { conform, type ConformReport, type Live, type RunOptions } from './run';
export { tryCheck, type ConformCheck, type CheckOutcome } from './check';
export type { Exchange, Reachable } from './conversation';
export { livePushType, type LivePushType } from './live/pushType';
export {
  liveActionService,
  liveArtifactFinder,
  liveDataSource,
  liveDependencyGraph,
  liveHealthService,
  liveTaskController,
  liveTickets,
} from './live/others';
export { inRealTime, type LiveSettings } from './live/liveTime';
export { ACTION_SERVICE_CHECKS, type ActionServiceSubject } from './actionService';
export { ARTIFACT_FINDER_CHECKS, type ArtifactFinderSubject } from './artifactFinder';
export { DATA_SOURCE_CHECKS, type DataSourceSubject } from './dataSource';
export { DEPENDENCY_GRAPH_CHECKS, type DependencyGraphSubject } from './dependencyGraph';
export { HEALTH_SERVICE_CHECKS, type HealthServiceSubject } from './healthService';
export { PUSH_TYPE_CHECKS } from './pushType/suite';
export type { PushTypeSubject } from './pushType/world';
export { TASK_CONTROLLER_CHECKS, type TaskControllerSubject } from './taskController';
export { TICKET_CHECKS, type TicketSubject } from './tickets';
