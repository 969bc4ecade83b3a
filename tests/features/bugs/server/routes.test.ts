import { appOf, FakePipelines, TOKEN } from '../../../builders/serverWorld';

const REPORT = { target: '//lib:rpc', from: '12', reason: 'it loses replies' };
const post = (body: unknown, token = TOKEN): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
  body: JSON.stringify(body),
});

test('a bug is reported by the principal of the token, and answered with where to look', async () => {
  const pipelines = new FakePipelines();
  const response = await appOf(pipelines).request('/v1/bugs', post({ ...REPORT, to: '15' }));
  expect([response.status, response.headers.get('location')]).toEqual([201, '/v1/bugs/7']);
  expect(pipelines.calls).toEqual([['reportBug', { ...REPORT, to: '15' }, expect.stringMatching(/^service:/)]]);
});

test('an advisory is reported as its database has it, and says itself what is affected', async () => {
  const pipelines = new FakePipelines();
  const affected = [{ package: { ecosystem: 'npm', name: 'rpc' }, versions: ['1.0.0'] }];
  const advisory = { id: 'X-1', modified: '2026-01-01T00:00:00Z', affected, details: 'it loses replies' };
  const response = await appOf(pipelines).request('/v1/bugs', post({ advisory, reason: 'no' }));
  expect(response.status).toBe(201);
  const kept = { id: 'X-1', affected: [{ ...affected[0], ranges: [] }] };
  const report = { target: 'X-1', from: '0', to: null, reason: 'no', advisory: kept };
  expect(pipelines.calls).toEqual([['reportBug', report, expect.stringMatching(/^service:/)]]);
  // The command line sends what it has parsed.
  await appOf(pipelines).request('/v1/bugs', post(report));
  expect(pipelines.calls[1]?.slice(0, 2)).toEqual(['reportBug', report]);
});

test('bugs are there to read, all or one, and one that there is not is a 404', async () => {
  const app = appOf(new FakePipelines());
  expect(await (await app.request('/v1/bugs')).json()).toMatchObject([{ id: 'bug/7' }]);
  expect(await (await app.request('/v1/bugs/7')).json()).toMatchObject({ id: 'bug/7' });
  expect((await app.request('/v1/bugs/8')).status).toBe(404);
});

test('a bug is closed with its fix, or as none', async () => {
  const pipelines = new FakePipelines();
  const app = appOf(pipelines);
  await app.request('/v1/bugs/7/close', post({ to: '15', reason: 'fixed' }));
  await app.request('/v1/bugs/7/close', post({ reason: 'none' }));
  expect(pipelines.calls.map(([, close]) => close)).toEqual([
    { id: 'bug/7', to: '15', reason: 'fixed' },
    { id: 'bug/7', to: null, reason: 'none' },
  ]);
});

test.each([
  ['without a target', { ...REPORT, target: undefined }, /target/],
  ['without a revision', { ...REPORT, from: undefined }, /from: required without advisory/],
  [
    'of an advisory without ranges',
    { advisory: { id: 'X-1', affected: [{ package: { ecosystem: 'npm', name: 'rpc' } }] }, reason: 'no' },
    /advisory: affected.0: no range and no version/,
  ],
  ['without a reason', { ...REPORT, reason: ' ' }, /reason/],
  ['with a target that is too long', { ...REPORT, target: 'x'.repeat(257) }, /target/],
  ['with a field that nobody knows', { ...REPORT, actor: 'user:eve' }, /actor/],
])('a report %s is refused, and starts nothing', async (_, body, names) => {
  const pipelines = new FakePipelines();
  const response = await appOf(pipelines).request('/v1/bugs', post(body));
  expect(response.status).toBe(400);
  expect(JSON.stringify(await response.json())).toMatch(names);
  expect(pipelines.calls).toEqual([]);
});

test('an anonymous caller reports nothing', async () => {
  const pipelines = new FakePipelines();
  expect((await appOf(pipelines).request('/v1/bugs', post(REPORT, 'x'))).status).toBe(401);
  expect(pipelines.calls).toEqual([]);
});
