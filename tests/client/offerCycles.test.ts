import { WorkflowNotFoundError } from '@temporalio/client';
import { requireNoOfferCycle } from '../../client/offerCycles';
import { readOffers } from '../../client/offers';
import type { Workflows } from '../../client/workflows';
import { NO_OFFERS, pinOffers, type OfferBoard } from '../../domain/offers/board';
import type { PipelineSource } from '../../domain/spec/pipeline';
import { specOf } from '../builders/pipelineWorld';

type Offering = Pick<PipelineSource, 'offers' | 'wishes'>;
const wish = (from: string) => ({ from, offer: from });

/** Pipelines with a deploy each; others are unknown. */
const pipelinesOf = (all: Readonly<Record<string, Offering>>): Workflows => {
  const pipelineState = (name: string) => {
    const more = all[name];
    return more
      ? Promise.resolve({ spec: specOf(['deploy'], { ...more, pipeline: name }) })
      : Promise.reject(new Error('unknown'));
  };
  return { pipelineState } as unknown as Workflows;
};
const check = (all: Readonly<Record<string, Offering>>, own: Offering) =>
  requireNoOfferCycle(pipelinesOf(all), specOf(['deploy'], { ...own, pipeline: 'a' }));

test('a pipeline whose deploy would wait for itself is refused, with the way', async () => {
  const all = {
    b: { offers: [{ name: 'b' }], wishes: [wish('c')] },
    c: { offers: [{ name: 'c' }], wishes: [wish('a')] },
  };
  await expect(check(all, { offers: [{ name: 'a' }], wishes: [wish('b')] })).rejects.toMatchObject({
    code: 'offers-cycle',
    message: expect.stringContaining('a/deploy → b/deploy → c/deploy → a/deploy') as string,
  });
});

test('wishes that no pipeline offers yet are noted, and nothing is asked without wishes', async () => {
  const all = { b: { offers: [{ name: 'b' }] }, c: {} };
  expect(await check(all, { wishes: [wish('b'), wish('c'), wish('d')] })).toEqual([
    'c has no offer c yet: deploys that wish for it wait',
    'd has no offer d yet: deploys that wish for it wait',
  ]);
  expect(await check({}, { offers: [{ name: 'a' }] })).toEqual([]);
});

test('pipelines behind so many others that they are not asked are noted', async () => {
  const names = Array.from({ length: 210 }, (_, n) => `p${n}`);
  const all = Object.fromEntries(names.map((name, n) => [name, { offers: [{ name }], wishes: [wish(`p${n + 1}`)] }]));
  const notes = await check(all, { wishes: [wish('p0')] });
  expect(notes).toEqual(['not all pipelines behind its wishes were asked, so deploys might wait for each other']);
});

describe('the offers in the status of a pipeline', () => {
  const made = {
    name: 'vpc',
    version: '2.0.0',
    value: {},
    to: ['*'],
    seq: 2,
    release: 7,
    action: 'deploy',
    since: 'T',
  };
  const use = (seq: number) => [{ offer: 'vpc', seq, paths: [] }];
  const board = [
    { user: 'auth/deploy', release: 1, uses: use(1) },
    { user: 'shop/deploy', release: 1, uses: use(2) },
  ].reduce(pinOffers, { ...NO_OFFERS, seq: 2, offers: [made] });
  const read = (answer: OfferBoard | Error, offers: PipelineSource['offers'] = [{ name: 'vpc' }, { name: 'dns' }]) => {
    const query = () => (answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer));
    const client = {
      withDeadline: (_: number, ask: () => unknown) => ask(),
      workflow: { getHandle: () => ({ query }) },
    };
    return readOffers({ client } as never, { spec: specOf(['deploy'], { offers }) });
  };

  test('are those that are made, with their users, and those of its file that are not', async () => {
    expect(await read(board)).toMatchObject([
      {
        ...{ name: 'vpc', state: 'made', release: 7 },
        users: [
          { user: 'auth/deploy', behind: true },
          { user: 'shop/deploy', behind: false },
        ],
      },
      { name: 'dns', state: 'unmade', users: [] },
    ]);
  });

  test('are not made before their workflow has begun, and are left out if it does not answer', async () => {
    expect(await read(new WorkflowNotFoundError('none', 'offers/kvstore', undefined))).toMatchObject([
      { name: 'vpc', state: 'unmade' },
      { name: 'dns', state: 'unmade' },
    ]);
    expect(await read(new Error('deadline exceeded'))).toBeUndefined();
    expect(await read(NO_OFFERS, [])).toBeUndefined();
  });
});
