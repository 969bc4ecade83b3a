import type { OfferBoard } from '../../domain/offers/board';
import { lintPipeline } from '../../domain/spec/lint';
import { pipelineSchema, type PipelineSource } from '../../domain/spec/pipeline';
import { findWrongCircle } from './offerCircles';
import { doesFit, isGranted, isUnfit, listWished } from './offerFacts';
import { membersOf, offersOf, scenarioOf } from './scenario';

const SEEDS = Array.from({ length: 150 }, (_, nth) => nth + 1);

test('a story of offers is the story of its seed, among other pipelines, and the same each time', () => {
  for (const seed of SEEDS.slice(0, 20)) {
    const [story, alone] = [offersOf(seed), scenarioOf(seed)];
    expect(offersOf(seed)).toEqual(story);
    expect(story.pipeline).toBe(alone.pipeline);
    expect(story.happenings).toEqual(expect.arrayContaining([...alone.happenings]));
    expect(membersOf(story).length).toBeGreaterThanOrEqual(2);
  }
});

test('each file of a story is one that apply accepts', () => {
  const wrong = SEEDS.slice(0, 40).flatMap((seed) => {
    const story = offersOf(seed);
    const changed = story.happenings.flatMap((it) => (it.kind === 'apply' ? [it.source] : []));
    const files = [...membersOf(story).map(({ source }) => source), ...changed, ...(story.offering?.last ?? [])];
    return files.flatMap((one) => findErrors(seed, one));
  });
  expect(wrong).toEqual([]);
});

/** Other rules warn of what chaos does on purpose. */
const findErrors = (seed: number, one: PipelineSource): string[] =>
  lintPipeline(pipelineSchema.parse(one))
    .filter(({ severity, path }) => severity === 'error' && ['offers', 'wishes'].includes(String(path[0])))
    .map(({ message }) => `${seed}: ${one.pipeline}: ${message}`);

test('the last files of a story make no circle, and name no offer that is not there', () => {
  for (const seed of SEEDS) {
    const last = offersOf(seed).offering?.last ?? [];
    const files = new Map(last.map((one) => [one.pipeline, one]));
    for (const { pipeline, wishes = [] } of last) {
      expect([seed, findWrongCircle(files, pipeline, undefined)]).toEqual([seed, undefined]);
      for (const { from, offer } of wishes) expect(files.get(from)?.offers?.map(({ name }) => name)).toContain(offer);
    }
  }
});

test('the stories have all that may happen to offers', () => {
  const happenings = SEEDS.flatMap((seed) => offersOf(seed).happenings);
  const kinds = happenings.map((it) => {
    if (it.kind === 'messages') return it.trouble.how;
    if (it.kind === 'command') return it.verb;
    if (it.kind === 'temporal') return `${it.how} ${it.of}`;
    return it.kind === 'apply' && it.together ? 'apply together' : it.kind;
  });
  const wanted = ['apply', 'apply together', 'sweep', 'late', 'lost', 'answer-lost', 'twice', 'silent', 'retire'];
  expect(new Set(kinds)).toEqual(new Set([...kinds, ...wanted, 'end-use', 'terminate offers', 'terminate release']));
});

test('some stories try to apply a circle', () => {
  const circles = SEEDS.flatMap((seed) => {
    const story = offersOf(seed);
    const files = new Map<string, PipelineSource>(membersOf(story).map(({ source }) => [source.pipeline, source]));
    return story.happenings.flatMap((it) => {
      if (it.kind !== 'apply') return [];
      const wrong = findWrongCircle(
        new Map([...files, [it.source.pipeline, it.source]]),
        it.source.pipeline,
        undefined,
      );
      if (wrong === undefined || it.together) files.set(it.source.pipeline, it.source);
      return wrong === undefined || it.together ? [] : [seed];
    });
  });
  expect(circles.length).toBeGreaterThan(5);
});

const deploy = (env: object = {}, more: object = {}) => ({
  type: 'deploy' as const,
  inputs: ['executable'],
  with: { pushType: 'twine', config: { jobs: ['a'], env } },
  ...more,
});
const file = (pipeline: string, more: Partial<PipelineSource> = {}): PipelineSource => ({
  ...{
    pipeline,
    owners: ['user:alice'],
    artifacts: { executable: { finder: 'manual' } },
    actions: { deploy: deploy() },
  },
  ...more,
});

test('a circle that was not refused would be found out, and so would a refusal for one that is not there', () => {
  const wishing = (name: string, from: string) =>
    file(name, { offers: [{ name: 'place' }], wishes: [{ from, offer: 'place' }] });
  const files = (...all: PipelineSource[]) => new Map(all.map((one) => [one.pipeline, one]));
  const round = files(wishing('a', 'b'), wishing('b', 'a'));
  const circle = 'a/deploy → b/deploy → a/deploy';
  expect(findWrongCircle(round, 'a', circle)).toBeUndefined();
  expect(findWrongCircle(round, 'a', undefined)).toBe('a is applied, and deploys wait for each other');
  const chain = files(wishing('a', 'b'), file('b', { offers: [{ name: 'place' }] }));
  expect(findWrongCircle(chain, 'a', undefined)).toBeUndefined();
  expect(findWrongCircle(chain, 'a', circle)).toBe(`a is refused for ${circle}, which is no circle`);
});

test('a wish is judged by the version, the parts and the type of the offer', () => {
  const spec = pipelineSchema.parse(
    file('a', {
      wishes: [{ from: 'b', offer: 'place', version: '^1', schema: { type: 'object', required: ['size'] } }],
      actions: { deploy: deploy({ V0: '${wishes.b.place.id}' }) },
    }),
  );
  const [wish] = listWished(spec, 'deploy');
  const value = { id: 'x', size: 1 };
  expect(wish && doesFit(wish, { version: '1.2.0', value })).toBe(true);
  expect(wish && doesFit(wish, { version: '2.0.0', value })).toBe(false);
  expect(wish && doesFit(wish, { version: '1.2.0', value: { size: 1 } })).toBe(false);
  expect(wish && doesFit(wish, { version: '1.2.0', value: { id: 'x' } })).toBe(false);
  const made = { name: 'place', version: '1.0.0', value, to: ['*'], seq: 1, release: 1, action: 'deploy', since: '' };
  const board: OfferBoard = { seq: 1, rev: 1, offers: [made], users: [], changes: [] };
  expect(wish && isGranted('a', wish, board)).toBe(true);
  expect(wish && isGranted('a', wish, { ...board, offers: [{ ...made, withdrawing: true }] })).toBe(false);
  const changes = [{ release: 2, action: 'deploy', offers: ['place'] }];
  expect(wish && isGranted('a', wish, { ...board, changes })).toBe(false);
  const uses = [{ offer: 'place', seq: 1, version: '^1', paths: ['id'] }];
  const used: OfferBoard = { ...board, users: [{ user: 'a/deploy', pins: [{ release: 1, uses }] }] };
  const offers = (version: string) => pipelineSchema.parse(file('b', { offers: [{ name: 'place', version, value }] }));
  expect([isUnfit(offers('1.1.0'), 'deploy', used), isUnfit(offers('2.0.0'), 'deploy', used)]).toEqual([false, true]);
  expect(isUnfit(pipelineSchema.parse(file('b')), 'deploy', used)).toBe(true);
});
