import { WorkflowNotFoundError } from '@temporalio/client';
import { noteOfferCycle, requireNoOfferCycle } from '../../client/offerCycles';
import { readBrokenUses, readOffers, withBrokenUses } from '../../client/offers';
import type { Workflows } from '../../client/workflows';
import { NO_OFFERS, pinOffers, type OfferBoard } from '../../domain/offers/board';
import type { PipelineState } from '../../domain/pipeline/state';
import type { PipelineSource } from '../../domain/spec/pipeline';
import { isInRange } from '../../sdk/versions';
import { action, release } from '../builders/cliSamples';
import { specOf } from '../builders/pipelineWorld';

type Offering = Partial<Pick<PipelineSource, 'actions' | 'artifacts' | 'offers' | 'wishes'>>;
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

test('an import whose deploys would wait for each other is noted with the way, and not refused', async () => {
  const all = pipelinesOf({ b: { offers: [{ name: 'b' }], wishes: [wish('a')] } });
  const note = (own: Offering) => noteOfferCycle(all, specOf(['deploy'], { ...own, pipeline: 'a' }));
  expect(await note({ offers: [{ name: 'a' }], wishes: [wish('b')] })).toEqual([
    'deploys of its file will wait for each other: a/deploy → b/deploy → a/deploy; correct the file, and apply it',
  ]);
  expect(await note({ wishes: [wish('b')] })).toEqual([]);
});

test('a wait-for that may wait for ever is noted from both sides, and not refused', async () => {
  const deploy = { type: 'deploy' as const, inputs: ['executable'], needs: ['ready'], with: { pushType: 'twine' } };
  const ready = { type: 'wait-for' as const, with: { pipeline: 'b' } };
  const waits = { offers: [{ name: 'x' }], actions: { ready, deploy } };
  const wishes = { wishes: [{ from: 'a', offer: 'x' }] };
  const note = (path: string) => [
    `a wait-for may wait for ever: ${path}; unless the release that it waits for has ended before, move it after the deploy that makes the offer, or remove the wish`,
  ];
  const spec = specOf(['deploy'], { ...waits, pipeline: 'a' });
  const path = 'a/ready → b/deploy → a/deploy → a/ready';
  expect(await requireNoOfferCycle(pipelinesOf({ b: wishes }), spec)).toEqual(note(path));
  expect(await noteOfferCycle(pipelinesOf({ b: wishes }), spec)).toEqual(note(path));
  expect(
    await requireNoOfferCycle(pipelinesOf({ a: waits }), specOf(['deploy'], { ...wishes, pipeline: 'b' })),
  ).toEqual(note('b/deploy → a/deploy → a/ready → b/deploy'));
});

test('wishes that no pipeline offers yet are noted, and nothing is asked without wishes', async () => {
  const all = { b: { offers: [{ name: 'b' }] }, c: {} };
  expect(await check(all, { wishes: [wish('b'), wish('c'), wish('d')] })).toEqual([
    'c has no offer c yet: what needs it waits',
    'd has no offer d yet: what needs it waits',
  ]);
  expect(await check({}, { offers: [{ name: 'a' }] })).toEqual([]);
  const taken = { finder: 'offer', with: { pipeline: 'c', offer: 'vpc' } };
  const more = { artifacts: { executable: { finder: 'manual' }, taken } };
  expect(await check(all, more)).toEqual(['c has no offer vpc yet: what needs it waits']);
});

test('pipelines behind so many others that they are not asked are noted', async () => {
  const names = Array.from({ length: 210 }, (_, n) => `p${n}`);
  const all = Object.fromEntries(names.map((name, n) => [name, { offers: [{ name }], wishes: [wish(`p${n + 1}`)] }]));
  const notes = await check(all, { wishes: [wish('p0')] });
  expect(notes).toEqual(['not all pipelines behind its offers were asked, so deploys might wait for each other']);
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
  const read = (
    answer: OfferBoard | Error,
    offers: PipelineSource['offers'] = [{ name: 'vpc' }, { name: 'dns' }],
    more: Pick<PipelineState, 'retired'> = {},
  ) => {
    const query = () => (answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer));
    const client = {
      withDeadline: (_: number, ask: () => unknown) => ask(),
      workflow: { getHandle: () => ({ query }) },
    };
    return readOffers({ client } as never, { spec: specOf(['deploy'], { offers }), ...more }, isInRange);
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

  test('are only those that are still used if it is retired', async () => {
    const retired = { actor: 'user:alice', at: 'T', reason: 'moved' };
    expect(await read(board, undefined, { retired })).toMatchObject([{ name: 'vpc' }]);
    expect(await read(NO_OFFERS, undefined, { retired })).toBeUndefined();
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

describe('a pipeline knows which of its deploys use broken offers', () => {
  const offer: OfferBoard['offers'][number] = {
    ...{ name: 'vpc', version: '1.0.0', value: {}, to: ['*'], seq: 2, release: 7, action: 'deploy', since: 'T' },
  };
  const uses = [{ offer: 'vpc', seq: 1, paths: [], version: '^2' }];
  const board = ['auth/deploy', 'shop/deploy'].reduce<OfferBoard>(
    (all, user) => pinOffers(all, { user, release: 3, uses }),
    {
      ...NO_OFFERS,
      seq: 2,
      offers: [offer],
    },
  );
  const temporal = (asked: string[] = []) => {
    const query = (id: string) => () => {
      asked.push(id);
      return id === 'offers/network' ? Promise.resolve(board) : Promise.reject(new Error('deadline exceeded'));
    };
    const client = {
      withDeadline: (_: number, ask: () => unknown) => ask(),
      workflow: { getHandle: (id: string) => ({ query: query(id) }) },
    };
    return { client } as never;
  };
  const why = 'vpc 1.0.0 of network does not fit auth/deploy, which wishes for ^2';
  const broken = [{ action: 'deploy', release: 3, from: 'network', offer: 'vpc', why }];
  const spec = specOf(['deploy'], { pipeline: 'auth' });

  test('from the pipelines of these offers, of which one may not answer', async () => {
    expect(await readBrokenUses(temporal(), { spec, uses: { deploy: ['network', 'away'] } }, isInRange)).toEqual(
      broken,
    );
    expect(await readBrokenUses(temporal(), { spec, uses: { deploy: ['away'] } }, isInRange)).toBeUndefined();
    const asked: string[] = [];
    expect(await readBrokenUses(temporal(asked), { spec }, isInRange)).toBeUndefined();
    expect(asked).toEqual([]);
  });

  test('and a release that has ended knows its own', async () => {
    const wishes = [
      { from: 'network', offer: 'vpc', range: '^2', state: 'satisfied' as const, version: '2.0.0', seq: 1 },
    ];
    const ended = (number: number) =>
      release({ pipeline: 'auth', number, endedAt: 'T', actions: [action({ name: 'deploy', wishes })] });
    expect((await withBrokenUses(temporal(), ended(3), isInRange)).brokenUses).toEqual(broken);
    expect(await withBrokenUses(temporal(), ended(2), isInRange)).not.toHaveProperty('brokenUses');
    const asked: string[] = [];
    await withBrokenUses(temporal(asked), { ...ended(3), endedAt: null }, isInRange);
    expect(asked).toEqual([]);
  });
});
