import type { ConveyorClient } from '../client/api';
import { conveyorError, ConveyorError } from '../domain/errors';
import { parseId } from '../domain/ids';
import type { DeployStatus, ReleaseStatus, WaitView } from '../domain/views';
import { EXIT } from './exit';
import type { Io } from './io';
import { liveRegion } from './live';
import { emit, note, type Output } from './output';
import { renderDeploy } from './render/deploy';
import { logLines, type Watched } from './render/log';
import { renderRelease } from './render/release';
import type { View } from './render/paint';

export interface WatchOptions {
  readonly output: Output;
  /** Stop watching after this long; what is watched goes on. */
  readonly timeoutMs?: number;
  /** Between two looks. */
  readonly everyMs?: number;
  /** Said when watching ends before the thing watched does; by default that it goes on, and how to watch it again. */
  readonly detachedText?: string;
}

const EVERY_MS = 1000;
const REDRAW_MS = 250;

/**
 * Watches a release or deploy until it ends. Exit code: 0 succeeded, 3 otherwise, 5 when the time is up, 130 on Ctrl-C.
 * On a terminal the picture is drawn again in place, elsewhere only what changed is appended.
 */
export async function watch(io: Io, client: ConveyorClient, id: string, options: WatchOptions): Promise<number> {
  const stop = io.interrupted();
  const target = await watchable(client, id);
  const show = presenter(io, options.output);
  const deadline = options.timeoutMs === undefined ? Infinity : io.now() + options.timeoutMs;
  let seen: Watched = await look(client, target, null);
  try {
    for (;;) {
      show.look(seen);
      if (isOver(seen)) return ended(io, show, seen);
      if (stop.aborted) return detached(io, show, farewell(options, target, 'you stopped watching'), EXIT.interrupted);
      if (io.now() >= deadline) return detached(io, show, farewell(options, target, 'the time is up'), EXIT.timeout);
      await pauseBetween(io, show, seen, Math.min(options.everyMs ?? EVERY_MS, deadline - io.now()), stop);
      if (!stop.aborted) seen = await lookAgain(io, client, target, seen, show);
    }
  } finally {
    show.end(seen);
  }
}

/** A release with the deploys in it, or a deploy. What ended before is not asked for again. */
export async function look(client: ConveyorClient, id: string, before: Watched | null): Promise<Watched> {
  const status = await client.status(id);
  if (status.kind === 'deploy') return { release: null, waits: [], deploys: [status] };
  if (status.kind === 'pipeline') throw conveyorError('invalid-id', { text: id, expected: 'a release or a deploy' });
  const ids = status.actions.flatMap((action) => (action.deploy === null ? [] : [action.deploy]));
  const deploys = await Promise.all(ids.map((one) => deployOf(client, one, before)));
  const waits = status.state === 'queued' ? await waitsOf(client, status) : [];
  return { release: status, waits, deploys: deploys.filter((deploy) => deploy !== null) };
}

/** Why a release has not started yet, which only its pipeline knows. */
async function waitsOf(client: ConveyorClient, { pipeline, number }: ReleaseStatus): Promise<readonly WaitView[]> {
  const status = await client.status(pipeline);
  return status.kind === 'pipeline' ? (status.waits ?? []).filter(({ release }) => release === number) : [];
}

const isOver = ({ release, deploys }: Watched): boolean =>
  release === null
    ? deploys.every((deploy) => deploy.state === 'ended')
    : ['succeeded', 'failed', 'cancelled'].includes(release.state);

const hasSucceeded = ({ release, deploys }: Watched): boolean =>
  release === null ? deploys.every((deploy) => deploy.outcome === 'succeeded') : release.state === 'succeeded';

export function renderWatched({ release, deploys, waits }: Watched, view: View): string {
  if (release !== null) return renderRelease(release, deploys, view, waits);
  return deploys.map((deploy) => renderDeploy(deploy, view)).join('\n\n');
}

/** What is shown of a watched thing: the release, else the deploy. */
export const subjectOf = ({ release, deploys }: Watched): ReleaseStatus | DeployStatus | undefined =>
  release ?? deploys[0];

/** A pipeline means its newest release that runs. */
async function watchable(client: ConveyorClient, id: string): Promise<string> {
  if (parseId(id)?.kind !== 'pipeline') return id;
  const status = await client.status(id);
  const newest = status.kind === 'pipeline' ? Math.max(...status.active) : NaN;
  if (Number.isFinite(newest)) return `${id}/${newest}`;
  throw conveyorError('usage', {
    text: `no release of ${id} is running`,
    hint: `conveyor history ${id} shows those that ended; conveyor release ${id} starts one`,
  });
}

/** An action may already name its deploy before that workflow answers. */
async function deployOf(client: ConveyorClient, id: string, before: Watched | null): Promise<DeployStatus | null> {
  const known = before?.deploys.find((deploy) => deploy.id === id);
  try {
    const status = await client.status(id);
    return status.kind === 'deploy' ? status : null;
  } catch (error) {
    if (error instanceof ConveyorError && error.code === 'unknown-deploy') return known ?? null;
    throw error;
  }
}

/** Losing contact for a while ends nothing: what is watched does not depend on us. */
async function lookAgain(io: Io, client: ConveyorClient, id: string, seen: Watched, show: Presenter): Promise<Watched> {
  try {
    const now = await look(client, id, seen);
    show.contact(true);
    return now;
  } catch (error) {
    if (!(error instanceof ConveyorError && error.retryable)) throw error;
    show.contact(false, error.message);
    return seen;
  }
}

/** A parent is over when its own actions are; its children go on without it. */
function ended(io: Io, show: Presenter, seen: Watched): number {
  const children = seen.release?.children;
  if (children && children.waiting + children.running > 0) {
    show.leave();
    note(io, `its children go on: conveyor status ${seen.release?.id}`);
  }
  return hasSucceeded(seen) ? EXIT.ok : EXIT.notSucceeded;
}

const farewell = ({ detachedText }: WatchOptions, id: string, why: string): string =>
  detachedText ?? `${why}; ${id} goes on. Watch it again: conveyor watch ${id}`;

function detached(io: Io, show: Presenter, text: string, code: number): number {
  show.leave();
  note(io, text);
  return code;
}

/** Between two looks the clocks of the picture go on. */
async function pauseBetween(io: Io, show: Presenter, seen: Watched, ms: number, stop: AbortSignal): Promise<void> {
  if (!show.redraws) return io.sleep(ms, stop);
  for (let left = ms; left > 0 && !stop.aborted; left -= REDRAW_MS) {
    await io.sleep(Math.min(REDRAW_MS, left), stop);
    show.look(seen);
  }
}

/** How the looks are shown, by format and terminal. */
interface Presenter {
  readonly redraws: boolean;
  look(seen: Watched): void;
  contact(works: boolean, detail?: string): void;
  /** Before something else is printed. */
  leave(): void;
  end(seen: Watched): void;
}

function presenter(io: Io, output: Output): Presenter {
  if (output.human && io.stdout.isTTY) return picture(io, output);
  if (output.human) return appended(io, (before, after) => logLines(before, after));
  if (output.format === 'jsonl') return appended(io, changedJson);
  return quiet(io, output);
}

function picture(io: Io, output: Output): Presenter {
  const region = liveRegion(io.stdout);
  let lost = '';
  return {
    redraws: true,
    look: (seen) => {
      const full = renderWatched(seen, output.view());
      const fits = full.split('\n').length < io.stdout.rows - 1;
      const text = fits ? full : renderWatched(seen, { ...output.view(), compact: true });
      region.draw(lost === '' ? text : `⚠ no contact: ${lost}; trying again\n${text}`);
    },
    contact: (works, detail) => (lost = works ? '' : (detail ?? '')),
    leave: () => region.end(),
    end: () => region.end(),
  };
}

function appended(io: Io, linesOf: (before: Watched | null, after: Watched) => string[]): Presenter {
  let before: Watched | null = null;
  let works = true;
  return {
    redraws: false,
    look: (seen) => {
      for (const line of linesOf(before, seen)) io.stdout.write(`${line}\n`);
      before = seen;
    },
    contact: (now, detail) => {
      if (works !== now) note(io, now ? 'in contact again' : `no contact: ${detail ?? ''}; trying again`);
      works = now;
    },
    leave: () => undefined,
    end: () => undefined,
  };
}

function changedJson(before: Watched | null, after: Watched): string[] {
  const text = JSON.stringify(subjectOf(after));
  return before !== null && JSON.stringify(subjectOf(before)) === text ? [] : [text];
}

/** Formats that hold one value: the last look, whatever it is. */
function quiet(io: Io, output: Output): Presenter {
  return {
    redraws: false,
    look: () => undefined,
    contact: () => undefined,
    leave: () => undefined,
    end: (seen) => {
      const subject = subjectOf(seen);
      emit(io, output, subject, { text: () => '', name: subject ? [subject.id] : [] });
    },
  };
}
