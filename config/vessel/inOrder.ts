import { hasBit } from '../../domain/vessel/bits';
import type { Pieces } from './pieces';

interface Reading {
  /** Whether somebody fetches what is missing. */
  readonly isComing: () => boolean;
  /** Runs once, when all is read, nothing more comes, or nobody reads on. */
  readonly onEnd: () => void;
}

/** Pieces from one on, each once it is there. It breaks off when no more of them come. */
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
            return controller.error(new Error('no more of it comes'));
          }
          // What the disk has lost is fetched again.
          if (!hasBit(pieces.have, next)) await new Promise<void>((resolve) => (wake = resolve));
        }
        if (next < all) return;
        end();
        controller.close();
      },
      cancel: end,
    },
    // Of each reader one piece is in memory.
    { highWaterMark: 0 },
  );
}
