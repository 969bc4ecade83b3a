import { readFileSync } from 'node:fs';
import { findOfferCycle } from '../../../domain/offers/cycles';
import { parsePipeline } from '../../../domain/spec/parse';
import type { PipelineSpec } from '../../../domain/spec/pipeline';
import { examplePath, TOGETHER } from '../../setup/examples';

/** The pipelines of examples/teastore, by name. */
const specs = (): Map<string, PipelineSpec> =>
  new Map(
    TOGETHER.map((file) => {
      const { spec } = parsePipeline(readFileSync(examplePath(file), 'utf8'));
      return [spec!.pipeline, spec!];
    }),
  );

test('pipelines of examples/teastore wish of each other in both directions, but no deploys wait in a circle', () => {
  const all = specs();
  const wished = [...all.values()].flatMap(({ pipeline, wishes = [] }) => wishes.map(({ from }) => [pipeline, from]));
  const mutual = wished.filter(([pipeline, from]) => wished.some(([a, b]) => a === from && b === pipeline));
  expect(new Set(mutual.map(([pipeline]) => pipeline))).toEqual(new Set(['auth', 'persistence', 'registry', 'webui']));
  expect([...all.keys()].map((pipeline) => findOfferCycle(all, pipeline))).toEqual(TOGETHER.map(() => undefined));
});

test('if the registry of examples/teastore had one deploy instead of two, its team and that of Auth would wait for each other', () => {
  const all = specs();
  const { actions, offers = [], ...registry } = all.get('registry')!;
  all.set('registry', {
    ...registry,
    actions: { service: { ...actions['service']!, needs: [] } },
    offers: offers.map((offer) => ({ ...offer, after: 'service' })),
  });
  expect(findOfferCycle(all, 'registry')).toEqual(['registry/service', 'auth/network', 'registry/service']);
});
