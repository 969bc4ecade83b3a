import type { ApplicationFailure } from '@temporalio/common';
import type { WorkflowHandle } from '@temporalio/client';
import { ConveyorError, conveyorError } from '../domain/errors';
import { finderNames, refusalsFor } from '../domain/finder/health';
import { deployId, releaseId, workflowIds } from '../domain/ids';
import type { RangeTest } from '../domain/offers/judge';
import { deployEndedOutside, releaseEndedOutside, type EndedOutside } from '../domain/outside';
import type { PipelineState } from '../domain/pipeline/state';
import { withReplaced, withUndone } from '../domain/pipeline/undone';
import { pipelineStatus } from '../domain/pipeline/view';
import { hasNoSuchQuery, neverRan } from '../domain/queryRefusals';
import type { Recollection } from '../domain/release/rerun';
import type { ChildrenView, DeployStatus, PipelineStatus, ReleaseStatus } from '../domain/views';
import { getFirstLine, WORKER_TIMEOUT_MS, translate, type Temporal } from './connection';
import { findersHealth } from './finders';
import { withLandedChange } from './landedChange';
import { mergeAction, mergeDeploy, serverView, type ServerView } from './live';
import { describeOutsideEnd } from './outside';
import { behindPaused, withPauses } from './pauses';
import { withProblems } from './problems';
import { refusalError, unknownWorkflow } from './refusals';
import { untilTaken } from './retaken';
import { signRequest } from './seal';
import { noWorker, unlessUnpolled } from './silence';
import { temporalUnreachable } from './unreachable';
import { readBrokenUses, readOffers, withBrokenUses } from './offers';
import { withReplacements } from './replacements';
import { soakWaits } from './soaks';
import { withDeployRollback, withRollback } from './undone';
import { withHolder, withWaits } from './waits';
import { listPage, workflowPage } from './webUi';

/** A release's own report: whether there may be children, but not their states. */
type ReleaseReport = Omit<ReleaseStatus, 'webUi' | 'children'> & { readonly isParent?: boolean };

/** The wording of errors. */
interface ErrorWording {
  readonly notFound: () => ConveyorError;
  readonly refused?: (code: string, failure: ApplicationFailure) => ConveyorError;
  /** The addressee of the call, which gives up if no worker polls for it. */
  readonly workflowId?: string;
}

/** Queries and updates of our workflows, with errors in our words. */
export class Workflows {
  constructor(
    readonly temporal: Temporal,
    private readonly webUi: string,
    readonly isInRange: RangeTest = () => true,
  ) {}

  /** Sends an update and waits until it is acknowledged. @throws invalid-state when it has ended. */
  async update<T>(workflowId: string, id: string, name: string, input: object): Promise<T> {
    const asked = signRequest(this.temporal.seal, name, input);
    const send = (updateId: string): Promise<T> =>
      this.handle(workflowId).executeUpdate<T, [object]>(name, { args: [asked], updateId });
    return this.withWording(id, () => untilTaken(send), {
      notFound: () => unknownWorkflow(id),
      refused: (code, failure) => refusalError(id, name, input, code, failure),
      workflowId,
    });
  }

  async pipelineState(name: string): Promise<PipelineState> {
    const notFound = () => conveyorError('unknown-pipeline', { pipeline: name });
    const state = await this.query<PipelineState | null>(workflowIds.pipeline(name), name, 'pipeline', notFound);
    if (state === null) throw notFound();
    return state;
  }

  async pipeline(name: string): Promise<PipelineStatus> {
    const state = await this.pipelineState(name);
    // Most readers do not need the children, so these must not delay the rest.
    const { waits = [], ...status } = pipelineStatus(state, Date.now());
    const [found, soaking, described, lastGood, offers, brokenUses] = await Promise.all([
      findersHealth(this.temporal, finderNames(state.spec)).catch(() => undefined),
      soakWaits(this.temporal, state),
      this.describeReleases(status.releases),
      withReplacements(this.temporal, state, status),
      readOffers(this.temporal, state, this.isInRange),
      readBrokenUses(this.temporal, state, this.isInRange),
    ]);
    const releases = withReplaced(described, lastGood);
    return {
      ...status,
      ...{ releases, lastGood },
      waits: [...waits.map((wait) => ({ ...wait, why: behindPaused(wait.why, releases) })), ...soaking],
      ...(offers && { offers }),
      ...(brokenUses && { brokenUses }),
      ...(found && { finders: found.map((view) => refusalsFor(name, view)) }),
      webUi: this.link(workflowIds.pipeline(name)),
      webUiList: listPage(this.webUi, this.temporal.namespace, name),
    };
  }

  /** Adds their rollbacks, and the problems of running ones. */
  private async describeReleases(releases: PipelineStatus['releases']): Promise<PipelineStatus['releases']> {
    return withProblems(this.temporal, await withPauses(this.temporal.client, withUndone(releases)));
  }

  /** The releases that a pipeline knows at one moment: all in its status, and the ended ones. */
  async pipelineRecords(name: string): Promise<Pick<PipelineState, 'history'> & Pick<PipelineStatus, 'releases'>> {
    const state = await this.pipelineState(name);
    return { history: state.history, releases: pipelineStatus(state, Date.now()).releases };
  }

  async release(pipeline: string, number: number): Promise<ReleaseStatus> {
    const workflowId = workflowIds.release(pipeline, number);
    const status = await this.started(workflowId, pipeline, number);
    const { pending = [], outside } = status.endedAt === null ? await this.atServer(workflowId) : {};
    const { isParent = false, ...known } = outside ? releaseEndedOutside(status, outside) : status;
    if (outside) await this.reportGone(pipeline, number);
    return {
      ...known,
      actions: known.actions.map((action) => mergeAction(action, pending)),
      children: isParent ? await this.children(pipeline, number) : null,
      webUi: this.link(workflowId),
    };
  }

  /** As `release`, with its waits and its rollback. */
  async releaseWithWaits(pipeline: string, number: number): Promise<ReleaseStatus> {
    const release = await withBrokenUses(this.temporal, await this.release(pipeline, number), this.isInRange);
    return withRollback(this.temporal, await withWaits(this.temporal, release));
  }

  /** The outcome of a release. @throws unknown-release, also if it never started; not-rerunnable */
  recollection(pipeline: string, number: number): Promise<Recollection> {
    const id = releaseId(pipeline, number);
    const workflowId = workflowIds.release(pipeline, number);
    const asked = async (): Promise<Recollection> => {
      try {
        return await this.handle(workflowId).query<Recollection>('recollection');
      } catch (error) {
        throw hasNoSuchQuery(error) && !neverRan(error) ? notRecalled(id, pipeline) : error;
      }
    };
    return this.withWording(id, asked, { notFound: () => conveyorError('unknown-release', { id }), workflowId });
  }

  async deploy(pipeline: string, number: number, action: string): Promise<DeployStatus> {
    const id = deployId(pipeline, number, action);
    const { actions } = await this.release(pipeline, number);
    const view = actions.find(({ name }) => name === action);
    if (view === undefined) throw conveyorError('unknown-deploy', { id });
    const workflowId = workflowIds.deploy(pipeline, number, action, view.attempt);
    const status = await this.query<Omit<DeployStatus, 'webUi'>>(workflowId, id, 'status', () =>
      notBegun(id, view.blockedBy),
    );
    const { pending = [], outside } = status.endedAt === null ? await this.atServer(workflowId) : {};
    const known = outside ? deployEndedOutside(status, outside) : mergeDeploy(status, pending);
    const held = await withHolder(this.temporal, pipeline, number, { ...known, webUi: this.link(workflowId) });
    const landed = await withLandedChange(this.temporal, { pipeline, action }, held);
    return withDeployRollback(this.temporal, { pipeline, number }, action, landed);
  }

  /** For a parent that has succeeded; null while it has started none. */
  private async children(pipeline: string, number: number): Promise<ChildrenView | null> {
    const none = conveyorError('unknown-release', { id: `${releaseId(pipeline, number)}/children` });
    try {
      return await this.query<ChildrenView>(workflowIds.children(pipeline, number), pipeline, 'status', () => none);
    } catch (error) {
      if (error === none) return null;
      throw error;
    }
  }

  link(workflowId: string): string {
    return workflowPage(this.webUi, this.temporal.namespace, workflowId);
  }

  /** Runs a call with a deadline, and translates failures into the table of errors. */
  async withWording<T>(id: string, call: () => Promise<T>, wording: ErrorWording): Promise<T> {
    const { client, address } = this.temporal;
    const { workflowId } = wording;
    const ask = workflowId === undefined ? call : () => unlessUnpolled(this.temporal, { workflowId, id }, call);
    try {
      return await client.withDeadline(Date.now() + WORKER_TIMEOUT_MS, ask);
    } catch (error) {
      const refused =
        wording.refused ?? ((code, failure) => conveyorError('internal', { detail: `${code}: ${failure.message}` }));
      const said = translate(error, { id, address, notFound: wording.notFound, refused });
      const isUnasked = workflowId === undefined || error instanceof ConveyorError;
      if (said.code === 'no-worker' && !isUnasked) throw await noWorker(this.temporal, { workflowId, id });
      throw said.code === 'temporal-unreachable' && said !== error
        ? await temporalUnreachable(this.temporal, getFirstLine(error))
        : said;
    }
  }

  /** Only the pipeline knows a release that it has not started yet, or never will. */
  private async started(workflowId: string, pipeline: string, number: number): Promise<ReleaseReport> {
    const id = releaseId(pipeline, number);
    try {
      const notFound = () => conveyorError('unknown-release', { id });
      return await this.query<ReleaseReport>(workflowId, id, 'status', notFound);
    } catch (error) {
      if (!(error instanceof ConveyorError) || error.code !== 'unknown-release') throw error;
      const { history, releases } = await this.pipelineRecords(pipeline);
      const known = [...releases, ...history].find((release) => release.number === number);
      if (known === undefined) throw error;
      return { ...known, actions: [], commands: [], timeline: [] };
    }
  }

  private query<T>(workflowId: string, id: string, name: string, notFound: () => ConveyorError): Promise<T> {
    return this.withWording(id, () => this.handle(workflowId).query<T>(name), { notFound, workflowId });
  }

  /** The server's view of a workflow that has not reported its end. */
  private async atServer(
    workflowId: string,
  ): Promise<Partial<Pick<ServerView, 'pending'>> & { outside?: EndedOutside }> {
    try {
      const view = await serverView(this.handle(workflowId));
      const outside = await describeOutsideEnd(this.temporal, workflowId, view);
      return { pending: view.pending, ...(outside ? { outside } : {}) };
    } catch {
      return {};
    }
  }

  /** Makes a pipeline check at once a release that it believes to be running; it would otherwise do so later. */
  private async reportGone(pipeline: string, number: number): Promise<void> {
    try {
      const { active } = await this.pipelineState(pipeline);
      if (active.some((release) => release.number === number && !release.gone))
        await this.handle(workflowIds.pipeline(pipeline)).signal('look', { release: number });
    } catch {
      // The user asked for the release, even if its pipeline is in trouble.
    }
  }

  private handle(workflowId: string): WorkflowHandle {
    return this.temporal.client.workflow.getHandle(workflowId);
  }
}

const notBegun = (id: string, why: string | null): ConveyorError =>
  why === null
    ? conveyorError('unknown-deploy', { id })
    : conveyorError('invalid-state', { verb: 'show', id, why: `it has not begun: ${why}` });

const notRecalled = (id: string, pipeline: string): ConveyorError =>
  conveyorError('not-rerunnable', {
    id,
    why: 'a worker of an older version answered for it, and knows no reruns',
    instead: `upgrade every worker and try again, or: conveyor release ${pipeline} --artifact NAME=VERSION releases the same versions from the beginning`,
  });
