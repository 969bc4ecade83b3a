import { appOf, FakePipelines, githubDelivery, pushOf, standardDelivery } from '../builders/serverWorld';

/** Deliveries that reach no pipeline: their sender gets 204 or a refusal, and the operator of the server sees how many there are. */

const GITHUB = '/v1/webhooks/github';
const STANDARD = '/v1/webhooks/standard';
const artifact = { kind: 'executable', version: '12' };
const published = (data: object) => standardDelivery({ type: 'artifact.published', data });

test.each<[string, string, RequestInit, number, string]>([
  ['of another event', GITHUB, githubDelivery(pushOf(1), { event: 'issues' }), 204, 'event'],
  ['of a tag', GITHUB, githubDelivery(pushOf(1, { ref: 'refs/tags/v1' })), 204, 'nothing'],
  ['of another type', STANDARD, standardDelivery({ type: 'invoice.paid', data: {} }), 204, 'nothing'],
  ['of a branch that no pipeline follows', GITHUB, githubDelivery(pushOf(1, { ref: 'refs/heads/x' })), 204, 'nobody'],
  ['that lacks a field', GITHUB, githubDelivery({ ref: 'refs/heads/main' }), 400, 'unreadable'],
  [
    'whose artifact lacks a version',
    STANDARD,
    published({ finder: 'f', with: { a: 1 }, artifact: {} }),
    400,
    'unreadable',
  ],
])('a delivery %s is counted', async (_, path, delivery, status, why) => {
  const lines: string[] = [];
  const app = appOf(new FakePipelines(), { log: (line) => void lines.push(line) });
  expect((await app.request(path, delivery)).status).toBe(status);
  const text = await (await app.request('/metrics')).text();
  for (const one of ['event', 'nothing', 'nobody', 'unreadable'])
    expect(text).toContain(`conveyor_webhook_ignored_total{why="${one}"} ${one === why ? 1 : 0}\n`);
  expect(lines).toEqual(why === 'unreadable' ? [expect.stringMatching(/^a delivery of \w+ is refused: /)] : []);
});

test('a delivery that reaches a pipeline is not counted among them', async () => {
  const app = appOf(new FakePipelines());
  expect((await app.request(GITHUB, githubDelivery(pushOf(1)))).status).toBe(202);
  await app.request(STANDARD, published({ pipeline: 'kvstore', artifacts: [{ name: 'x', ...artifact }] }));
  expect(await (await app.request('/metrics')).text()).not.toMatch(/webhook_ignored_total\{why="\w+"\} [1-9]/);
});
