/** The exports for extension authors. */
export { callExtension, viaApp, type ExtensionCall, type ServiceEndpoint } from './client';
export type { Fetch } from './request';
export {
  ExtensionError,
  serveActionService,
  serveArtifactFinder,
  serveDataSource,
  serveDependencyGraph,
  serveProtocol,
  servePushType,
  serveTaskController,
  serveTickets,
  type Call,
  type Implementation,
  type MutatingCall,
  type ServeOptions,
} from './server';
export * from './protocol/common';
export * from './protocol/actionService';
export * from './protocol/artifactFinder';
export * from './protocol/dataSource';
export * from './protocol/dependencyGraph';
export * from './protocol/healthService';
export * from './protocol/pushType';
export * from './protocol/taskController';
export * from './protocol/tickets';
export {
  answer,
  conversation,
  type ControllerMemory,
  type Decide,
  type OnMaintenance,
  type Situation,
} from './controllers/conversation';
export { leaderLast, type Ensemble } from './controllers/leaderLast';
export { loadAdaptive, loadOf, type LoadLimit } from './controllers/loadAdaptive';
export { shardAware, type Placement } from './controllers/shardAware';
export { createGatekeeper, type GateCounts, type Gatekeeper, type GatekeeperOptions } from './gatekeeper/gatekeeper';
export type { LaserStore } from './gatekeeper/laser';
export { gatesFromProxy } from './gatekeeper/fromProxy';
export { toFlagd } from './gatekeeper/flagd';
export { toContext, type FlagdDefinition } from '../configerator/domain/gatekeeper/flagd';
export { mixOf, whyNotMixable } from '../configerator/domain/gatekeeper/mix';
export { parseProject } from '../configerator/domain/gatekeeper/parse';
export { SLICES } from '../configerator/domain/gatekeeper/slices';
export type { GateUser, Project, Restraint, GateRule } from '../configerator/domain/gatekeeper/project';
export {
  createMobileConfig,
  mobileHash,
  type MobileConfig,
  type MobileContext,
  type MobileOptions,
  type PullAnswer,
  type PullRequest,
} from './mobile';
export {
  translate,
  whyNotSchema,
  whyNotTranslation,
  type Backends,
  type MobileSchema,
  type Translation,
} from '../configerator/domain/mobileConfig/translate';
export { concurrencyGate, type ConcurrencyGate } from './concurrency';
export { GIT_COMMIT_LIMITS, HOSTS_LIMITS, KUBERNETES_LIMITS, MOBILE_LIMITS, SLOWROLL_LIMITS } from '../domain/limits';
export { limitBody } from './bodyLimit';
export {
  checkedBy,
  sitevars,
  type SitevarChecker,
  type SitevarOptions,
  type SitevarPort,
  type SitevarReview,
  type Sitevars,
} from './sitevars';
export {
  watchConfig,
  type ConfigSchema,
  type ConfigTrouble,
  type ConfigValue,
  type WatchConfigOptions,
  type WatchedConfig,
} from './config';
export {
  watchModel,
  type Model,
  type ModelPiece,
  type ModelTrouble,
  type ModelUse,
  type WatchedModel,
  type WatchModelOptions,
} from './model';
export { localOnly } from './localOnly';
export { unitsPage } from './pages';
export { runEnded, type RunEndedOptions } from './runEnded';
export { judgeTargets, type JudgeRequest, type JudgeResponse, type Query, type UnitTasks } from './health';
export { prometheusQuery, type PrometheusOptions } from './health/prometheus';
export { remoteJudge, type RemoteJudge, type RemoteJudgeOptions } from './health/remote';
export { tasksOf } from '../domain/fleet/amount';
export { defineConfig, defineConfigs, invariant } from './defineConfig';
export { definePipeline } from '../domain/spec/written';
