import type { PipelineSpec } from '../domain/spec/pipeline';
import type {
  DeployStatus,
  PipelinePage,
  PipelineStatus,
  PipelineSummary,
  ReleaseStatus,
  ReleaseSummary,
  WaitView,
} from '../domain/views';

/** The models of pages: answers of the API, put together. */

/** A release of a list, with its actions if its workflow answered in time. */
export interface ListedRelease {
  readonly release: ReleaseSummary;
  readonly status: ReleaseStatus | null;
}

export interface HomeModel {
  /** Releases that wait for the reader; null while the server does not know the reader. */
  readonly forViewer: readonly ListedRelease[] | null;
  /** Releases that have not ended, newest first. */
  readonly underWay: readonly ListedRelease[];
  /** Held and frozen pipelines. */
  readonly stopped: readonly PipelineSummary[];
  /** Releases that failed within a day, newest first. */
  readonly failed: readonly ListedRelease[];
  /** Whether there is no pipeline at all. */
  readonly isEmpty: boolean;
}

/** The filters of the list of pipelines; an empty text filters nothing. */
export interface PipelineFilters {
  readonly q: string;
  readonly owner: string;
  readonly label: string;
  readonly state: string;
}

export interface PipelinesModel extends PipelinePage {
  readonly filters: PipelineFilters;
  /** The page is not the first one. */
  readonly isLater: boolean;
}

/** A part of a page that old information may lack. */
export interface MaybeStale {
  /** Why the information is old; null if it is present. */
  readonly stale: string | null;
}

export interface PipelineModel extends MaybeStale {
  readonly pipeline: PipelineStatus;
  /** Its file; null if its workflow did not answer in time. */
  readonly spec: PipelineSpec | null;
  /** The newest releases whose workflows answered in time, newest first. */
  readonly newest: readonly ReleaseStatus[];
  /** The deploys of the newest release. */
  readonly deploys: readonly DeployStatus[];
}

export interface ReleaseModel extends MaybeStale {
  readonly release: ReleaseStatus;
  readonly waits: readonly WaitView[];
  readonly deploys: readonly DeployStatus[];
}

export interface DeployModel extends MaybeStale {
  readonly deploy: DeployStatus;
}

/** A failure, in the words of the API. */
export interface ProblemModel {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly hint: string;
  readonly retryable: boolean;
}
