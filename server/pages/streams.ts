import { createHash } from 'node:crypto';
import type { Context } from 'hono';
import { ConveyorError } from '../../domain/errors';
import { PAGE_LIMITS } from '../../domain/limits';
import { MINUTE_MS } from '../../domain/milliseconds';
import { formatTime } from '../../domain/text';

const TICK_MS = 1_000;
/** A stream ends after this time, so that its session is looked up again, and comes back. */
const SHORTEST_STREAM_MS = 4 * MINUTE_MS;
const LONGEST_STREAM_MS = 6 * MINUTE_MS;
/** Browsers come back after a random time, so that those of a server that ends do not come back together. */
const STREAM_RETRY_MS = [1_000, 5_000] as const;
/** Proxies close connections on which nothing moves. */
const PULSE_MS = 25_000;
/** Many viewers of one page fetch it one after the other. */
const SPREAD_MS = 5;
const LONGEST_SPREAD_MS = 10_000;
/** The things that a server looks at within a second; others are looked at in the next. */
const LOOKS_A_TICK = 50;
/** A browser that takes nothing of what it was sent. */
const MOST_UNREAD = 16;
/** When a browser may ask again after a refusal, in seconds. */
const RETRY_AFTER_S = '30';

/** The person behind a stream. */
export interface StreamViewer {
  /** A principal, or an address. */
  readonly name: string;
  /** When the session ends; Infinity without one. */
  readonly untilMs: number;
  /** Whether this server knows that the session has ended; no call to Temporal. */
  readonly isOver: () => boolean;
  /** Whether the session still counts; asked before each message. */
  readonly mayKnow: () => Promise<boolean>;
}

/** A page that streams watch: all streams of one key share its looks. */
export interface WatchedPage {
  readonly key: string;
  /** A hash of its model. @throws ConveyorError if Temporal does not answer, or the page is no more */
  readonly look: () => Promise<string>;
}

interface PageStream {
  readonly viewer: StreamViewer;
  readonly controller: ReadableStreamDefaultController<Uint8Array>;
  readonly endsAtMs: number;
  sentAtMs: number;
}

interface Watch {
  readonly page: WatchedPage;
  readonly streams: Set<PageStream>;
  model: string;
  /** The last time at which a look was answered. */
  lookedAtMs: number;
  isGone: boolean;
  isLooking: boolean;
}

/**
 * Why a stream has ended: its browser `left`; its `time` was over, after which it comes back; its `session` ended; the server
 * ends (`draining`); its browser took nothing (`unread`); the page is `gone`.
 */
export const STREAM_ENDS = ['left', 'time', 'session', 'draining', 'unread', 'gone'] as const;
export type StreamEnd = (typeof STREAM_ENDS)[number];

interface StreamMeans {
  readonly now: () => number;
  readonly isDraining: () => boolean;
  readonly random?: () => number;
  /** In ms; a second by default. */
  readonly tickMs?: number;
  readonly onEnd?: (why: StreamEnd) => void;
}

/** Tells browsers when pages have changed. It looks once a second at pages that a browser watches, and at no others. */
export class PageStreams {
  private readonly watches = new Map<string, Watch>();
  private readonly byViewer = new Map<string, number>();
  private total = 0;
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly means: StreamMeans) {}

  /** The stream of one browser; 503 beyond the limits. @param model the hash of the model as it is now */
  open(c: Context, page: WatchedPage, viewer: StreamViewer, model: string): Response {
    const own = this.byViewer.get(viewer.name) ?? 0;
    if (this.total >= PAGE_LIMITS.streams.max || own >= PAGE_LIMITS.viewerStreams.max || this.means.isDraining())
      return c.text('too many pages are open: this one is not kept up to date', 503, { 'retry-after': RETRY_AFTER_S });
    const watch = this.watches.get(page.key) ?? this.begin(page, model);
    let stream: PageStream | undefined;
    const body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          stream = this.add(watch, viewer, controller);
        },
        cancel: () => {
          if (stream !== undefined) this.remove(watch, stream, 'left');
        },
      },
      { highWaterMark: MOST_UNREAD },
    );
    this.timer ??= setInterval(() => void this.tick(), this.means.tickMs ?? TICK_MS).unref();
    return c.body(body, 200, {
      ...{ 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-store' },
      'x-accel-buffering': 'no',
    });
  }

  counts(): { readonly streams: number; readonly pages: number } {
    return { streams: this.total, pages: this.watches.size };
  }

  /** One second: ends what is over, and looks at what is watched. */
  async tick(): Promise<void> {
    const nowMs = this.means.now();
    for (const watch of this.watches.values())
      for (const stream of watch.streams) {
        const over = this.whyOver(stream, nowMs);
        if (over !== undefined) this.end(watch, stream, over);
        else if (nowMs - stream.sentAtMs >= PULSE_MS) this.write(watch, stream, ':\n\n');
      }
    const due = [...this.watches.values()].filter(({ isLooking }) => !isLooking).slice(0, LOOKS_A_TICK);
    await Promise.all(due.map((watch) => this.look(watch)));
  }

  private whyOver({ viewer, endsAtMs }: PageStream, nowMs: number): StreamEnd | undefined {
    if (this.means.isDraining()) return 'draining';
    if (nowMs >= viewer.untilMs || viewer.isOver()) return 'session';
    return nowMs >= endsAtMs ? 'time' : undefined;
  }

  private begin(page: WatchedPage, model: string): Watch {
    const nowMs = this.means.now();
    const watch = { page, streams: new Set<PageStream>(), model, lookedAtMs: nowMs, isGone: false, isLooking: false };
    this.watches.set(page.key, watch);
    return watch;
  }

  private add(watch: Watch, viewer: StreamViewer, controller: PageStream['controller']): PageStream {
    const { now, random = Math.random } = this.means;
    const between = (from: number, to: number): number => Math.round(from + random() * (to - from));
    const endsAtMs = Math.min(viewer.untilMs, now() + between(SHORTEST_STREAM_MS, LONGEST_STREAM_MS));
    const stream = { viewer, controller, endsAtMs, sentAtMs: now() };
    watch.streams.add(stream);
    this.total += 1;
    this.byViewer.set(viewer.name, (this.byViewer.get(viewer.name) ?? 0) + 1);
    this.write(watch, stream, `retry: ${between(...STREAM_RETRY_MS)}\n\n${formatModel(watch)}`);
    return stream;
  }

  private remove(watch: Watch, stream: PageStream, why: StreamEnd): void {
    if (!watch.streams.delete(stream)) return;
    this.means.onEnd?.(why);
    const { name } = stream.viewer;
    const left = (this.byViewer.get(name) ?? 1) - 1;
    if (left > 0) this.byViewer.set(name, left);
    else this.byViewer.delete(name);
    this.total -= 1;
    if (watch.streams.size === 0) this.watches.delete(watch.page.key);
    if (this.total > 0) return;
    clearInterval(this.timer);
    this.timer = undefined;
  }

  private end(watch: Watch, stream: PageStream, why: StreamEnd): void {
    this.remove(watch, stream, why);
    stream.controller.close();
  }

  /** The pages that were looked at longest ago come first. */
  private async look(watch: Watch): Promise<void> {
    const { page } = watch;
    watch.isLooking = true;
    this.watches.delete(page.key);
    this.watches.set(page.key, watch);
    try {
      const model = await page.look();
      const isNews = model !== watch.model || watch.isGone;
      Object.assign(watch, { model, isGone: false, lookedAtMs: this.means.now() });
      if (isNews) await this.tell(watch, formatModel(watch));
    } catch (error) {
      // It no longer exists, which the page says when it is fetched again.
      if (error instanceof ConveyorError && !error.retryable)
        for (const stream of [...watch.streams]) this.end(watch, stream, 'gone');
      const isNews = !watch.isGone;
      watch.isGone = true;
      if (isNews) await this.tell(watch, formatGone(watch));
    } finally {
      watch.isLooking = false;
    }
  }

  private async tell(watch: Watch, text: string): Promise<void> {
    await Promise.all(
      [...watch.streams].map(async (stream) => {
        const mayKnow = await stream.viewer.mayKnow().catch(() => true);
        if (mayKnow) this.write(watch, stream, text);
        else if (watch.streams.has(stream)) this.end(watch, stream, 'session');
      }),
    );
  }

  private write(watch: Watch, stream: PageStream, text: string): void {
    if (!watch.streams.has(stream)) return;
    // The browser has long not taken anything; it comes back if it is still there.
    if ((stream.controller.desiredSize ?? 0) <= 0) return this.end(watch, stream, 'unread');
    stream.controller.enqueue(Buffer.from(text));
    stream.sentAtMs = this.means.now();
  }
}

const formatEvent = (name: string, data: object): string => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;

const formatModel = ({ model, streams }: Watch): string =>
  formatEvent('model', { model, spreadMs: Math.min(LONGEST_SPREAD_MS, streams.size * SPREAD_MS) });

const formatGone = ({ lookedAtMs }: Watch): string =>
  formatEvent('gone', { since: formatTime(lookedAtMs), why: 'Conveyor does not get an answer from Temporal' });

/** The same text for the same model. The time that a deploy has spent passes without any change. */
export const hashModel = (model: object): string =>
  createHash('sha256')
    .update(JSON.stringify(model, (name, value: unknown) => (name === 'spans' ? undefined : value)))
    .digest('base64url')
    .slice(0, 22);
