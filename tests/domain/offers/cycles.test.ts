import { findOfferCycle, findWaitCycle } from '../../../domain/offers/cycles';
import { pipelineSchema, type PipelineSource, type PipelineSpec } from '../../../domain/spec/pipeline';

const deploy = (needs: string[] = []): PipelineSource['actions'][string] => ({
  ...{ type: 'deploy', inputs: ['executable'], needs },
  with: { pushType: 'twine' },
});
const pipeline = (name: string, more: Partial<PipelineSource>): [string, PipelineSpec] => [
  name,
  pipelineSchema.parse({
    pipeline: name,
    owners: ['user:alice'],
    artifacts: { executable: { finder: 'manual' } },
    actions: { deploy: deploy() },
    ...more,
  }),
];
const wish = (from: string, offer = from) => ({ from, offer });
const find = (...all: readonly [string, PipelineSpec][]) => findOfferCycle(new Map(all), all[0]?.[0] ?? '');

const REGISTRY = {
  actions: { network: deploy(), service: deploy(['network']) },
  wishes: [{ ...wish('auth', 'group'), for: ['service'] }],
};
const AUTH = { offers: [{ name: 'group' }], wishes: [wish('registry', 'vpc')] };

test('pipelines may wish of each other, if none of their deploys waits for itself', () =>
  expect(
    find(pipeline('auth', AUTH), pipeline('registry', { ...REGISTRY, offers: [{ name: 'vpc', after: 'network' }] })),
  ).toBeUndefined());

test('a circle of deploys is named, with the actions that need each other in between', () =>
  expect(
    find(pipeline('auth', AUTH), pipeline('registry', { ...REGISTRY, offers: [{ name: 'vpc', after: 'service' }] })),
  ).toEqual(['auth/deploy', 'registry/service', 'auth/deploy']));

test('a circle over several pipelines is found, and one elsewhere is not reported', () => {
  const [a, b, c] = [
    pipeline('a', { offers: [{ name: 'a' }], wishes: [wish('b')] }),
    pipeline('b', { offers: [{ name: 'b' }], wishes: [wish('c')] }),
    pipeline('c', { offers: [{ name: 'c' }], wishes: [wish('a')] }),
  ];
  expect(find(a, b, c)).toEqual(['a/deploy', 'b/deploy', 'c/deploy', 'a/deploy']);
  expect(find(a, b)).toBeUndefined();
});

test('an artifact that is an offer of another pipeline counts for the actions that take it', () => {
  const taking = (name: string, from: string, ...inputs: string[]) =>
    pipeline(name, {
      artifacts: {
        executable: { finder: 'manual' },
        taken: { finder: 'offer', with: { pipeline: from, offer: from } },
      },
      actions: { deploy: { ...deploy(), inputs: ['executable', ...inputs] } },
      offers: [{ name }],
    });
  expect(find(taking('a', 'b', 'taken'), taking('b', 'a', 'taken'))).toEqual(['a/deploy', 'b/deploy', 'a/deploy']);
  expect(find(taking('a', 'b', 'taken'), taking('b', 'a'))).toBeUndefined();
});

test('offers that a file does not have, and pipelines that are not known, are no circle', () =>
  expect(find(pipeline('a', { wishes: [wish('b'), wish('c')] }), pipeline('b', {}))).toBeUndefined());

test('a script that waits for an offer belongs to the circle of deploys around it', () => {
  const test: PipelineSource['actions'][string] = { type: 'custom-script', with: { command: ['check'] } };
  const actions = { test, deploy: deploy(['test']) };
  const auth = { offers: [{ name: 'group' }], actions, wishes: [{ ...wish('registry', 'vpc'), for: ['test'] }] };
  const registry = { offers: [{ name: 'vpc' }], wishes: [wish('auth', 'group')] };
  expect(find(pipeline('auth', auth), pipeline('registry', registry))).toEqual([
    ...['auth/test', 'registry/deploy', 'auth/deploy', 'auth/test'],
  ]);
});

test('an action that waits for a release of a pipeline which wishes for a later offer may wait for ever', () => {
  const waitFor: PipelineSource['actions'][string] = { type: 'wait-for', with: { pipeline: 'b' } };
  const waiting = (needs: string[]) =>
    pipeline('a', { offers: [{ name: 'x' }], actions: { ready: { ...waitFor, needs }, deploy: deploy(['ready']) } });
  const b = pipeline('b', { wishes: [wish('a', 'x')] });
  const all = new Map([waiting([]), b]);
  expect(findOfferCycle(all, 'a')).toBeUndefined();
  expect(findWaitCycle(all, 'a')).toEqual(['a/ready', 'b/deploy', 'a/deploy', 'a/ready']);
  expect(findWaitCycle(all, 'b')).toEqual(['b/deploy', 'a/deploy', 'a/ready', 'b/deploy']);
  const after = pipeline('a', {
    offers: [{ name: 'x' }],
    actions: { deploy: deploy(), ready: { ...waitFor, needs: ['deploy'] } },
  });
  expect(findWaitCycle(new Map([after, b]), 'a')).toBeUndefined();
  expect(findWaitCycle(new Map([waiting([]), pipeline('b', {})]), 'a')).toBeUndefined();
});
