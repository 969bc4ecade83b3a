import { WorkflowNotFoundError } from '@temporalio/client';
import { TypedSearchAttributes } from '@temporalio/common';
import { listAllOffers, pipelineOffers } from '../../client/offerLists';
import type { Workflows } from '../../client/workflows';
import { conveyorError } from '../../domain/errors';
import { NO_OFFERS, type Offer, type OfferBoard } from '../../domain/offers/board';
import { specOf } from '../builders/pipelineWorld';

const offer = (name: string, to = '*'): Offer => ({
  ...{ name, value: { id: name }, to: [to], seq: 1, release: 7, action: 'deploy', since: '2026-11-23T17:00:00.000Z' },
});
const boardWith = (...offers: readonly Offer[]): OfferBoard => ({ ...NO_OFFERS, offers });
const SILENT = new Error('4 DEADLINE_EXCEEDED: context deadline exceeded');
const GONE = new WorkflowNotFoundError('none', 'offers/x', undefined);

interface Row {
  readonly id: string;
  readonly answer: OfferBoard | Error;
  readonly status?: string;
}

/** Workflows of offers in visibility, in any order, and the largest number that was asked at once. */
function offering(rows: readonly Row[]) {
  const asked = { now: 0, most: 0, all: 0, query: '' };
  const list = async function* ({ query }: { query: string }) {
    asked.query ||= query;
    for (const { id, status = 'RUNNING' } of rows)
      yield {
        ...{ workflowId: id, runId: `run of ${id}`, taskQueue: 'conveyor', status: { name: status } },
        typedSearchAttributes: new TypedSearchAttributes([]),
      };
  };
  const ask = async (id: string): Promise<OfferBoard> => {
    asked.all += 1;
    asked.most = Math.max(asked.most, (asked.now += 1));
    await Promise.resolve();
    asked.now -= 1;
    const { answer } = rows.find((row) => row.id === id) ?? { answer: GONE };
    if (answer instanceof Error) throw answer;
    return answer;
  };
  const client = {
    workflow: { list, getHandle: (id: string) => ({ query: () => ask(id) }) },
    withDeadline: (_at: number, call: () => Promise<unknown>) => call(),
    workflowService: { describeTaskQueue: () => Promise.resolve({ pollers: [{ identity: 'worker' }] }) },
  };
  const workflows = {
    temporal: { namespace: 'default', client },
    withWording: (_id: string, call: () => Promise<unknown>) => call(),
    pipelineState: (name: string) =>
      name === 'network'
        ? Promise.resolve({ spec: specOf(['deploy'], { pipeline: name, offers: [{ name: 'vpc' }, { name: 'bus' }] }) })
        : Promise.reject(conveyorError('unknown-pipeline', { pipeline: name })),
  } as unknown as Workflows;
  return { asked, workflows };
}

const NETWORK: Row = { id: 'offers/network', answer: boardWith(offer('vpc'), offer('dns', 'web-*')) };
const AUTH: Row = { id: 'offers/auth', answer: boardWith(offer('login')) };

describe('the list of all offers', () => {
  test('is by pipeline, and has only those for a pipeline if one is named', async () => {
    const { workflows, asked } = offering([NETWORK, AUTH]);
    const ids = async (to?: string) =>
      (await listAllOffers(workflows, { limit: 9, ...(to === undefined ? {} : { to }) })).offers.map(({ id }) => id);
    expect(await ids()).toEqual(['auth/login', 'network/vpc', 'network/dns']);
    expect(await ids('shop')).toEqual(['auth/login', 'network/vpc']);
    expect(asked.query).toContain("WorkflowType = 'offers'");
  });

  test('says how many it leaves out', async () => {
    const { workflows } = offering([NETWORK, AUTH]);
    expect(await listAllOffers(workflows, { limit: 2 })).toMatchObject({
      ...{ more: 1, unread: [], unasked: 0 },
      offers: [{ id: 'auth/login', users: 0 }, { id: 'network/vpc' }],
    });
  });

  test('names the pipelines that do not answer, and passes over those that have ended meanwhile', async () => {
    const rows = [NETWORK, { ...AUTH, answer: SILENT }, { id: 'offers/shop', answer: GONE }];
    const { offers, unread } = await listAllOffers(offering(rows).workflows, { limit: 9 });
    expect(offers.map(({ id }) => id)).toEqual(['network/vpc', 'network/dns']);
    expect(unread).toEqual([{ id: 'auth', problem: 'its offers did not answer in time' }]);
  });

  test('has no workflow of another name that a stranger started', async () => {
    const rows = [NETWORK, { ...AUTH, id: 'offers/auth/x' }, { ...AUTH, id: 'mine' }];
    const { offers, unread } = await listAllOffers(offering(rows).workflows, { limit: 9 });
    expect([offers.length, unread]).toEqual([2, []]);
  });

  test('asks a few pipelines at once, and of very many only the first, with the number of the others', async () => {
    const rows = Array.from({ length: 1_010 }, (_, n) => ({ ...AUTH, id: `offers/p${String(n).padStart(4, '0')}` }));
    const { workflows, asked } = offering(rows.reverse());
    const list = await listAllOffers(workflows, { limit: 50 });
    expect([list.offers.length, list.more, list.unasked]).toEqual([50, 950, 10]);
    expect(list.offers[0]?.id).toBe('p0000/login');
    expect(asked).toMatchObject({ all: 1_000, most: 20 });
  });
});

describe('the offers of a pipeline', () => {
  test('are those that are made, and those of its file that are not', async () => {
    const { offers } = await pipelineOffers(offering([NETWORK]).workflows, 'network');
    expect(offers.map(({ name, state, value }) => [name, state, value])).toEqual([
      ['vpc', 'made', { id: 'vpc' }],
      ['dns', 'made', { id: 'dns' }],
      ['bus', 'unmade', null],
    ]);
  });

  test('are not made before their workflow has begun', async () => {
    const { offers } = await pipelineOffers(offering([]).workflows, 'network');
    expect(offers.map(({ state }) => state)).toEqual(['unmade', 'unmade']);
  });

  test('are refused for a pipeline that does not exist, or that does not answer', async () => {
    await expect(pipelineOffers(offering([]).workflows, 'netwrk')).rejects.toMatchObject({ code: 'unknown-pipeline' });
    await expect(pipelineOffers(offering([{ ...NETWORK, answer: SILENT }]).workflows, 'network')).rejects.toBe(SILENT);
  });
});
