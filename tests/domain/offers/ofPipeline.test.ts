import {
  fillAnyway,
  fillWishes,
  findDeployOffers,
  findMaker,
  findRunning,
  listOffersAfter,
  listWishes,
  placeRelease,
  resolveOffers,
} from '../../../domain/offers/ofPipeline';
import { fillPlaceholders, listWishedParts } from '../../../domain/offers/placeholders';
import { lintPipeline } from '../../../domain/spec/lint';
import { pipelineSchema, type PipelineSource } from '../../../domain/spec/pipeline';
import { artifact, deployed, manual, specOf } from '../../builders/pipelineWorld';

const deploy = (config: Record<string, unknown> = {}): PipelineSource['actions'][string] => ({
  ...{ type: 'deploy', inputs: ['executable'] },
  with: { pushType: 'twine', config },
});
const source = (more: Partial<PipelineSource> = {}): PipelineSource => ({
  pipeline: 'auth',
  owners: ['user:alice'],
  artifacts: { executable: { finder: 'manual' } },
  actions: { deploy: deploy() },
  ...more,
});
const lint = (more: object) =>
  lintPipeline(pipelineSchema.parse({ ...source(), ...more }))
    .filter(
      ({ code }) =>
        code.includes('offer') ||
        code.includes('wish') ||
        ['unknown-action', 'not-a-deploy', 'bad-placeholder', 'unknown-artifact', 'over-limit'].includes(code),
    )
    .map(({ code, message }) => `${code}: ${message}`);
const two = { network: deploy(), service: deploy() };
const script = (...command: string[]) => ({ type: 'custom-script', with: { command } }) as const;
const WISHED_BY_TEST = [{ from: 'net', offer: 'vpc', for: ['test'] }];

test.each([
  [
    'an offer without a deploy to make it, if there are several',
    { actions: two, offers: [{ name: 'vpc' }] },
    'offer-after: the offer vpc does not say which of several deploys makes it',
  ],
  [
    'an offer after an action that is not there',
    { offers: [{ name: 'vpc', after: 'deplo' }] },
    'unknown-action: there is no action deplo',
  ],
  ['two offers of one name', { offers: [{ name: 'vpc' }, { name: 'vpc' }] }, 'duplicate-offer: vpc is listed twice'],
  [
    'a value of an artifact that the deploy does not take',
    { offers: [{ name: 'vpc', value: { id: '${image.version}' } }] },
    'unknown-artifact: the deploy that makes vpc has no input image',
  ],
  [
    'a value of no field',
    { offers: [{ name: 'vpc', value: { id: '${executable.name}' } }] },
    'bad-placeholder: ${executable.name} is not a field of an artifact',
  ],
  [
    'a secret in an offer',
    { offers: [{ name: 'db', value: { password: 'hunter2' } }] },
    'offer-secret: the offer db contains password, which every reader of the pipeline sees',
  ],
  [
    'a value that is too large',
    { offers: [{ name: 'db', value: { rows: 'x'.repeat(9_000) } }] },
    'over-limit: the value of an offer is 9,011 bytes, more than 8 kB',
  ],
  [
    'a wish of itself',
    { wishes: [{ from: 'auth', offer: 'vpc' }] },
    'wish-for-own-offer: auth would wait for its own offer',
  ],
  [
    'the same wish twice',
    {
      wishes: [
        { from: 'net', offer: 'vpc' },
        { from: 'net', offer: 'vpc' },
      ],
    },
    'duplicate-wish: vpc of net is listed twice',
  ],
  [
    'a wish for an action that is not there',
    { wishes: [{ from: 'net', offer: 'vpc', for: ['web'] }] },
    'unknown-action: there is no action web',
  ],
  [
    'a value of an offer that the deploy does not wish for',
    { actions: { deploy: deploy({ id: '${wishes.net.dns.id}' }) }, wishes: [{ from: 'net', offer: 'vpc' }] },
    'unknown-wish: deploy does not wish for dns of net',
  ],
  [
    'a value of an offer in a file without wishes',
    { actions: { deploy: deploy({ id: '${wishes.net.dns.id}' }) } },
    'unknown-wish: deploy does not wish for dns of net',
  ],
  [
    'a wish for an action that waits for no offer',
    {
      actions: { deploy: deploy(), ok: { type: 'manual-pick' } },
      wishes: [{ from: 'net', offer: 'vpc', for: ['ok'] }],
    },
    'cannot-wish: ok is a manual-pick, which waits for no offer',
  ],
  [
    'a value of an offer in an action that no wish names',
    {
      actions: { deploy: deploy(), test: script('check', '${wishes.net.vpc.id}') },
      wishes: [{ from: 'net', offer: 'vpc' }],
    },
    'unknown-wish: test does not wish for vpc of net',
  ],
  [
    'a value of an offer as a program',
    { actions: { test: script('sh', '-ec', 'ping ${wishes.net.vpc.id}') }, wishes: WISHED_BY_TEST },
    'wish-as-program: a value of an offer would be part of the program that test runs',
  ],
  [
    'a value of an offer as the name of a service',
    { actions: { test: { type: 'custom', with: { service: '${wishes.net.vpc.id}' } } }, wishes: WISHED_BY_TEST },
    'wish-as-program: a value of an offer would choose the service that runs the action',
  ],
  [
    'changes of offers as artifacts where no release is dropped',
    {
      artifacts: {
        executable: { finder: 'manual' },
        vpc: { finder: 'offer', with: { pipeline: 'net', offer: 'vpc' } },
      },
      releases: { supersede: 'never' },
    },
    'offers-in-order: a release with a change of vpc of net that is over would keep later ones from their turn for ever',
  ],
  [
    'a placeholder that names no offer',
    { actions: { deploy: deploy({ id: '${wishes.net}' }) }, wishes: [{ from: 'net', offer: 'vpc' }] },
    'bad-placeholder: ${wishes.net} names no offer',
  ],
] as const)('lint finds %s', (_, more, finding) => expect(lint(more)).toEqual([finding]));

test('lint accepts two pipelines that wish of each other', () =>
  expect(
    lint({
      actions: { network: deploy(), service: deploy({ id: '${wishes.net.vpc.id}' }) },
      offers: [{ name: 'group', after: 'network', value: { of: '${executable.version}' } }],
      wishes: [{ from: 'net', offer: 'vpc', version: '^2', for: ['service'] }],
    }),
  ).toEqual([]));

test.each(['two', '^x', '1.2.3.4', '>2 <3'])('a range such as %s is refused', (version) =>
  expect(pipelineSchema.safeParse(source({ wishes: [{ from: 'net', offer: 'vpc', version }] })).success).toBe(false),
);

test('the only deploy of a pipeline makes its offers', () => {
  const spec = pipelineSchema.parse(source({ offers: [{ name: 'vpc' }] }));
  expect([findMaker(spec, {}), listOffersAfter(spec, 'deploy').map(({ name }) => name)]).toEqual(['deploy', ['vpc']]);
  expect(findMaker(specOf(['network', 'service']), {})).toBeUndefined();
});

test('the wishes of a deploy come with the parts that its configuration uses', () => {
  const spec = pipelineSchema.parse(
    source({
      actions: {
        deploy: deploy({ id: '${wishes.net.vpc.id}', url: 'http://${wishes.net.dns.name}:${wishes.net.dns.port}/' }),
        other: deploy(),
      },
      wishes: [
        { from: 'net', offer: 'vpc', version: '^2' },
        { from: 'net', offer: 'dns', for: ['deploy'] },
      ],
    }),
  );
  expect(listWishes(spec, 'deploy')).toEqual([
    { from: 'net', offer: 'vpc', version: '^2', paths: ['id'] },
    { from: 'net', offer: 'dns', paths: ['name', 'port'] },
  ]);
  expect(listWishes(spec, 'other')).toEqual([{ from: 'net', offer: 'vpc', version: '^2', paths: [] }]);
});

test('another action than a deploy wishes for an offer only if the wish names it, with the parts that it uses', () => {
  const actions = { deploy: deploy(), test: script('check', '--at', '${wishes.net.vpc.id}') };
  const find = (more: object) =>
    listWishes(pipelineSchema.parse(source({ actions, wishes: [{ from: 'net', offer: 'vpc', ...more }] })), 'test');
  expect(find({})).toEqual([]);
  expect(find({ for: ['test'] })).toEqual([{ from: 'net', offer: 'vpc', paths: ['id'] }]);
  expect(lint({ actions, wishes: WISHED_BY_TEST })).toEqual([]);
});

test('a deploy that takes an offer as an artifact wishes for that change of it', () => {
  const taken = { finder: 'offer', with: { pipeline: 'registry', offer: 'vpc' } };
  const wishes = [
    { from: 'registry', offer: 'vpc' },
    { from: 'registry', offer: 'dns' },
  ];
  const spec = pipelineSchema.parse(source({ artifacts: { executable: { finder: 'manual' }, taken }, wishes }));
  const find = (...names: string[]) =>
    findDeployOffers(
      { spec, trigger: manual() },
      'deploy',
      names.map((name) => artifact('7', name)),
    ).wishes;
  expect(find('executable', 'taken')).toEqual([
    { from: 'registry', offer: 'vpc', paths: [], change: '7' },
    { from: 'registry', offer: 'dns', paths: [] },
  ]);
  expect(find('executable')[0]).toEqual({ from: 'registry', offer: 'vpc', paths: [] });
});

test('an undeploy removes all offers of its deploy, and no others', () => {
  const vpc = { name: 'vpc', after: 'deploy', value: {}, to: ['*'] };
  const dns = { name: 'dns', after: 'other', value: {}, to: ['*'] };
  const spec = pipelineSchema.parse(source({ actions: { deploy: deploy(), other: deploy() }, offers: [vpc, dns] }));
  const undeploy = { ...manual(), kind: 'undeploy' } as const;
  const removes = { offers: ['vpc'], deploys: ['deploy', 'other'] };
  const plan = { action: 'deploy', made: [], elsewhere: ['dns'], removes };
  expect(findDeployOffers({ spec, trigger: undeploy, offered: true }, 'deploy', [])).toEqual({ wishes: [], plan });
  expect(findDeployOffers({ spec, trigger: undeploy }, 'deploy', [])).toEqual({ wishes: [], plan: null });
});

test('values keep their type if they stand alone, and are text among text', () => {
  const use = { offer: 'dns', seq: 1, paths: [] };
  const granted = [{ from: 'net', version: null, use, parts: { '': { port: 53 }, port: 53, name: 'ns' } }];
  const wishes = [{ from: 'net', offer: 'dns', paths: ['', 'port', 'name'] }];
  const config = {
    all: '${wishes.net.dns}',
    port: '${wishes.net.dns.port}',
    list: ['${wishes.net.dns.name}:${wishes.net.dns.port}'],
    other: '${HOME}',
  };
  expect(fillWishes(config, wishes, granted)).toEqual({
    config: { all: { port: 53 }, port: 53, list: ['ns:53'], other: '${HOME}' },
  });
});

test('a deploy never begins with a value that is not known, or with a configuration that is too large', () => {
  const [wish, use] = [
    { from: 'net', offer: 'dns', paths: ['port', 'name'] },
    { offer: 'dns', seq: 1, paths: [] },
  ];
  const grant = (parts: Record<string, unknown>) => [{ from: 'net', version: null, use, parts }];
  const config = { name: '${wishes.net.dns.name}' };
  expect(fillWishes(config, [wish], grant({ port: 53 }))).toEqual({
    refusal: 'its config uses dns of net, and no value of it is known',
  });
  expect(fillWishes(config, [wish], grant({ port: 53, name: 'x'.repeat(17_000) }))).toMatchObject({
    refusal: expect.stringContaining('the config of a deploy is 17 kB') as string,
  });
});

test('a value never brings another placeholder to life', () =>
  expect(
    fillPlaceholders(
      '${a} ${b}',
      new Map([
        ['a', '${b}'],
        ['b', 'x'],
      ]),
    ),
  ).toBe('${b} x'));

test('placeholders of other kinds are left alone', () =>
  expect(listWishedParts({ a: '${HOME}', b: '${wish.x.y}' })).toEqual([]));

test('an offer has the fields of the artifacts that its deploy took, or says which is missing', () => {
  const { offers = [] } = pipelineSchema.parse(
    source({
      offers: [
        { name: 'vpc', version: '2.0.0', value: { of: '${executable.version}', id: '${executable.metadata.id}' } },
      ],
    }),
  );
  expect(resolveOffers(offers, [{ ...artifact('kv:2'), metadata: { id: 'vpc-7' } }])).toEqual({
    made: [{ name: 'vpc', version: '2.0.0', value: { of: 'kv:2', id: 'vpc-7' }, to: ['*'] }],
  });
  expect(resolveOffers(offers, [artifact('kv:2')])).toEqual({
    refusal: 'the offer vpc uses executable.metadata.id, which its artifact lacks',
  });
});

describe('a deploy that does not wait', () => {
  const wishes = [{ from: 'net', offer: 'dns', paths: ['name'] }];
  const grant = (name: string) => ({
    from: 'net',
    version: null,
    use: { offer: 'dns', seq: 1, paths: ['name'] },
    parts: { name },
  });
  const file = { pushType: 'twine', config: { ns: '${wishes.net.dns.name}' } };
  const earlier = { pushType: 'twine', config: { ns: 'old' }, granted: [grant('old')] };
  const [again, emergency] = [true, false];

  test('goes where the earlier deploy went, if it undoes or completes that', () =>
    expect(fillAnyway(file, wishes, { earlier, present: [grant('new')] }, again)).toEqual({
      config: { ns: 'old' },
      granted: [grant('old')],
    }));

  test('goes by its file if nothing is known of the earlier deploy, or that had another push type', () => {
    for (const known of [null, { ...earlier, pushType: 'kubernetes' }])
      expect(fillAnyway(file, wishes, { earlier: known, present: [grant('new')] }, again)).toMatchObject({
        config: { ns: 'new' },
      });
  });

  test('has the configuration of its file in an emergency, with earlier values where there are no present ones', () => {
    const fixed = { ...file, config: { ...file.config, fix: true } };
    const fill = (present: readonly ReturnType<typeof grant>[]) =>
      fillAnyway(fixed, wishes, { earlier, present }, emergency);
    expect(fill([grant('new')])).toMatchObject({ config: { ns: 'new', fix: true } });
    expect(fill([])).toMatchObject({ config: { ns: 'old', fix: true } });
  });

  test('does not begin with a value that is nowhere', () =>
    expect(fillAnyway(file, wishes, { earlier: null, present: [] }, emergency)).toEqual({
      refusal: 'its config uses dns of net, and no value of it is known',
    }));
});

describe('after a deploy its version runs', () => {
  const { result: succeeded } = deployed('deploy', 'succeeded', artifact('kv:2'));
  const { result: reverted } = deployed('deploy', { revertedBy: 'health' }, artifact('kv:2'));
  const { result: failed } = deployed('deploy', 'failed', artifact('kv:2'));
  const halfway = { ...failed, leaves: { left: ['kv:2'], before: { units: [] } as never } };

  test.each<[string, string, Parameters<typeof findRunning>]>([
    ['everywhere', 'it succeeded', [succeeded, false]],
    ['somewhere', 'it skipped units', [{ ...succeeded, skipped: ['eu'] }, false]],
    ['somewhere', 'it was a follow-on', [succeeded, true]],
    ['nowhere', 'it was reverted', [reverted, false]],
    ['nowhere', 'it failed before its first update', [failed, false]],
    ['somewhere', 'it was stopped halfway', [halfway, false]],
    ['somewhere', 'its end is unknown', [undefined, false]],
    ['somewhere', 'an attempt before it was stopped halfway, and it updated nothing', [failed, false, 'mixed']],
    ['nowhere', 'it was reverted with what an attempt before it had left', [reverted, false, 'mixed']],
    ['somewhere', 'it was reverted, but what an attempt before it had left is unknown', [reverted, false, 'unknown']],
  ])('%s if %s', (runs, _, end) => expect(findRunning(...end)).toBe(runs));
});

test('offers know a follow-on by the place of the release that it completes, and a rerun by that of the one that it repeats', () => {
  const followOn = { action: 'deploy', units: ['eu'] };
  const trigger = { kind: 'follow-on', actor: 'service:conveyor', key: null, of: 2 } as const;
  expect(placeRelease({ number: 5, trigger, followOn })).toEqual({ release: 5, place: 2 });
  expect(placeRelease({ number: 5, trigger: manual(), place: 3 })).toEqual({ release: 5, place: 3 });
  expect(placeRelease({ number: 5, trigger: manual() })).toEqual({ release: 5 });
});
