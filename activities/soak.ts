import type { Client } from '@temporalio/client';
import { judgeSoak, judgeReplaced, type Deployments, type SoakAnswer, type SoakAsk } from '../domain/release/soak';
import type { Clock } from './clock';
import { stillWaiting } from './failure';
import { pipelineKnows } from './waitFor';

export interface SoakRun {
  readonly ask: SoakAsk;
  /** The pipeline of the release that asks. */
  readonly own: string;
  /** The last answer. */
  readonly seen: SoakAnswer | null;
  /** The time until it is asked again; ms. */
  readonly intervalMs: number;
}

export type SoakActivities = ReturnType<typeof createSoakActivities>;

export function createSoakActivities({ client, clock }: { client: Client; clock: Clock }) {
  return {
    /**
     * Answers as soon as the state of a soak changes. Until then it fails and gives the time of the next try, as `waitForRelease` does. So
     * an interruption is seen soon, and days of waiting take no room in the history.
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
    return known === null ? answer : judgeReplaced(answer, known, release);
  }
}
