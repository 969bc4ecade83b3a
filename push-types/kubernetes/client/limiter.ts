export interface RequestPace {
  /** Runs a request in a slot, after its turn. Urgent ones overtake those that are not and still wait, but not all the time. */
  run<T>(work: () => Promise<T>, urgency: RequestUrgency): Promise<T>;
}

export type RequestUrgency = 'urgent' | 'normal';

interface PaceClock {
  now(): number;
  sleep(ms: number): Promise<void>;
}

/** Urgent requests that may begin in a row while others wait, so that thousands of patches do not make the view of the cluster old. */
const MOST_OVERTAKING = 4;

/** At most `perSecond` requests begin in any second, and at most `inFlight` run at once; otherwise turns are first come, first served. */
export function createPace(perSecond: number, inFlight: number, { now, sleep }: PaceClock): RequestPace {
  const waiting: Readonly<Record<RequestUrgency, (() => void)[]>> = { urgent: [], normal: [] };
  const starts: number[] = [];
  let running = 0;
  let overtaking = 0;
  const admitNext = (): void => {
    const { urgent, normal } = waiting;
    const isUrgent = urgent.length > 0 && (normal.length === 0 || overtaking < MOST_OVERTAKING);
    overtaking = isUrgent && normal.length > 0 ? overtaking + 1 : 0;
    (isUrgent ? urgent : normal).shift()?.();
  };
  let isServing = false;
  const serve = async (): Promise<void> => {
    if (isServing) return;
    isServing = true;
    while (running < inFlight && waiting.urgent.length + waiting.normal.length > 0) {
      const waitMs = starts.length < perSecond ? 0 : (starts[0] ?? 0) + 1000 - now();
      // A request that comes during the wait may have the next turn.
      if (waitMs > 0) await sleep(waitMs);
      else {
        starts.push(now());
        if (starts.length > perSecond) starts.shift();
        running += 1;
        admitNext();
      }
    }
    isServing = false;
  };
  return {
    run: async (work, urgency) => {
      await new Promise<void>((resolve) => {
        waiting[urgency].push(resolve);
        void serve();
      });
      try {
        return await work();
      } finally {
        running -= 1;
        void serve();
      }
    },
  };
}
