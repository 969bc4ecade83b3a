import { DEPLOYMENT } from './taskQueues';

/** A build of workers; null stands for workers without one. */
export type Build = string | null;

/** Types of workflows that live on when workers are upgraded: each step is for the build that is current then. */
export const FOLLOWING_TYPES = ['artifactSweep', 'bugs', 'landing', 'lock', 'pipeline', 'snapshot'] as const;
/** Types that end on the build that began them. */
type StayingType = 'deploy' | 'examination' | 'fanOut' | 'fanOutShard' | 'freshness' | 'release';

export type WorkflowType = (typeof FOLLOWING_TYPES)[number] | StayingType;

export const followsBuilds = (type: string): boolean => FOLLOWING_TYPES.some((following) => following === type);

/** As lists and messages name the missing worker; undefined if workers have no builds. */
export const noWorkerWords = (build?: Build): string =>
  build === undefined ? 'no worker' : build === null ? 'no worker without a build' : `no worker of build ${build}`;

/** The command that starts that worker. */
export const workerCommand = (build?: Build): string =>
  build === undefined
    ? 'conveyor worker'
    : build === null
      ? 'conveyor worker, without --build'
      : `conveyor worker --build ${build}`;

/** The command that lets workers of that build have new work. */
export const currentBuildCommand = (build: Build): string =>
  `temporal worker deployment set-current-version --deployment-name ${DEPLOYMENT} ${build === null ? '--unversioned' : `--build-id ${build}`} --yes`;

/** Workflows whose next step is for a build that they should not wait for. */
export interface StuckOnBuild {
  readonly build: string;
  /** Whether a worker of it polls; then only workflows that should follow the current build count. */
  readonly isPolled: boolean;
  readonly count: number;
  /** A few ids of workflows. */
  readonly some: readonly string[];
}

/** Workers with builds at one task queue, as Temporal knows them. */
export interface BuildsView {
  readonly taskQueue: string;
  /** Gets what is new. */
  readonly current: Build;
  /** The builds with workers that poll. */
  readonly polled: readonly Build[];
  readonly stuck: readonly StuckOnBuild[];
}
