import type { ApplicationFailure } from '@temporalio/common';
import type { WorkflowHandle } from '@temporalio/client';
import { ConveyorError, conveyorError } from '../domain/errors';
import { finderNames, refusedFor } from '../domain/finder/health';
import { deployId, releaseId, workflowIds } from '../domain/ids';
import { deployEndedOutside, releaseEndedOutside, type EndedOutside } from '../domain/outside';
import type { PipelineState } from '../domain/pipeline/state';
import { pipelineStatus } from '../domain/pipeline/view';
import type { ChildrenView, DeployStatus, PipelineStatus, ReleaseStatus } from '../domain/views';
import { ANSWER_MS, translate, type Temporal } from './connection';
import { finders } from './finders';
import { mergeAction, mergeDeploy, serverView, type ServerView } from './live';
import { endedOutside } from './outside';
import { listPage, workflowPage } from './webUi';

/** What people call an update whose name they never type. */
const WORDS: Readonly<Record<string, string>> = {
  'roll-back': 'revert',
  'start-release': 'release',
  submit: 'release',
  'cancel-queued': 'cancel',
};

/** What a release's own workflow says of it: whether there may be children, but not how they stand. */
type ReleaseReport = Omit<ReleaseStatus, 'webUi' | 'children'> & { readonly isParent?: boolean };

/** Queries and updates of our workflows, with errors in our words. */
export class Workflows {
  constructor(
    readonly temporal: Temporal,
    private readonly webUi: string,
  ) {}

  /** Sends an update and waits until it is acknowledged. @throws invalid-state when it has ended. */
  async update<T>(workflowId: string, id: string, name: string, input: object): Promise<T> {
    return this.asking(id, () => this.handle(workflowId).executeUpdate<T, [object]>(name, { args: [input] }), {
      notFound: () => unknown(id),
      refused: (code, failure) =>
        refusalOf(id, 'emergency' in input ? 'push' : (WORDS[name] ?? name), input, code, failure),
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
    // They are beside the point for most who look, so that they keep nobody from the rest.
    const found = await finders(this.temporal, finderNames(state.spec)).catch(() => undefined);
    return {
      ...pipelineStatus(state, Date.now()),
      ...(found && { finders: found.map((view) => refusedFor(name, view)) }),
      webUi: this.link(workflowIds.pipeline(name)),
      webUiList: listPage(this.webUi, this.temporal.namespace, name),
    };
  }

  /** The releases that a pipeline knows, of one moment: as it shows them, and those that have ended. */
  async pipelineBooks(name: string): Promise<Pick<PipelineState, 'history'> & Pick<PipelineStatus, 'releases'>> {
    const state = await this.pipelineState(name);
    return { history: state.history, releases: pipelineStatus(state, Date.now()).releases };
  }

  async release(pipeline: string, number: number): Promise<ReleaseStatus> {
    const workflowId = workflowIds.release(pipeline, number);
    const status = await this.started(workflowId, pipeline, number);
    const { pending = [], outside } = status.endedAt === null ? await this.atServer(workflowId) : {};
    const { isParent = false, ...known } = outside ? releaseEndedOutside(status, outside) : status;
    if (outside) await this.sayGone(pipeline, number);
    return {
      ...known,
      actions: known.actions.map((action) => mergeAction(action, pending)),
      children: isParent ? await this.children(pipeline, number) : null,
      webUi: this.link(workflowId),
    };
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
    return { ...known, webUi: this.link(workflowId) };
  }

  /** Of a parent that has succeeded; null while it has started none. */
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

  /** Runs a call with a deadline, and says what failed in the words of the table of errors. */
  async asking<T>(
    id: string,
    call: () => Promise<T>,
    wording: { notFound: () => ConveyorError; refused?: (code: string, failure: ApplicationFailure) => ConveyorError },
  ): Promise<T> {
    const { client, address } = this.temporal;
    try {
      return await client.withDeadline(Date.now() + ANSWER_MS, call);
    } catch (error) {
      const refused =
        wording.refused ?? ((code, failure) => conveyorError('internal', { detail: `${code}: ${failure.message}` }));
      throw translate(error, { id, address, notFound: wording.notFound, refused });
    }
  }

  /** A release that its pipeline has not started yet, or never did, is known to the pipeline alone. */
  private async started(workflowId: string, pipeline: string, number: number): Promise<ReleaseReport> {
    const id = releaseId(pipeline, number);
    try {
      const notFound = () => conveyorError('unknown-release', { id });
      return await this.query<ReleaseReport>(workflowId, id, 'status', notFound);
    } catch (error) {
      if (!(error instanceof ConveyorError) || error.code !== 'unknown-release') throw error;
      const { history, releases } = await this.pipelineBooks(pipeline);
      const known = [...releases, ...history].find((release) => release.number === number);
      if (known === undefined) throw error;
      return { ...known, actions: [], commands: [], timeline: [] };
    }
  }

  private query<T>(workflowId: string, id: string, name: string, notFound: () => ConveyorError): Promise<T> {
    return this.asking(id, () => this.handle(workflowId).query<T>(name), { notFound });
  }

  /** What a workflow that has not said that it ended is at, as the server knows it. */
  private async atServer(
    workflowId: string,
  ): Promise<Partial<Pick<ServerView, 'pending'>> & { outside?: EndedOutside }> {
    try {
      const view = await serverView(this.handle(workflowId));
      const outside = await endedOutside(this.temporal, workflowId, view);
      return { pending: view.pending, ...(outside ? { outside } : {}) };
    } catch {
      return {};
    }
  }

  /** A pipeline that takes a release for running looks after it at once; it would do so by itself before long. */
  private async sayGone(pipeline: string, number: number): Promise<void> {
    try {
      const { active } = await this.pipelineState(pipeline);
      if (active.some((release) => release.number === number && !release.gone))
        await this.handle(workflowIds.pipeline(pipeline)).signal('look', { release: number });
    } catch {
      // Whoever asked for the release wants to see that, whatever its pipeline is at.
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

function unknown(id: string): ConveyorError {
  if (!id.includes('/')) return conveyorError('unknown-pipeline', { pipeline: id });
  return conveyorError('invalid-state', { verb: 'command', id, why: 'it has ended' });
}

/** The words of a workflow's refusal: what is too large, how large it is and may be. */
export const overLimit = ([what = 'it', size = '', limit = '']: readonly string[]): ConveyorError =>
  conveyorError('over-limit', { what, size, limit });

/** A workflow's refusal, worded for people (domain/pipeline/requests.ts, workflows/inbox.ts). */
function refusalOf(id: string, verb: string, input: object, code: string, failure: ApplicationFailure): ConveyorError {
  const pipeline = id.split('/')[0] ?? id;
  const names = (failure.details?.[0] as readonly string[] | undefined) ?? [];
  const actor =
    (input as { actor?: string; trigger?: { actor: string } }).actor ??
    (input as { trigger?: { actor: string } }).trigger?.actor ??
    '';
  switch (code) {
    case 'not-permitted':
      return conveyorError('not-permitted', { actor, pipeline });
    case 'key-reused':
      return conveyorError('key-reused', { key: names[0] ?? '', was: names[1] ?? '', now: names[2] ?? '' });
    case 'known-bad':
      return conveyorError('known-bad', { artifact: names[0] ?? '', pipeline, since: failure.message });
    case 'missing-artifact':
      return conveyorError('missing-artifact', { pipeline, names });
    case 'unknown-artifact':
      return conveyorError('unknown-artifact', { pipeline, name: names[0] ?? '', known: names.slice(1) });
    case 'unknown-pipeline':
      return conveyorError('unknown-pipeline', { pipeline });
    case 'over-limit':
      return overLimit(names);
    case 'queue-full':
      return conveyorError('queue-full', { pipeline, why: failure.message });
    default:
      return conveyorError('invalid-state', { verb, id, why: failure.message });
  }
}
