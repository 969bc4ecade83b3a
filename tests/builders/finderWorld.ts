import type { PlatformFacts } from '../../domain/access/platform';
import {
  ScheduleNotFoundError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  type Client,
} from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { wallClock } from '../../activities/clock';
import { createFinderActivities } from '../../activities/finders';
import { formatIdentity, type Artifact } from '../../domain/artifact';
import type { SweepRepetition, SweepOrder, SweepSeen } from '../../domain/finder/sweepLifetime';
import { memoryAfter, type SweepMemory } from '../../domain/finder/memory';
import type { SweepOutcome } from '../../domain/finder/sweep';
import type { IndexedRelease, PipelineIndex, PipelineSubscriptions } from '../../domain/pipeline/pipelineIndex';
import type { HistoryRow, PipelineSummary } from '../../domain/views';
import type { Fetch } from '../../sdk/request';
import { parseRegistry } from '../../settings/registry';

/** Failing sweeps are part of the tests, so the worker's logs about them are suppressed. */
const QUIET = new DefaultLogger('ERROR');

/** The Temporal Schedule of the finder; null if there is none, and `silent` if Temporal does not answer. */
type FakeSchedule = 'silent' | null | { paused: boolean; taskQueue: string; order: SweepOrder; next: number[] };

/** The refusal of a submission by a pipeline. */
type Mood = 'gone' | 'held' | 'known-bad' | 'digest-changed' | 'silent';

/**
 * Pipelines, a finder and the sweep between them, in memory: the sweep is the real activity, and the pipelines only
 * record the submissions, as `submit` does.
 */
export class FinderWorld {
  readonly pipelines = new Map<string, PipelineSubscriptions>();
  /** By pipeline, or by the workflow id of a release. */
  readonly moods = new Map<string, Mood>();
  /** Histories that `pipeline-output` reads. */
  readonly histories = new Map<string, HistoryRow[]>();
  /** Every submission, `pipeline identity`, whatever its result. */
  readonly submissions: string[] = [];
  /** Releases by pipeline, as identities. */
  readonly releases = new Map<string, string[]>();
  readonly keys: string[] = [];
  /** The finders that the platform's settings list. */
  configured: string[];
  calls = 0;
  memory: SweepMemory | null = null;
  now = 1_000_000_000;
  schedule: FakeSchedule = 'silent';
  /** The access rules; without them every pipeline may use everything. */
  platform: PlatformFacts | undefined;

  constructor(
    readonly finder: string,
    private readonly fetch: Fetch,
  ) {
    this.configured = [finder];
  }

  subscribes(
    pipeline: string,
    wanted: Readonly<Record<string, unknown>>,
    artifacts = ['input'],
    owners?: string[],
  ): void {
    const subscriptions = artifacts.map((artifact) => ({ artifact, with: wanted }));
    this.pipelines.set(pipeline, { pipeline, ...(owners && { owners }), subscribedAtMs: this.now, subscriptions });
  }

  /** One sweep, as the Schedule starts it: with the result of the last one that completed. */
  async sweeps(): Promise<SweepOutcome> {
    const [environment, began] = [new MockActivityEnvironment({}, { logger: QUIET }), this.now];
    const input = { finder: this.finder, memory: this.memory, heartbeatTimeoutMs: 10_000 };
    const sweep = this.activities().sweep as (it: typeof input) => Promise<SweepOutcome>;
    const outcome = (await environment.run(sweep, input)) as SweepOutcome;
    this.memory = memoryAfter(this.memory, began, outcome);
    this.now += 60_000;
    return outcome;
  }

  /** One attempt of a workflow that sweeps repeatedly: its outcome, and the state that it leaves to the next attempt. */
  async attempt(
    lasting: SweepRepetition,
    info: { attempt: number; scheduledTimestampMs: number; heartbeatDetails: unknown },
  ): Promise<{ end: unknown; seen: SweepSeen | undefined }> {
    const environment = new MockActivityEnvironment({ ...info, taskQueue: 'conveyor' }, { logger: QUIET });
    let seen: unknown = info.heartbeatDetails;
    environment.on('heartbeat', (details: unknown) => (seen = details));
    const input = { finder: this.finder, memory: this.memory, heartbeatTimeoutMs: 10_000, lasting };
    const { sweep } = this.activities();
    const end: unknown = await environment
      .run(sweep as (it: typeof input) => Promise<unknown>, input)
      .catch((error: unknown) => error);
    return { end, seen: seen as SweepSeen | undefined };
  }

  client(): Client {
    const getHandle = (workflowId: string) => {
      const pipeline = workflowId.slice('pipeline/'.length);
      return {
        executeUpdate: async (_: string, { args: [input] }: { args: [Parameters<FinderWorld['submit']>[1]] }) =>
          this.submit(pipeline, input),
        query: async () => {
          if (this.moods.get(workflowId) === 'silent') throw new Error('no answer in time');
          const history = this.histories.get(pipeline);
          if (history === undefined) throw new WorkflowNotFoundError('no such workflow', workflowId, undefined);
          return { history };
        },
      };
    };
    const schedule = { getHandle: () => ({ describe: async () => this.describe() }) };
    return {
      workflow: { getHandle },
      schedule,
      withDeadline: (_: number, work: () => unknown) => work(),
      withAbortSignal: (_: AbortSignal, work: () => unknown) => work(),
    } as unknown as Client;
  }

  private describe(): object {
    const { schedule } = this;
    if (schedule === 'silent') throw new Error('no answer in time');
    if (schedule === null) throw new ScheduleNotFoundError('no such schedule', this.finder);
    const { paused, taskQueue, order, next } = schedule;
    const nextActionTimes = next.map((at) => new Date(at));
    return { state: { paused }, action: { taskQueue, args: [order] }, info: { nextActionTimes } };
  }

  private activities() {
    const extensions = this.configured.map((name) => ({
      name,
      kind: 'artifact-finder',
      url: `http://simulator/artifact-finders/${name}`,
    }));
    const counted: Fetch = (request, init) => {
      this.calls += 1;
      return this.fetch(request, init);
    };
    const clock = { ...wallClock, now: async () => this.now };
    return createFinderActivities({
      registry: parseRegistry({ extensions }, {}),
      clock,
      fetch: counted,
      client: this.client(),
      index: this.index(),
      ...(this.platform && { platform: () => this.platform as PlatformFacts }),
    });
  }

  private index(): PipelineIndex {
    const { pipelines } = this;
    async function* subscriptions(): AsyncGenerator<PipelineSubscriptions> {
      yield* pipelines.values();
    }
    async function* labelled(): AsyncGenerator<string> {}
    async function* releases(): AsyncGenerator<IndexedRelease> {}
    async function* listed(): AsyncGenerator<PipelineSummary> {}
    return { subscriptions, labelled, releases, pipelines: listed };
  }

  private async submit(
    pipeline: string,
    { artifacts, trigger }: { artifacts: readonly Artifact[]; trigger: { key: string } },
  ): Promise<{ number: number | null; duplicate: boolean }> {
    const identity = artifacts.map(formatIdentity).sort().join('+');
    this.submissions.push(`${pipeline} ${identity}`);
    this.keys.push(trigger.key);
    this.refuse(pipeline);
    const had = this.releases.get(pipeline) ?? [];
    const known = had.indexOf(identity);
    if (known >= 0) return { number: known + 1, duplicate: true };
    this.releases.set(pipeline, [...had, identity]);
    return { number: had.length + 1, duplicate: false };
  }

  private refuse(pipeline: string): void {
    const refused = (why: string, type: string): Error =>
      new WorkflowUpdateFailedError('refused', ApplicationFailure.nonRetryable(why, type));
    switch (this.moods.get(pipeline)) {
      case 'gone':
        throw new WorkflowNotFoundError('no such workflow', pipeline, undefined);
      case 'held':
        throw refused('it is frozen', 'invalid-state');
      case 'known-bad':
        throw refused('it was reverted', 'known-bad');
      case 'digest-changed':
        throw refused('release 1 has another digest', 'digest-changed');
      case 'silent':
        throw new Error('no answer in time');
      case undefined:
    }
  }
}
