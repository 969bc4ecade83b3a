import { hasBit } from '../domain/vessel/bits';
import type { Pieces } from './pieces';

interface Reading {
  /** Whether the missing pieces are being fetched. */
  readonly isComing: () => boolean;
  /** Runs once: after the last piece, when no more pieces will come, or when the reader has left. */
  readonly onEnd: () => void;
}

/** Streams pieces from a given one on, each once it has arrived. Breaks off if no more will arrive. */
export function streamPieces(pieces: Pieces, from: number, { isComing, onEnd }: Reading): ReadableStream<Uint8Array> {
  const all = pieces.pack.pieces.length;
  let next = from;
  let isOver = false;
  let wake = (): void => undefined;
  const stop = pieces.listen(() => wake());
  const end = (): void => {
    if (isOver) return;
    isOver = true;
    stop();
    wake();
    onEnd();
  };
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        while (next < all) {
          const bytes = hasBit(pieces.have, next) ? await pieces.read(next) : undefined;
          if (isOver) return;
          if (bytes) {
            controller.enqueue(bytes);
            next += 1;
            break;
          }
          if (!isComing()) {
            end();
            return controller.error(new Error('no more pieces arrive'));
          }
          // A piece that the disk has lost is fetched again.
          if (!hasBit(pieces.have, next)) await new Promise<void>((resolve) => (wake = resolve));
        }
        if (next < all) return;
        end();
        controller.close();
      },
      cancel: end,
    },
    // Each reader holds one piece in memory.
    { highWaterMark: 0 },
  );
}
