import type { Context } from 'hono';
import type { FactSource } from '../../client/about';
import { takeSnapshot } from '../../client/snapshot';
import {
  listDeployOffers,
  listPipelineOffers,
  listReleaseOffers,
  type OfferedCommand,
} from '../../domain/commandOffers';
import { conveyorError } from '../../domain/errors';
import { releaseId, type Id } from '../../domain/ids';
import { DAY_MS } from '../../domain/milliseconds';
import { PAGE_LIMITS } from '../../domain/limits';
import type {
  DeployStatus,
  PipelineStatus,
  PipelineSummary,
  ReleaseState,
  ReleaseStatus,
  ReleaseSummary,
} from '../../domain/views';
import type {
  DeployModel,
  HomeModel,
  ListedRelease,
  PipelineFilters,
  PipelineModel,
  PipelinesModel,
  ReleaseModel,
} from '../../pages/models';
import type { CommandScene } from '../../render/consequences';
import type { ServerDeps } from '../deps';
import { statusOrLastKnown, type StatusReader } from '../lastKnown';
import { SharedLooks, toSharedKey, unlessLate } from './looks';

/** The commands that something accepts now, and what they would change. */
interface SceneOffers {
  readonly scene: CommandScene;
  readonly offers: readonly OfferedCommand[];
}

/** The dependencies of the pages. */
export type PageDeps = Pick<ServerDeps, 'client' | 'pipelinePage' | 'now'>;

/** The rows of each list of the first page. */
const HOME_ROWS = 40;
/** The releases whose actions the first page shows. */
const HOME_DETAILS = 20;
/** Owners change rarely, and the guard asks for them again when a command is given. */
const FACTS_MS = 10_000;
/** The releases of a pipeline whose time is shown in parts. */
const PIPELINE_DETAILS = 8;

/** Reads the models of pages. Each answer is one of the API, and many readers share it. */
export class PageReads {
  private readonly looks: SharedLooks;
  /** As the client of the API, but shared. */
  private readonly shared: StatusReader;

  constructor(private readonly deps: PageDeps) {
    this.looks = new SharedLooks(deps.client, PAGE_LIMITS.reads.max, () => deps.now());
    const { client } = deps;
    this.shared = {
      status: (id) => this.looks.status(id),
      listPipelines: (query) => this.looks.read(toSharedKey('pipelines', query), () => client.listPipelines(query)),
      listReleases: (query) => this.looks.read(toSharedKey('releases', query), () => client.listReleases(query)),
      listDeploys: (query) => this.looks.read(toSharedKey('deploys', query), () => client.listDeploys(query)),
    };
  }

  /** A person who gave a command sees its effect at once. */
  forget(): void {
    this.looks.forget();
  }

  async home(): Promise<HomeModel> {
    const list = (state: ReleaseState) => this.shared.listReleases({ state, limit: HOME_ROWS });
    const stoppedIn = (state: PipelineSummary['state']) => this.shared.listPipelines({ state, limit: HOME_ROWS });
    const [lists, failed, stopped, any, reverts] = await Promise.all([
      Promise.all([list('paused'), list('running'), list('queued')]),
      list('failed'),
      Promise.all([stoppedIn('held'), stoppedIn('frozen')]),
      this.shared.listPipelines({ limit: 1 }),
      unlessLate(this.shared.listDeploys({ state: 'reverting', limit: HOME_ROWS })),
    ]);
    const sinceMs = this.deps.now() - DAY_MS;
    const recent = failed.filter(({ endedAt }) => endedAt !== null && Date.parse(endedAt) >= sinceMs);
    const [underWay, failures] = await Promise.all([
      this.withDetails(sortNewestFirst(lists)),
      this.withDetails(recent),
    ]);
    const reverting = (reverts ?? []).map(({ id }) => id.split('/').slice(0, 2).join('/'));
    const rest = { stopped: stopped.flat(), failed: failures, isEmpty: any.length === 0 };
    return { forViewer: null, reverting, underWay, ...rest };
  }

  /** The newest ones with their actions, if these come in time. */
  private withDetails(releases: readonly ReleaseSummary[]): Promise<ListedRelease[]> {
    return Promise.all(
      releases.map(async (release, nth) => ({
        release,
        status: nth < HOME_DETAILS ? await this.releaseOrNull(release) : null,
      })),
    );
  }

  private async releaseOrNull({ id, endedAt }: Pick<ReleaseSummary, 'id' | 'endedAt'>): Promise<ReleaseStatus | null> {
    const status = await unlessLate(this.looks.status(id, endedAt !== null));
    return status?.kind === 'release' ? status : null;
  }

  async pipelines(filters: PipelineFilters, cursor: string | undefined): Promise<PipelinesModel> {
    const query = { ...filters, cursor, limit: PAGE_LIMITS.rows.max };
    const page = await this.looks.read(toSharedKey('page', query), () => this.deps.pipelinePage(query));
    return { ...page, filters, isLater: cursor !== undefined };
  }

  async pipeline(c: Context, id: string): Promise<PipelineModel> {
    const spec = unlessLate(this.looks.read(`spec ${id}`, () => this.deps.client.spec(id)));
    const { status, stale } = await this.statusOrStale(c, id);
    const pipeline: PipelineStatus = { ...EMPTY_PIPELINE, ...(status as PipelineStatus) };
    if (stale !== null) return { pipeline, stale, spec: null, newest: [], deploys: [] };
    const newestFirst = [...pipeline.releases].sort((a, b) => b.number - a.number).slice(0, PIPELINE_DETAILS);
    const [details, snapshot, itsSpec] = await Promise.all([
      Promise.all(newestFirst.slice(1).map((release) => this.releaseOrNull(release))),
      newestFirst[0] === undefined ? null : unlessLate(takeSnapshot(this.shared, newestFirst[0].id, null)),
      spec,
    ]);
    const newest = [snapshot?.release ?? null, ...details].filter((release) => release !== null);
    return { pipeline, stale, spec: itsSpec, newest, deploys: snapshot?.deploys ?? [] };
  }

  async release(c: Context, id: string): Promise<ReleaseModel> {
    const { status, stale } = await this.statusOrStale(c, id);
    if (stale !== null)
      return { release: { ...EMPTY_RELEASE, ...(status as ReleaseStatus) }, stale, waits: [], deploys: [] };
    const { release, waits, deploys } = await takeSnapshot(this.shared, id, null);
    if (release === null) throw conveyorError('invalid-id', { text: id, expected: 'the id of a release' });
    const pipeline = release.endedAt === null ? null : await this.records(release.pipeline);
    return { release, pipeline, stale, waits, deploys };
  }

  /** The records by which a release of a pipeline can run again; null if they do not come in time. */
  private async records(pipeline: string): Promise<ReleaseModel['pipeline']> {
    const status = await unlessLate(this.looks.status(pipeline));
    return status?.kind !== 'pipeline' ? null : { rerunnable: status.rerunnable ?? [] };
  }

  /** The facts of decisions about callers, shared as other reads are. */
  get facts(): FactSource {
    const { client } = this.deps;
    return {
      status: (id) => this.looks.status(id),
      listPipelines: (query) => this.shared.listPipelines(query),
      spec: (name) => this.looks.read(`facts ${name}`, () => client.spec(name), FACTS_MS),
      exportPipeline: (name) => client.exportPipeline(name),
    };
  }

  /** The state that a command to this id would change, and the commands that are possible now. */
  async scene(id: Id): Promise<SceneOffers> {
    const pipeline = await unlessLate(this.looks.status(id.pipeline));
    const known = {
      pipeline: pipeline?.kind === 'pipeline' ? { ...EMPTY_PIPELINE, ...pipeline } : null,
      nowMs: this.deps.now(),
    };
    if (id.kind === 'pipeline') {
      const status = { ...EMPTY_PIPELINE, ...((await this.looks.status(id.pipeline)) as PipelineStatus) };
      const takes = Object.keys((await unlessLate(this.facts.spec(id.pipeline)))?.artifacts ?? {});
      const scene = { ...known, pipeline: status, takes, release: null, deploys: [], holdsOnRevert: null };
      return { scene, offers: listPipelineOffers(status) };
    }
    const spec = unlessLate(this.facts.spec(id.pipeline));
    const { release, deploys } = await takeSnapshot(this.shared, releaseId(id.pipeline, id.number), null);
    const holds = (await spec)?.releases;
    const holdsOnRevert = holds === undefined ? null : holds.onRevert !== 'continue';
    if (release === null) return { scene: { ...known, release, deploys, holdsOnRevert }, offers: [] };
    const offers = listReleaseOffers(release, deploys, known.pipeline);
    if (id.kind === 'release') return { scene: { ...known, release, deploys, holdsOnRevert }, offers };
    const target = `${release.id}/${id.action}`;
    const own = deploys.filter((deploy) => deploy.id === target);
    return {
      scene: { ...known, release, deploys: own, holdsOnRevert },
      offers: [...own.flatMap(listDeployOffers), ...offers.filter((offer) => offer.target === target)],
    };
  }

  async deploy(c: Context, id: string): Promise<DeployModel> {
    const { status, stale } = await this.statusOrStale(c, id);
    return { deploy: { ...EMPTY_DEPLOY, ...(status as DeployStatus) }, stale };
  }

  /** The answer of the API. */
  status(c: Context, id: string): Promise<object> {
    return statusOrLastKnown(c, this.shared, id);
  }

  /** Old information lacks some fields. */
  private async statusOrStale(
    c: Context,
    id: string,
  ): Promise<{ readonly status: object; readonly stale: string | null }> {
    const status: { live?: boolean; problem?: string } = await this.status(c, id);
    return { status, stale: status.live === false ? (status.problem ?? '') : null };
  }
}

/** A release that changes its state between two lists may be in both. */
function sortNewestFirst(lists: readonly (readonly ReleaseSummary[])[]): readonly ReleaseSummary[] {
  const byId = new Map(lists.flat().map((release) => [release.id, release]));
  return [...byId.values()].sort((a, b) => b.startedAt.localeCompare(a.startedAt));
}

/** The fields that old information lacks. */
const EMPTY_PIPELINE = {
  ...{ description: '', owners: [], labels: {}, active: [], lastRelease: null, held: null },
  ...{ knownBad: [], lastGood: {}, releases: [], commands: [], webUi: '' },
};
const EMPTY_RELEASE = { artifacts: [], actions: [], commands: [], timeline: [], webUi: '' };
const EMPTY_DEPLOY = {
  ...{ summary: '', phases: [], health: [], commands: [], timeline: [], revert: null, next: [], webUi: '' },
  spans: {
    ...{ lockWaitMs: 0, windowWaitMs: 0, pausedMs: 0, dependencyWaitMs: 0, preMs: 0 },
    ...{ updateMs: 0, bakeMs: 0, postMs: 0, revertMs: 0, overheadMs: 0 },
  },
};
