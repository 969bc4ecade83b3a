import type { Artifact } from '../domain/artifact';
import type { FeatureClient } from './featureApi';
import type { PipelineDocument } from '../domain/pipeline/document';
import type { ScriptLog } from '../domain/scriptLog';
import type { CommandInput, CommandReceipt, Verb } from '../domain/verbs';
import type { PipelineSpec } from '../domain/spec/pipeline';
import type {
  DeployStatus,
  DeploySummary,
  FinderView,
  HistoryRow,
  OfferList,
  PipelineOffers,
  PipelineStatus,
  PipelineSummary,
  ReleaseStatus,
  ReleaseSummary,
  Trigger,
} from '../domain/views';
import type { WhereQuery, WhereView } from '../domain/where/view';

/**
 * All operations for programs; the command line and the server are written against it. Each changing operation names
 * its actor, whom the caller must have authenticated; `permitted` is for the guard (client/guard.ts). Every operation
 * throws `ConveyorError` (domain/errors.ts): `unknown-…`, `not-permitted`, `invalid-state`, `temporal-unreachable`,
 * `no-worker`, …
 *
 * `createClient` (client/index.ts) talks to Temporal and trusts the given actor; `createHttpClient`
 * (client/http/client.ts) talks to `conveyor server`, which identifies the actor by the token and ignores an `actor`
 * given here.
 */
export interface ConveyorClient extends FeatureClient {
  /**
   * Creates the pipeline or changes its spec; one whose workflow has ended continues with its numbers and records.
   * @throws `config-rejected` if a push type refuses a new config
   */
  apply(spec: PipelineSpec, actor: string, permitted?: string): Promise<PipelineApplyResult>;
  /** All records of a pipeline, even after its workflow has ended. */
  exportPipeline(pipeline: string): Promise<PipelineDocument>;
  /** Restores exported records. @throws `invalid-state` if the pipeline is ahead of them */
  importPipeline(document: PipelineDocument, actor: string, permitted?: string): Promise<PipelineApplyResult>;
  spec(pipeline: string): Promise<PipelineSpec>;
  /**
   * The same key, or the same artifacts from a finder or webhook, give the same release. `passedOver` lists omitted
   * inputs that use an older version because the latest failed.
   */
  release(
    pipeline: string,
    artifacts: readonly Artifact[],
    trigger: Trigger,
  ): Promise<{ id: string; number: number; duplicate: boolean; passedOver?: readonly string[] }>;
  /**
   * Submits artifacts from a finder or a webhook: starts a release once every artifact of the pipeline has a value and
   * one is new. `id` is null while others are missing, and if a person starts the pipeline's releases.
   */
  submit(
    pipeline: string,
    artifacts: readonly Artifact[],
    trigger: Trigger,
  ): Promise<{ id: string | null; number: number | null; duplicate: boolean }>;
  /**
   * An emergency push: only that deploy, now and ahead of the queue (docs/design/deploy.md#emergency-push), or after
   * `approvals` by other owners.
   */
  push(
    pipeline: string,
    action: string,
    artifacts: readonly Artifact[],
    push: EmergencyPush,
  ): Promise<{ id: string; number: number; duplicate: boolean; approvals?: number }>;
  /**
   * A new release with the inputs of a failed or cancelled one; actions that succeeded are carried over. @throws
   * `not-rerunnable`
   */
  rerun(pipeline: string, number: number, rerun: Rerun): Promise<{ id: string; number: number; duplicate: boolean }>;
  status(id: string): Promise<PipelineStatus | ReleaseStatus | DeployStatus>;
  listPipelines(query: ListQuery): Promise<PipelineSummary[]>;
  listReleases(query: ListQuery): Promise<ReleaseSummary[]>;
  listDeploys(query: ListQuery): Promise<DeploySummary[]>;
  /** The releases that contain a revision, and how far each is. @throws `usage` for a text that is no revision */
  where(query: WhereQuery): Promise<WhereView>;
  /** The state of every finder that a worker has ever swept. */
  listFinders(): Promise<FinderView[]>;
  /** The offers of all pipelines, by name, and the pipelines that do not say. */
  listOffers(query: OfferQuery): Promise<OfferList>;
  /** The offers of a pipeline, with their values and users. */
  offers(pipeline: string): Promise<PipelineOffers>;
  history(pipeline: string): Promise<HistoryRow[]>;
  /** The output of an action, or its page at its service; of the newest attempt unless another is requested. */
  logs(id: string, attempt?: number): Promise<ActionLogs>;
  /** Sends a verb to a pipeline, release or deploy, whichever the verb and the id mean, and waits for its acknowledgement. */
  command(id: string, verb: Verb, input: CommandInput): Promise<CommandReceipt & { id: string }>;
  /** For a service that reports the end of a run: the run's workflow checks it at once. */
  lookNow(runId: string): Promise<LookNow>;
  /** Whether the dependencies of all operations are available; answers within a few seconds and never throws. */
  readiness(): Promise<readonly ReadinessPart[]>;
  close(): Promise<void>;
}

export interface ActionLogs {
  readonly id: string;
  readonly attempt: number;
  /** The attempt has ended: no more output will come. */
  readonly ended: boolean;
  /** One run; for a deploy, all runs around its phases, in order. */
  readonly runs: readonly RunLog[];
}

/** A script, or a run of an action service. */
export interface RunLog {
  readonly run: string;
  /** `load-test, attempt 2`, `half: before the updates: ./shift.sh` */
  readonly title: string;
  readonly state: 'running' | 'succeeded' | 'failed' | 'cancelled';
  readonly message: string | null;
  /** The page of the run at its service. */
  readonly url: string | null;
  /** Null for a service, and until a script begins. */
  readonly log: ScriptLog | null;
}

/**
 * The result of `lookNow`: a look begins; one is already running, perhaps too early; no workflow follows the run, or
 * none waits; or the Temporal server lacks the call.
 */
export type LookNow = 'looks' | 'busy' | 'nobody' | 'unsupported';

/** A dependency of every operation. */
export interface ReadinessPart {
  readonly name: 'server' | 'temporal' | 'worker' | 'writes';
  readonly ok: boolean;
  readonly detail: string;
}

export interface PipelineApplyResult {
  readonly created: boolean;
  /** The spec that it replaced. */
  readonly previous: PipelineSpec | null;
  /** Its workflow had ended: the release after which its numbers continue, and whether its records could still be read. */
  readonly continued?: { readonly after: number; readonly books: boolean };
  /** Notes about configs that no push type could check, or that it refuses but the pipeline had before; of an import: about offers. */
  readonly configNotes?: readonly string[];
}

export interface EmergencyPush {
  readonly actor: string;
  readonly reason: string;
  /** Judge the phases while they are updated, but do not let them bake. */
  readonly skipBake?: boolean;
  /** The same key gives the same release. */
  readonly key?: string;
  readonly permitted?: string;
}

export interface Rerun {
  readonly actor: string;
  /** The kind of trigger; `manual` by default. */
  readonly kind?: 'manual' | 'api';
  readonly reason?: string | undefined;
  /** The same key gives the same release. */
  readonly key?: string | null | undefined;
  readonly permitted?: string;
}

export interface ListQuery {
  readonly pipeline?: string;
  readonly state?: string;
  readonly limit: number;
}

export interface OfferQuery {
  /** Only offers for this pipeline. */
  readonly to?: string;
  readonly limit: number;
}
