import { Bell } from '../store/bell';

/** How often a watcher gets a sign of life. */
const ALIVE_MS = 10_000;

interface StreamOptions<T> {
  readonly getKey: (item: T) => string;
  /** Sent to a reader if there is nothing else to send. */
  readonly alive: () => object;
  readonly onEnd: () => void;
  readonly aliveMs?: number | undefined;
}

interface Stream<T> {
  readonly response: Response;
  send(item: T): void;
  end(): void;
  /** Adds a callback that runs when the reader has disconnected, or the stream has ended. */
  addCleanup(tidy: () => void): void;
}

/** Server-sent events. A slow reader gets only the newest item of each key, which bounds the memory of a stream. */
export function createEventStream<T>({ getKey, alive, onEnd, aliveMs = ALIVE_MS }: StreamOptions<T>): Stream<T> {
  const waiting = new Map<string, T>();
  const bell = new Bell();
  const tidyings = [onEnd];
  let isOver = false;
  const end = (): void => {
    if (isOver) return;
    isOver = true;
    for (const tidy of tidyings) tidy();
    bell.ring();
  };
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (waiting.size === 0) await bell.wait(aliveMs);
      if (isOver) return controller.close();
      const items = [...waiting.values()].map((item) => event('config', item));
      waiting.clear();
      controller.enqueue(encoder.encode(items.length === 0 ? event('alive', alive()) : items.join('')));
    },
    cancel: end,
  });
  const headers = { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-store' };
  return {
    response: new Response(body, { headers }),
    send: (item) => {
      waiting.delete(getKey(item));
      waiting.set(getKey(item), item);
      bell.ring();
    },
    end,
    addCleanup: (tidy) => (isOver ? tidy() : void tidyings.push(tidy)),
  };
}

const event = (name: string, data: unknown): string => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;

const encoder = new TextEncoder();
