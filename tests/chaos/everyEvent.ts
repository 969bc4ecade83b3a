import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { given, type Given, type Service } from '../system/service';
import type { Stack } from '../system/stack';

/** Stories in which the worker is killed after any one event of the deploy's history: the outcome must not change. */

/** One task at a time, slow enough that a worker can be killed in the middle. */
const SLOW: Given = { restartMs: 150, nSmall: 1 };
const FIRST = { name: 'first', scope: 'region:x', amount: 3, bake: '1s' } as const;
const deploying = (deploy: Given['deploy'] = {}): Given => ({
  ...SLOW,
  deploy: { phases: [FIRST], completion: { bake: '1s' }, ...deploy },
});

interface DeployStory {
  readonly given: Given;
  /** The behaviour of the deployed version. */
  readonly behaviour?: object;
  /** The actions of people while it runs; the crash may cut them off, and the story waits for them. */
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
    // It bakes, however long a worker is away.
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

/** Kept as a signal if no worker answers, so that it takes effect exactly once. */
async function says(shop: Service, verb: string): Promise<void> {
  await shop.stack.conveyor([verb, `${shop.name}/1`, '--reason', 'a story says so']);
}

/** The facts that must not depend on crashes: its outcome, the versions in the fleet, and every effect. */
export interface Told {
  readonly state: string;
  readonly deploy: object;
  readonly runs: object;
  readonly effects: readonly string[];
  /** The number of events in the deploy's history when the worker was killed, and at its end. */
  readonly events: { readonly atCrash: number; readonly atEnd: number };
}

/** Plays a story with its own service; with `crashAfter` the worker is killed once the deploy's history has this many events. */
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
    // Units that update at the same time may do so in any order, and each playing has its own run, which keys name.
    effects: (await shop.effects()).map((effect) => effect.replace(/\/[0-9a-f-]{36}$/, '')).sort(),
    events: { atCrash, atEnd: await lengthOf(stack.temporal, shop.deployWorkflow(1)) },
  };
}

const PATIENCE_MS = 180_000;

/** @returns the number of events when it was killed; the server writes several at once. */
async function killAfter(shop: Service, events: number): Promise<number> {
  const { stack } = shop;
  const length = await reached(stack.temporal, shop.deployWorkflow(1), events);
  await stack.crashWorker();
  return length;
}

/**
 * Waits for the server to report it, which it does at once. A history that ends before has all its events by then.
 * @returns the number of events
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
