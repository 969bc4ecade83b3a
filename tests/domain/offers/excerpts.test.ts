import { checkWishes, listRefused, makeExcerpt } from '../../../domain/offers/excerpts';
import { excerptSchema, type Excerpt } from '../../../domain/spec/excerpts';
import type { PipelineSource } from '../../../domain/spec/pipeline';
import { isInRange } from '../../../sdk/versions';
import { specOf } from '../../builders/pipelineWorld';

type Source = Partial<PipelineSource>;
const NETWORK: Source = {
  pipeline: 'network',
  offers: [
    {
      ...{ name: 'vpc', version: '2.3.0', to: ['shop', 'shop-*'] },
      schema: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
      value: { id: '${state.metadata.id}', net: { size: 24, zones: ['a', { b: 1 }] }, 'a.b': 1, '': 2 },
    },
    { name: 'dns', value: {} },
  ],
};
const specFrom = (source: Source) => specOf(['deploy'], source);
const networkWith = (offer: object): Source => ({
  ...NETWORK,
  offers: [{ ...NETWORK.offers?.[0], name: 'vpc', ...offer }],
});

/** A pipeline that wishes for `vpc`, and uses these parts of it. */
function wishing(pipeline: string, more: object = {}, ...parts: readonly string[]): ReturnType<typeof specOf> {
  const spec = specFrom({ pipeline, wishes: [{ from: 'network', offer: 'vpc', ...more }] });
  const action = spec.actions['deploy'];
  if (action?.type !== 'deploy') throw new Error('no deploy');
  const config = { used: parts.map((part) => `\${wishes.network.vpc.${part}}`) };
  return { ...spec, actions: { deploy: { ...action, with: { ...action.with, config } } } };
}

const excerpt = makeExcerpt(specFrom(NETWORK));
const judge = (spec: ReturnType<typeof specOf>, excerpts: readonly Excerpt[], ...files: readonly Source[]) =>
  checkWishes([spec, ...files.map(specFrom)], excerpts, [], isInRange)[0];

test('an excerpt has the offers of a file with the paths that their values will have, and can be read again', () => {
  expect(excerpt).toEqual({
    pipeline: 'network',
    offers: [
      {
        ...{ name: 'vpc', version: '2.3.0', to: ['shop', 'shop-*'] },
        parts: ['id', 'net', 'net.size', 'net.zones'],
        schema: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
      },
      { name: 'dns', version: null, to: ['*'], parts: [] },
    ],
  });
  expect(excerptSchema.parse(JSON.parse(JSON.stringify({ ...excerpt, more: 'of a later version' })))).toEqual(excerpt);
  expect(makeExcerpt(specFrom({ pipeline: 'shop' }))).toEqual({ pipeline: 'shop', offers: [] });
});

test.each([
  ['without conditions', wishing('shop'), 'fits', null],
  ['for its version and its parts', wishing('shop', { version: '^2.1' }, 'id', 'net.size'), 'fits', null],
  ['from a pipeline that a pattern names', wishing('shop-eu'), 'fits', null],
  [
    'for another version',
    wishing('shop', { version: '^3' }),
    'does-not-fit',
    'network offers vpc 2.3.0, but the wish is for ^3',
  ],
  [
    'for the type that its schema has',
    wishing('shop', { schema: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] } }),
    'fits',
    null,
  ],
  [
    'for another type',
    wishing('shop', { schema: { type: 'object', properties: { id: { type: 'integer' } } } }),
    'does-not-fit',
    'vpc 2.3.0 of network does not fit the wish: id is a string, not an integer',
  ],
  [
    'for the type of a part of which its schema says nothing',
    wishing('shop', { schema: { type: 'object', properties: { net: { type: 'object' } } } }),
    'undecidable',
    'vpc 2.3.0 of network may not fit the wish: the type of net is not known',
  ],
  ['from a pipeline for which it is not', wishing('auth'), 'does-not-fit', 'network does not offer vpc to auth'],
  [
    'for a part that it lacks',
    wishing('shop', {}, 'id', 'net.name'),
    'does-not-fit',
    'vpc 2.3.0 of network has no net.name',
  ],
  [
    'for a part of a list',
    wishing('shop', {}, 'net.zones.b'),
    'does-not-fit',
    'vpc 2.3.0 of network has no net.zones.b',
  ],
] as const)('a wish %s is judged by the excerpt', (_title, spec, verdict, why) =>
  expect(judge(spec, [excerpt])).toMatchObject({ pipeline: spec.pipeline, verdict, why, allowed: false }),
);

test.each([
  ['the pipeline', [], 'there is no excerpt of network'],
  ['the offer', [{ ...excerpt, offers: excerpt.offers.slice(1) }], 'network does not offer vpc'],
  [
    'a version',
    [makeExcerpt(specFrom(networkWith({ version: undefined })))],
    'network offers vpc without a version, but the wish is for ^2',
  ],
] as const)('a wish cannot be judged by excerpts without %s', (_title, excerpts, why) =>
  expect(judge(wishing('shop', { version: '^2' }), excerpts)).toMatchObject({ verdict: 'undecidable', why }),
);

test('an offer without a version does not fit a wish for a part that it lacks', () => {
  const unversioned = makeExcerpt(specFrom(networkWith({ version: undefined })));
  expect(judge(wishing('shop', { version: '^2' }, 'name'), [unversioned])).toMatchObject({
    verdict: 'does-not-fit',
    why: 'vpc of network has no name',
  });
});

test('the file of the offering pipeline counts more than its excerpt, and shows which offers it removes', () => {
  const shop = wishing('shop', { version: '^2' });
  expect(judge(shop, [], NETWORK)?.verdict).toBe('fits');
  expect(judge(shop, [excerpt], networkWith({ version: '3.0.0' }))?.verdict).toBe('does-not-fit');
  expect(judge(shop, [excerpt], { pipeline: 'network' })).toMatchObject({
    verdict: 'does-not-fit',
    why: 'the file of network does not offer vpc any more',
  });
  expect(judge(shop, [], { pipeline: 'network' })?.verdict).toBe('undecidable');
});

test('a wish of several deploys is judged once, by the parts that any of them uses', () => {
  const { actions, ...shop } = wishing('shop', {}, 'id');
  const other = wishing('shop', {}, 'name').actions['deploy'];
  const both = { ...shop, actions: { ...actions, ...(other && { other }) } };
  expect(checkWishes([both], [excerpt], [], isInRange)).toMatchObject([
    { from: 'network', offer: 'vpc', range: null, parts: ['id', 'name'], why: 'vpc 2.3.0 of network has no name' },
  ]);
});

test('only misfits that are not allowed are refused', () => {
  const files = [wishing('shop', { version: '^3' }), wishing('auth')];
  const refused = (...allow: readonly string[]) =>
    listRefused(checkWishes(files, [excerpt], allow, isInRange)).map(({ pipeline }) => pipeline);
  expect(refused()).toEqual(['shop', 'auth']);
  expect(refused('network/dns')).toEqual(['shop', 'auth']);
  expect(refused('network/vpc')).toEqual([]);
  expect(listRefused(checkWishes(files, [], [], isInRange))).toEqual([]);
});
