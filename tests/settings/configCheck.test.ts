import { conveyorError } from '../../domain/errors';
import { judgeConfigs } from '../../domain/spec/configFindings';
import { pipelineSchema } from '../../domain/spec/pipeline';
import { configChecker } from '../../settings/configCheck';
import { servePushType } from '../../sdk';
import { viaApp } from '../../sdk/client';
import type { Fetch } from '../../sdk/request';
import { deployPipeline } from '../builders/deployPipeline';

/** `apply` asks push types about configs, and says which it could not check. */

const ACTOR = 'user:alice';
const service = { name: 'twine', url: 'http://twine.test', timeoutMs: 1_000 };
const registry = { find: () => service } as unknown as Parameters<typeof configChecker>[0];
const specWith = (config: Record<string, unknown>) =>
  pipelineSchema.parse(deployPipeline('kvstore', { config, phases: [], healthChecks: [] }));
const spec = specWith({ jobs: ['nope'], colour: 'red' });
const answering = (answer: (config: unknown) => object): Fetch =>
  viaApp(
    servePushType('twine', {
      validateConfig: (_: unknown, { context }: { context: { config: unknown } }) => answer(context.config),
    } as unknown as Parameters<typeof servePushType>[1]),
  );
const json =
  (body: unknown): Fetch =>
  () =>
    Promise.resolve(Response.json(body));
/** Answers nothing, as a socket that stays open, until the caller gives up. */
const silent: Fetch = (request, { signal } = request) =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
const found = (fetch: Fetch, withinMs = 1_000) => configChecker(registry, { fetch, withinMs })(spec, ACTOR);
const PROBLEM = { path: 'config.jobs[0]', message: 'no job nope' };

test('a push type is given the config as the pipeline has it, and its problems are those of the action', async () => {
  const configs: unknown[] = [];
  const findings = await found(answering((config) => (configs.push(config), { problems: [PROBLEM] })));
  expect(configs).toEqual([{ jobs: ['nope'], colour: 'red' }]);
  expect(findings).toEqual([{ action: 'deploy', pushType: 'twine', problems: [PROBLEM] }]);
  expect(judgeConfigs(findings, spec, null)).toEqual({
    refused: ['twine refuses the config of deploy: config.jobs[0]: no job nope'],
    notes: [],
  });
});

test.each<[string, Fetch, RegExp]>([
  ['is away', () => Promise.reject(new TypeError('fetch failed')), /^twine did not answer validateConfig: /],
  ['is silent', silent, /^twine did not answer validateConfig within 0\.05 s$/],
  [
    'answers in violation of its protocol',
    json({ problems: 'none' }),
    /^twine answered validateConfig in violation of its protocol: /,
  ],
  [
    'refuses the call',
    () => Promise.resolve(Response.json({}, { status: 403 })),
    /^twine rejected validateConfig \(403\)/,
  ],
])('a config whose push type %s is noted as not checked, and not refused', async (_, fetch, why) => {
  const findings = await found(fetch, 50);
  expect(findings).toEqual([{ action: 'deploy', pushType: 'twine', unchecked: expect.stringMatching(why) as string }]);
  const { refused, notes } = judgeConfigs(findings, spec, null);
  expect(refused).toEqual([]);
  expect(notes).toEqual([
    expect.stringMatching(/^the config of deploy was not checked, so that only its deploy finds/),
  ]);
});

test.each<[string, Fetch, RegExp]>([
  ['is silent', silent, /within 0\.05 s$/],
  ['is away', () => Promise.reject(new TypeError('fetch failed')), /fetch failed/],
])('a push type that %s is asked once for many pipelines, and again half a minute later', async (_, fetch, why) => {
  let calls = 0;
  let nowMs = 0;
  const counting: Fetch = (request, init) => ((calls += 1), fetch(request, init));
  const check = configChecker(registry, { fetch: counting, withinMs: 50, now: () => nowMs });
  const unchecked = [{ action: 'deploy', pushType: 'twine', unchecked: expect.stringMatching(why) as string }];
  for (let pipeline = 0; pipeline < 100; pipeline += 1) expect(await check(spec, ACTOR)).toEqual(unchecked);
  expect(calls).toBe(1);
  nowMs = 30_000;
  await check(spec, ACTOR);
  expect(calls).toBe(2);
});

test('a push type that answered, whatever it answered, is asked for every pipeline', async () => {
  let calls = 0;
  const refusing: Fetch = () => ((calls += 1), Promise.resolve(Response.json({}, { status: 403 })));
  const check = configChecker(registry, { fetch: refusing });
  for (let pipeline = 0; pipeline < 3; pipeline += 1) await check(spec, ACTOR);
  expect(calls).toBe(3);
});

test('several configs that were not checked for one reason are one note', () => {
  const unchecked = (action: string, why: string) => ({ action, pushType: 'twine', unchecked: why });
  const findings = [
    unchecked('canary', 'it is away'),
    unchecked('other', 'it is slow'),
    unchecked('deploy', 'it is away'),
  ];
  expect(judgeConfigs(findings, spec, null).notes).toEqual([
    'the configs of canary and deploy were not checked, so that only their deploys find mistakes: it is away',
    'the config of other was not checked, so that only its deploy finds mistakes: it is slow',
  ]);
});

test('a push type that is not configured here is noted in the same way', async () => {
  const find = () => {
    throw conveyorError('unknown-extension', { kind: 'push-type', name: 'twine', known: [] });
  };
  expect(await configChecker({ find })(spec, ACTOR)).toEqual([
    { action: 'deploy', pushType: 'twine', unchecked: 'no push-type called twine is configured' },
  ]);
});

test('a config that the pipeline had before does not prevent other changes, and is noted; a new one is refused', () => {
  const finding = [{ action: 'deploy', pushType: 'twine', problems: [PROBLEM] }];
  expect(judgeConfigs(finding, spec, { ...spec, description: 'older' })).toEqual({
    refused: [],
    notes: ['twine refuses the config of deploy: config.jobs[0]: no job nope; the pipeline had this config before'],
  });
  expect(judgeConfigs(finding, spec, specWith({ jobs: ['other'] })).refused).toHaveLength(1);
});
