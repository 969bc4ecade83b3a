import { OFFER_LIMITS } from '../../domain/limits';
import { makeOffers, NO_OFFERS, type OfferBoard } from '../../domain/offers/board';
import { packBoard } from '../../domain/offers/packedBoard';
import { MINUTE, VirtualWorld } from './world';
import { shortHistories } from './shortHistories';

const NET = 'offers/net';
const USERS = 2 * OFFER_LIMITS.noticesAtOnce.max + 50;

const used: OfferBoard = {
  ...makeOffers(
    NO_OFFERS,
    { release: 1, action: 'deploy', made: [{ name: 'place', value: {}, to: ['*'] }], declared: ['place'] },
    '2026-11-23T17:00:00.000Z',
  ),
  users: Array.from({ length: USERS }, (_, n) => ({
    user: `team-${n}/deploy`,
    pins: [{ release: 1, uses: [{ offer: 'place', seq: 1, paths: [], undeploys: true as const }] }],
  })),
};

/** The notices in all histories of the workflow, and the largest number that was on its way at once. */
async function readNotices(world: VirtualWorld): Promise<{ users: string[]; most: number; histories: number }> {
  const users: string[] = [];
  let [most, histories] = [0, 0];
  for (let runId: string | undefined = (await firstRun(world)) ?? ''; runId !== undefined; histories += 1) {
    const { events } = await world.client.workflow.getHandle(NET, runId).fetchHistory();
    let onTheirWay = 0;
    let next: string | undefined;
    for (const event of events ?? []) {
      const sent = event.signalExternalWorkflowExecutionInitiatedEventAttributes;
      if (sent) users.push(sent.workflowExecution?.workflowId ?? '');
      if (sent) onTheirWay += 1;
      if (event.signalExternalWorkflowExecutionFailedEventAttributes) onTheirWay -= 1;
      if (event.externalWorkflowExecutionSignaledEventAttributes) onTheirWay -= 1;
      most = Math.max(most, onTheirWay);
      next = event.workflowExecutionContinuedAsNewEventAttributes?.newExecutionRunId ?? undefined;
    }
    // A history that ends earlier loses them.
    if (next !== undefined) expect(onTheirWay).toBe(0);
    runId = next;
  }
  return { users, most, histories };
}

const firstRun = async (world: VirtualWorld): Promise<string | undefined> => {
  const { raw } = await world.client.workflow.getHandle(NET).describe();
  return raw.workflowExecutionInfo?.firstRunId ?? raw.workflowExecutionInfo?.execution?.runId ?? undefined;
};

test('each of very many users is notified once that an offer is withdrawn, in any number of histories', async () => {
  const world = await VirtualWorld.open(1, shortHistories());
  try {
    const { client, taskQueue } = world;
    const offers = await client.workflow.start('offers', {
      ...{ workflowId: NET, taskQueue },
      args: [{ board: packBoard(used) }],
    });
    await offers.signal('declare-offers', []);
    await world.until('every user is notified', async () => (await readNotices(world)).users.length >= USERS, {
      withinMs: 30 * MINUTE,
    });
    await offers.signal('end-use', 'team-0/deploy');
    await world.sleep(MINUTE);
    const { users, most, histories } = await readNotices(world);
    expect([...users].sort()).toEqual(used.users.map(({ user }) => `pipeline/${user.split('/')[0]}`).sort());
    expect(most).toBe(OFFER_LIMITS.noticesAtOnce.max);
    expect(histories).toBeGreaterThan(1);
  } finally {
    await world.close();
  }
});
