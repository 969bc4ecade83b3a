import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { given, type Given, type Service } from '../system/service';
import type { Stack } from '../system/stack';

/** Stories in which the worker is killed after one event of the deploy's history, whichever: nothing may be different for it. */

/** One task at a time, each slowly enough that a worker can be killed in the middle. */
const SLOW: Given = { restartMs: 150, nSmall: 1 };
const FIRST = { name: 'first', scope: 'region:x', amount: 3, bake: '1s' } as const;
const deploying = (deploy: Given['deploy'] = {}): Given => ({
  ...SLOW,
  deploy: { phases: [FIRST], completion: { bake: '1s' }, ...deploy },
});

interface DeployStory {
  readonly given: Given;
  /** Of the version that is deployed. */
  readonly behaviour?: object;
  /** What people do while it runs; it may be cut off by the crash, and is waited for. */
  readonly people?: (shop: Service) => Promise<void>;
  readonly outcome: 'succeeded' | 'reverted';
}

export const STORIES: Readonly<Record<string, DeployStory>> = {
  'a good deploy': { given: deploying(), outcome: 'succeeded' },
  'one that is bad in its first phase': { given: deploying(), behaviour: { errorRatio: 0.5 }, outcome: 'reverted' },
  'one that is bad in its completion': {
    given: deploying({ completion: { bake: '1h' } }),
    behaviour: { errorRatio: 0.5, atShare: 0.9 },
    outcome: 'reverted',
  },
  'one that is paused and resumed': {
    // However long a worker is away, it bakes.
    given: deploying({ phases: [{ ...FIRST, bake: '1h' }] }),
    people: async (shop) => {
      await shop.isIn(1, 'baking');
      await says(shop, 'pause');
      await shop.reaches(1, 'is paused', ({ paused }) => paused !== null);
      await says(shop, 'resume');
      await shop.reaches(1, 'continues', ({ paused }) => paused === null);
      await says(shop, 'skip-bake');
    },
    outcome: 'succeeded',
  },
  'one in lockstep': {
    given: deploying({ lockstep: true, phases: [{ ...FIRST, scope: '*', amount: '34%' }] }),
    outcome: 'succeeded',
  },
  'one in parallel': { given: deploying({ mode: 'parallel' }), outcome: 'succeeded' },
};

/** Kept as a signal where no worker answers, so that it is obeyed once in any case. */
async function says(shop: Service, verb: string): Promise<void> {
  await shop.stack.conveyor([verb, `${shop.name}/1`, '--reason', 'a story says so']);
}

/** What must not depend on crashes: how it ended, what the fleet runs, and every effect. */
export interface Told {
  readonly state: string;
  readonly deploy: object;
  readonly runs: object;
  readonly effects: readonly string[];
  /** Events of the deploy's history when the worker was killed, and at its end. */
  readonly events: { readonly atCrash: number; readonly atEnd: number };
}

/** Tells a story of a service of its own; with `crashAfter` the worker is killed once the deploy's history has so many events. */
export async function tell(stack: Stack, story: DeployStory, crashAfter?: number): Promise<Told> {
  const shop = await given(stack, story.given);
  if (story.behaviour) await shop.behaves(2, story.behaviour);
  await shop.ships(2);
  const crash = crashAfter === undefined ? 0 : killAfter(shop, crashAfter);
  const [atCrash] = await Promise.all([crash, story.people?.(shop)]);
  const { state } = await shop.ended(1, PATIENCE_MS);
  const { outcome, classification, phases, revert } = await shop.deploy(1);
  return {
    state,
    deploy: {
      ...{ outcome, classification },
      phases: phases.map((phase) => [
        phase.name,
        phase.state,
        phase.units.map(({ targeted, live }) => [targeted, live]),
      ]),
      reverted: revert?.units.map(({ targeted, live }) => [targeted, live]) ?? null,
    },
    runs: await shop.runs(),
    // Units that go at the same time may go in any order, and each telling has a run of its own, which keys name.
    effects: (await shop.effects()).map((effect) => effect.replace(/\/[0-9a-f-]{36}$/, '')).sort(),
    events: { atCrash, atEnd: await lengthOf(stack.temporal, shop.deployWorkflow(1)) },
  };
}

const PATIENCE_MS = 180_000;

/** @returns how many events it had when it was killed; the server writes several at once. */
async function killAfter(shop: Service, events: number): Promise<number> {
  const { stack } = shop;
  const length = await reached(stack.temporal, shop.deployWorkflow(1), events);
  await stack.crashWorker();
  return length;
}

/**
 * Waits for the server to say so, which it does at once. A history that ends before has all the events that it will have.
 * @returns how many there are
 */
export async function reached(client: Client, workflowId: string, events: number): Promise<number> {
  const execution = { workflowId };
  for (let nextPageToken: Uint8Array | undefined, length = 0; ;) {
    const page = await client.workflowService
      .getWorkflowExecutionHistory({
        ...{ namespace: 'default', execution, waitNewEvent: true },
        ...(nextPageToken ? { nextPageToken } : {}),
      })
      // The deploy has not begun yet.
      .catch(() => undefined);
    length = Math.max(length, Number(page?.history?.events?.at(-1)?.eventId ?? 0));
    if (length >= events) return length;
    if (page && !page.nextPageToken?.length) return length;
    nextPageToken = page?.nextPageToken ?? undefined;
    if (!page) await delay(20);
  }
}

async function lengthOf(client: Client, workflowId: string): Promise<number> {
  const { historyLength } = await client.workflow.getHandle(workflowId).describe();
  return historyLength;
}
