import type { Client } from '@temporalio/client';
import { judgeSoak, replacedHere, type Deployments, type SoakAnswer, type SoakAsk } from '../domain/release/soak';
import type { Clock } from './clock';
import { stillWaiting } from './failure';
import { pipelineKnows } from './waitFor';

export interface SoakRun {
  readonly ask: SoakAsk;
  /** The pipeline whose release asks. */
  readonly own: string;
  /** The last answer. */
  readonly seen: SoakAnswer | null;
  /** How long until it is asked again. */
  readonly intervalMs: number;
}

export type SoakActivities = ReturnType<typeof createSoakActivities>;

export function createSoakActivities({ client, clock }: { client: Client; clock: Clock }) {
  return {
    /**
     * How a soak stands, as soon as that is news. Until then it fails and says when to be tried again, as `waitForRelease` does: an
     * interruption is seen before long, and days of waiting take no room in the history.
     */
    soakNews: async ({ ask, own, seen, intervalMs }: SoakRun): Promise<SoakAnswer> => {
      const nowMs = await clock.now();
      const judged = judgeSoak(await pipelineKnows<Deployments>(client, ask.pipeline), ask, nowMs);
      const answer = judged.kind === 'replaced' && ask.pipeline !== own ? await here(own, ask, judged) : judged;
      if (answer.kind !== 'waiting' || answer.reason !== seen?.reason) return answer;
      const leftMs = (answer.untilMs ?? Infinity) - nowMs;
      throw stillWaiting(answer.reason, Math.max(1, Math.min(intervalMs, leftMs)));
    },
  };

  async function here(own: string, { release }: SoakAsk, answer: Extract<SoakAnswer, { kind: 'replaced' }>) {
    const known = await pipelineKnows<Deployments>(client, own);
    return known === null ? answer : replacedHere(answer, known, release);
  }
}
