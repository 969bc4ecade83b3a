import { NOT_BEGUN, recordAnswer, buildSubmissions } from '../../domain/finder/sweep';
import { enqueueReady } from '../../domain/pipeline/admission';
import { refuseRelease, refuseSubmission } from '../../domain/pipeline/requests';
import { refuseApply } from '../../domain/pipeline/refuseApply';
import { isOver, isReady, isResult } from '../../domain/pipeline/shapes';
import { parsePipelineValue } from '../../domain/spec/parse';
import { artifact, manual, NOW, pipelineOf, running, specOf } from '../builders/pipelineWorld';
import { appOf, FakePipelines, standardDelivery, TOKEN } from '../builders/serverWorld';

const metadata = (bytes: number): Record<string, string> => ({ notes: 'x'.repeat(bytes) });
const fat = (bytes: number) => ({ ...artifact('kv:1'), metadata: metadata(bytes) });
const PATH = '/v1/pipelines/kvstore/releases';
const post = (body: object, headers: Record<string, string> = {}): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json', authorization: `Bearer ${TOKEN}`, ...headers },
  body: JSON.stringify(body),
});
const delivery = (bytes: number): RequestInit =>
  standardDelivery({
    type: 'artifact.published',
    data: { pipeline: 'kvstore', artifacts: [{ name: 'source', version: '1', metadata: metadata(bytes) }] },
  });

describe('at the doors of the server', () => {
  test.each([
    ['metadata of 700 kB in a delivery', '/v1/webhooks/standard', delivery(700_000)],
    ['metadata of 20 kB in a delivery', '/v1/webhooks/standard', delivery(20_000)],
    ['metadata of 20 kB through the API', PATH, post({ artifacts: [fat(20_000)] })],
    ['an Idempotency-Key of 1 MB', PATH, post({ artifacts: [] }, { 'idempotency-key': 'k'.repeat(1_000_000) })],
    ['a key of 201 bytes in the body', PATH, post({ artifacts: [], idempotencyKey: 'k'.repeat(201) })],
    ['a reason of 100 kB', '/v1/pipelines/kvstore/commands/freeze', post({ reason: 'r'.repeat(100_000) })],
  ])('%s is refused with 413, and starts nothing', async (_, path, request) => {
    const pipelines = new FakePipelines();
    const response = await appOf(pipelines).request(path, request);
    expect([response.status, await response.json()]).toEqual([
      413,
      {
        error: expect.objectContaining({
          code: 'over-limit',
          hint: expect.stringContaining('docs/reference/limits.md'),
        }),
      },
    ]);
    expect([pipelines.submissions, pipelines.calls]).toEqual([[], []]);
  });

  test('a webhook and the API refuse a body that is too large with 413, and start nothing', async () => {
    const pipelines = new FakePipelines();
    const app = appOf(pipelines);
    expect((await app.request('/v1/webhooks/standard', delivery(2_100))).status).toBe(413);
    expect(pipelines.submissions).toEqual([]);
    expect((await app.request('/v1/webhooks/standard', delivery(1_000))).status).toBe(202);
  });
});

describe('the workflow of a pipeline, which is open to every process with access to Temporal', () => {
  const state = pipelineOf();
  test.each([
    ['metadata', [fat(20_000)]],
    ['a version', [artifact('v'.repeat(201))]],
    ['seventeen artifacts', Array.from({ length: 17 }, (_, n) => artifact('1', `input-${n}`))],
  ])('refuses %s over the limit', (_, artifacts) => {
    expect(refuseRelease(state, artifacts, manual())?.code).toBe('over-limit');
    expect(refuseSubmission(state, artifacts, manual())?.code).toBe('over-limit');
  });

  test('refuses a key of 1 MB, a spec of 1 MB, and 81 owners', () => {
    expect(refuseRelease(state, [artifact('kv:1')], manual('k'.repeat(1_000_000)))?.code).toBe('over-limit');
    const spec = specOf();
    const owners = Array.from({ length: 81 }, (_, n) => `user:somebody-with-a-name-${n}`);
    expect(refuseApply(null, { ...spec, owners: ['user:alice', ...owners] }, {}, 'user:alice')?.code).toBe(
      'over-limit',
    );
    expect(refuseApply(null, { ...spec, description: 'x'.repeat(1e6) }, {}, 'user:alice')?.code).toBe('over-limit');
    expect(refuseApply(null, { pipeline: 'x' } as never, {}, 'user:alice')?.code).toBe('invalid-state');
  });

  test('takes no signal that no release sends', () => {
    const one = { release: 1, action: 'deploy', rollback: false, artifacts: [artifact('kv:1')] };
    expect(isReady(one)).toBe(true);
    for (const wrong of [{}, { release: 1 }, { ...one, artifacts: 'all' }, { ...one, mutex: [1] }, [], 'x', null])
      expect([isReady(wrong), isOver(wrong), isResult(wrong)]).toEqual([false, wrong !== null && isOver(wrong), false]);
    expect(enqueueReady(state, one, NOW).ready).toEqual([]);
    expect(
      enqueueReady(running(state, artifact('kv:1')), { ...one, artifacts: [fat(20_000)] }, NOW).ready,
    ).toMatchObject([{ artifacts: [{ version: 'kv:1', metadata: {} }] }]);
  });
});

test('lint and apply refuse 81 owners, which one search attribute does not hold', () => {
  const file = {
    pipeline: 'kvstore',
    owners: Array.from({ length: 81 }, (_, n) => `user:somebody-${n}`),
    artifacts: { executable: { finder: 'manual' } },
    actions: { deploy: { type: 'deploy', inputs: ['executable'], with: { pushType: 'twine' } } },
  };
  expect(parsePipelineValue(file)).toMatchObject({
    spec: null,
    problems: expect.arrayContaining([expect.objectContaining({ path: 'owners', severity: 'error' })]),
  });
  const wide = { ...file, owners: file.owners.slice(0, 50).map((owner) => owner + 'x'.repeat(60)) };
  expect(parsePipelineValue(wide).problems).toContainEqual(
    expect.objectContaining({ code: 'over-limit', path: 'owners' }),
  );
});

test('an artifact over the limit that a finder finds is refused for that subscription, shown, and not asked for again', () => {
  const page = {
    cursor: null,
    pipelines: 2,
    asked: ['kvstore', 'web'].map((pipeline) => ({ pipeline, artifact: 'executable', with: {} })),
  };
  const answer = {
    found: [
      { pipeline: 'kvstore', artifact: fat(20_000) },
      { pipeline: 'web', artifact: fat(20) },
    ],
    cursor: '1',
    refused: [],
  };
  expect(buildSubmissions('mine', page, answer).map(({ pipeline }) => pipeline)).toEqual(['web']);
  expect(recordAnswer(NOT_BEGUN, page, answer)).toMatchObject({
    refused: 1,
    again: [],
    said: ['kvstore, executable: the metadata of the artifact executable is 20 kB, more than 2 kB'],
  });
});
