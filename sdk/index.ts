/** What an extension author imports. */
export { callExtension, viaApp, type ExtensionCall, type Fetch, type ServiceEndpoint } from './client';
export {
  ExtensionError,
  serveActionService,
  serveArtifactFinder,
  serveDataSource,
  serveProtocol,
  servePushType,
  serveTaskController,
  type Call,
  type Implementation,
  type MutatingCall,
  type ServeOptions,
} from './server';
export * from './protocol/common';
export * from './protocol/actionService';
export * from './protocol/artifactFinder';
export * from './protocol/dataSource';
export * from './protocol/pushType';
export * from './protocol/taskController';
export { judgeTargets, type JudgeRequest, type JudgeResponse, type Query, type UnitTasks } from './health';
