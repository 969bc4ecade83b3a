import type { ConveyorClient } from '../client/api';
import { takeSnapshot, type WatchSnapshot } from '../client/snapshot';
import { conveyorError, ConveyorError } from '../domain/errors';
import { parseId } from '../domain/ids';
import { EXIT } from './exit';
import type { Io } from './io';
import { printNote, type Output } from './output';
import { createPresenter, type Presenter } from './presenter';
import { createStartWait, type StartWait } from './watchStart';

export interface WatchOptions {
  readonly output: Output;
  /** Stop watching after this long; the watched release continues. */
  readonly timeoutMs?: number;
  /** The time between two looks. */
  readonly everyMs?: number;
  /** The note when watching ends early; by default, that the release continues and how to watch it again. */
  readonly detachedText?: string;
}

const WATCH_INTERVAL_MS = 1000;
const REDRAW_MS = 250;

/**
 * Watches a release or deploy until it ends; waits for the next release of a pipeline to start. Exit code: 0 succeeded,
 * 3 otherwise, 5 if the time is up, 130 on Ctrl-C. On a terminal the picture is redrawn in place; elsewhere changes are
 * appended.
 */
export async function watchUntilEnd(
  io: Io,
  client: ConveyorClient,
  id: string,
  options: WatchOptions,
): Promise<number> {
  const stop = io.interrupted();
  const target = await watchTarget(client, id);
  const show = createPresenter(io, options.output);
  const deadline = options.timeoutMs === undefined ? Infinity : io.now() + options.timeoutMs;
  const start = createStartWait({ io, client, output: options.output }, target, deadline);
  let seen: WatchSnapshot | null = null;
  const leave = (why: string, code: number): number =>
    detach(io, show, farewell(options, target, why, seen === null && start.isWaiting()), code);
  try {
    for (;;) {
      if (!stop.aborted) seen = await whileDrawing(io, show, seen, lookAgain({ client, show, start }, target, seen));
      if (seen && isWatchOver(seen)) return finishWatch(io, show, seen);
      if (stop.aborted) return leave('you stopped watching', EXIT.interrupted);
      if (io.now() >= deadline) return leave('the time is up', EXIT.timeout);
      await pauseBetween(io, show, seen, Math.min(options.everyMs ?? WATCH_INTERVAL_MS, deadline - io.now()), stop);
    }
  } finally {
    if (seen) show.end(seen);
    else show.leave();
  }
}

const isWatchOver = ({ release, deploys }: WatchSnapshot): boolean =>
  release === null
    ? deploys.every((deploy) => deploy.state === 'ended')
    : ['succeeded', 'failed', 'cancelled'].includes(release.state);

const isSuccess = ({ release, deploys }: WatchSnapshot): boolean =>
  release === null ? deploys.every((deploy) => deploy.outcome === 'succeeded') : release.state === 'succeeded';

/** The id of a pipeline means its newest running release. */
async function watchTarget(client: ConveyorClient, id: string): Promise<string> {
  if (parseId(id)?.kind !== 'pipeline') return id;
  const status = await client.status(id);
  const newest = status.kind === 'pipeline' ? Math.max(...status.active) : NaN;
  if (Number.isFinite(newest)) return `${id}/${newest}`;
  throw conveyorError('usage', {
    text: `no release of ${id} is running`,
    hint: `conveyor history ${id} shows ended ones; conveyor release ${id} starts one`,
  });
}

/**
 * Losing contact, even at the first look, does not end the watch: the release does not depend on it. Neither does an unexpected error after the first
 * look, because the user waits for the end.
 */
async function lookAgain(
  { client, show, start }: { readonly client: ConveyorClient; readonly show: Presenter; readonly start: StartWait },
  id: string,
  before: WatchSnapshot | null,
): Promise<WatchSnapshot | null> {
  try {
    const seen = await takeSnapshot(client, id, before);
    show.contact(null);
    show.look(seen);
    return seen;
  } catch (error) {
    if (before === null && (await start.continuesAfter(error))) return null;
    if (!(error instanceof ConveyorError && (error.retryable || (before && error.code === 'internal')))) throw error;
    show.contact(error);
    if (before) show.look(before);
    return before;
  }
}

/** Keeps the clocks of the picture running while an answer is pending. */
async function whileDrawing<T>(io: Io, show: Presenter, seen: WatchSnapshot | null, asked: Promise<T>): Promise<T> {
  if (!show.redraws || seen === null) return asked;
  let isOver = false;
  const over = asked.catch(() => undefined).then(() => void (isOver = true));
  while (!isOver) {
    await Promise.race([over, io.sleep(REDRAW_MS)]);
    if (!isOver) show.look(seen);
  }
  return asked;
}

/** A parent ends with its own actions; its children continue without it. */
function finishWatch(io: Io, show: Presenter, seen: WatchSnapshot): number {
  const children = seen.release?.children;
  if (children && children.waiting + children.running > 0) {
    show.leave();
    printNote(io, `its children continue: conveyor status ${seen.release?.id}`);
  }
  return isSuccess(seen) ? EXIT.ok : EXIT.notSucceeded;
}

const farewell = ({ detachedText }: WatchOptions, id: string, why: string, isUnstarted: boolean): string =>
  detachedText ??
  `${why}; ${id} ${isUnstarted ? 'has not started' : 'continues'}. Watch it again: conveyor watch ${id}`;

function detach(io: Io, show: Presenter, text: string, code: number): number {
  show.leave();
  printNote(io, text);
  return code;
}

/** Keeps the clocks of the picture running between two looks. */
async function pauseBetween(
  io: Io,
  show: Presenter,
  seen: WatchSnapshot | null,
  ms: number,
  stop: AbortSignal,
): Promise<void> {
  if (!show.redraws || seen === null) return io.sleep(ms, stop);
  for (let left = ms; left > 0 && !stop.aborted; left -= REDRAW_MS) {
    await io.sleep(Math.min(REDRAW_MS, left), stop);
    show.look(seen);
  }
}
