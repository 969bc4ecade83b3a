import { DEPLOYMENT } from './taskQueues';

/** A build of workers; null stands for workers without one. */
export type Build = string | null;

/** Workflow types that outlive an upgrade of workers: each step runs on the build that is current then. */
export const FOLLOWING_TYPES = [
  'artifactSweep',
  'bugs',
  'landing',
  'lock',
  'offers',
  'pipeline',
  'signOut',
  'snapshot',
] as const;
/** Workflow types that stay on the build that began them. */
type StayingType = 'deploy' | 'examination' | 'fanOut' | 'fanOutShard' | 'freshness' | 'release';

export type WorkflowType = (typeof FOLLOWING_TYPES)[number] | StayingType;

export const followsBuilds = (type: string): boolean => FOLLOWING_TYPES.some((following) => following === type);

/** The missing worker, as lists and messages name it; without a build if workers have none. */
export const noWorkerWords = (build?: Build): string =>
  build === undefined ? 'no worker' : build === null ? 'no worker without a build' : `no worker of build ${build}`;

/** The command that starts that worker. */
export const workerCommand = (build?: Build): string =>
  build === undefined
    ? 'conveyor worker'
    : build === null
      ? 'conveyor worker, without --build'
      : `conveyor worker --build ${build}`;

/** The command that gives new work to workers of that build. */
export const currentBuildCommand = (build: Build): string =>
  `temporal worker deployment set-current-version --deployment-name ${DEPLOYMENT} ${build === null ? '--unversioned' : `--build-id ${build}`} --yes`;

/** Workflows whose next step belongs to a build that they should not wait for. */
export interface StuckOnBuild {
  readonly build: string;
  /** Whether a worker of this build polls; if so, only workflows that should follow the current build count. */
  readonly isPolled: boolean;
  readonly count: number;
  /** A few workflow ids. */
  readonly some: readonly string[];
}

/** Workers with builds at one task queue, as Temporal knows them. */
export interface BuildsView {
  readonly taskQueue: string;
  /** The build that gets new work. */
  readonly current: Build;
  /** The builds with workers that poll. */
  readonly polled: readonly Build[];
  readonly stuck: readonly StuckOnBuild[];
}
