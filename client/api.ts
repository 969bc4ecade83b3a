import type { Artifact } from '../domain/artifact';
import type { FreshnessReport } from '../domain/freshness/report';
import type { Bug, BugClose, BugReport } from '../domain/bugs/bug';
import type { PipelineDocument } from '../domain/pipeline/document';
import type { ScriptLog } from '../domain/scriptLog';
import type { CommandInput, CommandReceipt, Verb } from '../domain/verbs';
import type { PipelineSpec } from '../domain/spec/pipeline';
import type {
  DeployStatus,
  DeploySummary,
  FinderView,
  HistoryRow,
  PipelineStatus,
  PipelineSummary,
  ReleaseStatus,
  ReleaseSummary,
  Trigger,
} from '../domain/views';

/**
 * Everything that a program may do with Conveyor; the command line and the server are written against it.
 * Each operation that changes something names its actor, whom the caller has to know; `permitted` is for the guard (client/guard.ts).
 * Every operation throws `ConveyorError` (domain/errors.ts): `unknown-…`, `not-permitted`, `invalid-state`,
 * `temporal-unreachable`, `no-worker`, …
 *
 * `createClient` (client/index.ts) speaks to Temporal and believes the actor that it is given; `createHttpClient` (client/http/client.ts)
 * speaks to `conveyor server`, which knows by the token who acts, so that an `actor` given here counts for nothing.
 */
export interface ConveyorClient {
  /**
   * Creates the pipeline or changes its spec; one whose workflow has ended continues with its numbers and records.
   * @throws `config-rejected` if a push type refuses a config that is new
   */
  apply(spec: PipelineSpec, actor: string, permitted?: string): Promise<PipelineApplied>;
  /** All that a pipeline remembers, also of one whose workflow has ended. */
  exportPipeline(pipeline: string): Promise<PipelineDocument>;
  /** Puts exported records back. @throws `invalid-state` over a pipeline that has come further */
  importPipeline(document: PipelineDocument, actor: string, permitted?: string): Promise<PipelineApplied>;
  spec(pipeline: string): Promise<PipelineSpec>;
  /**
   * The same key, or the same artifacts from a finder or webhook, give the same release. `passedOver` says which inputs that are left out
   * are taken in another version than the latest, since that failed.
   */
  release(
    pipeline: string,
    artifacts: readonly Artifact[],
    trigger: Trigger,
  ): Promise<{ id: string; number: number; duplicate: boolean; passedOver?: readonly string[] }>;
  /**
   * What a finder or a webhook brings: a release once every artifact of the pipeline has a value and one is new. `id` is null
   * while others are missing, and for a pipeline whose releases a person starts.
   */
  submit(
    pipeline: string,
    artifacts: readonly Artifact[],
    trigger: Trigger,
  ): Promise<{ id: string | null; number: number | null; duplicate: boolean }>;
  /** An emergency push: that deploy only, now, ahead of the queue (docs/design/deploy.md#emergency-push); or after `approvals` by other owners. */
  push(
    pipeline: string,
    action: string,
    artifacts: readonly Artifact[],
    push: EmergencyPush,
  ): Promise<{ id: string; number: number; duplicate: boolean; approvals?: number }>;
  /** A new release of what one that failed or was cancelled was given; what had succeeded in it is carried over. @throws `not-rerunnable` */
  rerun(pipeline: string, number: number, rerun: Rerun): Promise<{ id: string; number: number; duplicate: boolean }>;
  status(id: string): Promise<PipelineStatus | ReleaseStatus | DeployStatus>;
  listPipelines(query: ListQuery): Promise<PipelineSummary[]>;
  listReleases(query: ListQuery): Promise<ReleaseSummary[]>;
  listDeploys(query: ListQuery): Promise<DeploySummary[]>;
  /** How every finder stands of which some worker ever swept. */
  listFinders(): Promise<FinderView[]>;
  /** Which pipelines have not been deployed for long, worst first. */
  freshness(): Promise<FreshnessReport>;
  history(pipeline: string): Promise<HistoryRow[]>;
  /** What an action of a release wrote, or where its service shows that; of its newest attempt unless another is asked for. */
  logs(id: string, attempt?: number): Promise<ActionLogs>;
  /** Sends a verb to a pipeline, release or deploy, whichever the verb and the id mean, and waits for its acknowledgement. */
  command(id: string, verb: Verb, input: CommandInput): Promise<CommandReceipt & { id: string }>;
  /** From then on nothing that contains it deploys; what contains it already is searched for. The same twice is one. */
  reportBug(report: BugReport, actor: string): Promise<Bug>;
  /** @throws `unknown-bug` */
  closeBug(close: BugClose, actor: string): Promise<Bug>;
  /** Newest first. */
  listBugs(): Promise<readonly Bug[]>;
  /** For a service which says that a run of its has ended: whoever follows the run looks at once. */
  lookNow(runId: string): Promise<LookNow>;
  /** Whether what everything else here needs is there; answers within a few seconds and never throws. */
  readiness(): Promise<readonly ReadinessPart[]>;
  close(): Promise<void>;
}

export interface ActionLogs {
  readonly id: string;
  readonly attempt: number;
  /** Nothing more comes of this attempt. */
  readonly ended: boolean;
  /** One; of a deploy all that it ran around its phases, in order. */
  readonly runs: readonly RunLog[];
}

/** A script, or a run of an action service. */
export interface RunLog {
  readonly run: string;
  /** `load-test, attempt 2`, `half: before the updates: ./shift.sh` */
  readonly title: string;
  readonly state: 'running' | 'succeeded' | 'failed' | 'cancelled';
  readonly message: string | null;
  /** Where its service shows more. */
  readonly url: string | null;
  /** Null of a service, and while a script has not begun. */
  readonly log: ScriptLog | null;
}

/**
 * What came of looking at once: it does; a look is under way, which may have asked too early; nobody follows the run, or nobody
 * waits; the Temporal server has no such call.
 */
export type LookNow = 'looks' | 'busy' | 'nobody' | 'unsupported';

/** Something that every operation needs. */
export interface ReadinessPart {
  readonly name: 'server' | 'temporal' | 'worker' | 'writes';
  readonly ok: boolean;
  readonly detail: string;
}

export interface PipelineApplied {
  readonly created: boolean;
  /** The spec that it replaced. */
  readonly previous: PipelineSpec | null;
  /** Its workflow had ended: the release after which its numbers continue, and whether its records could still be read. */
  readonly continued?: { readonly after: number; readonly books: boolean };
  /** In words: configs that no push type could check, and those that it refuses and the pipeline had before. */
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
  /** How it was asked for: by hand without it. */
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
