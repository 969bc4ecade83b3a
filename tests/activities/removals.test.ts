import { ApplicationFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { createPushTypeActivities } from '../../activities/pushType';
import type { DeployCall, PushPorts } from '../../activities/pushCalls';
import type { Amount } from '../../domain/fleet/amount';
import type { Fetch } from '../../sdk/request';
import { inlineSnapshots } from './inlineSnapshots';

const DEPLOY = 'deploy/kv/9/deploy/1';
const CALL: DeployCall = {
  ...{ pushType: 'twine', pipeline: 'kv', release: 9, deployId: DEPLOY, actor: 'user:alice', service: 'kv', fence: 7 },
  config: { jobs: ['kv-x', 'kv-y'] },
};
const REMOVAL = `${DEPLOY}/remove/1`;
const unit = (id: string) => ({ id, labels: {}, size: 2, version: 'kv:1', mixed: false, available: true });

interface Sent {
  readonly key: string | null;
  readonly body: { readonly units: string[]; readonly context: { readonly fence?: number } };
}

/** Removes these units; `answer` is that of the push type. */
async function remove(
  ids: readonly string[],
  answer: (units: string[]) => Response,
  { call = CALL, ...more }: Partial<PushPorts> & { readonly call?: DeployCall } = {},
) {
  const sent: Sent[] = [];
  const fetch: Fetch = async (request, init) => {
    const body = (await new Request(request, init).json()) as Sent['body'];
    sent.push({ key: request.headers.get('idempotency-key'), body });
    return answer(body.units);
  };
  const registry = { find: () => ({ name: 'twine', kind: 'push-type', url: 'http://push-type', timeoutMs: 5_000 }) };
  const ports = { registry, fetch, snapshots: inlineSnapshots, ...more } as unknown as PushPorts;
  const part = { kind: 'completion' as const, scope: '*' as const, amount: { all: true as const }, without: [] };
  const selection = { snapshot: { units: ids.map(unit) }, parts: [part] };
  const environment = new MockActivityEnvironment({ workflowExecution: { workflowId: DEPLOY, runId: 'run-1' } });
  const removing = environment.run(() =>
    createPushTypeActivities(ports).removeUnits(call, { updateId: REMOVAL, selection }),
  );
  const end = await (removing as Promise<unknown>).catch((error: unknown) => error);
  return { sent, end };
}

const accepting = (units: string[]): Response => Response.json({ accepted: units });
const refusing = (status: number, code: string, retryable: boolean) => (): Response =>
  Response.json({ error: { code, message: code, retryable } }, { status });

test('a removal names its units under one key, with the fence of the lock', async () => {
  const { sent, end } = await remove(['kv-x', 'kv-y'], accepting);
  expect(end).toEqual({ kind: 'sent', count: 2 });
  expect(sent).toMatchObject([
    { key: `${REMOVAL}/execute`, body: { updateId: REMOVAL, units: ['kv-x', 'kv-y'], context: { fence: 7 } } },
  ]);
  expect((await remove(['kv-x', 'kv-y'], accepting)).sent).toEqual(sent);
});

test('many units of a push type with pages are removed in portions, each under a key of its own', async () => {
  const ids = Array.from({ length: 1_200 }, (_, nth) => `u${nth}`);
  const { sent, end } = await remove(ids, accepting, { call: { ...CALL, inPages: true } });
  expect(end).toEqual({ kind: 'sent', count: 1_200 });
  expect(sent.flatMap(({ body }) => body.units)).toEqual(ids);
  expect(new Set(sent.map(({ key }) => key)).size).toBe(sent.length);
  expect(sent.length).toBeGreaterThan(1);
});

test('without units the push type is asked whether it can remove any', async () => {
  const { sent, end } = await remove([], accepting);
  expect(end).toEqual({ kind: 'sent', count: 0 });
  expect(sent.map(({ body }) => body.units)).toEqual([[]]);
});

test.each([404, 405, 501])('a push type that answers %d cannot remove units, which is no failure', async (status) => {
  const { end } = await remove(['kv-x'], refusing(status, 'unknown-method', false));
  expect(end).toEqual({ kind: 'unsupported' });
});

test.each([
  ['names a unit that was not asked for', ['kv-x', 'kv-z'], 'accepted.1: kv-z was not asked for'],
  ['leaves a unit out', [], 'accepted: kv-x is missing'],
  ['names a unit twice', ['kv-x', 'kv-x'], 'accepted.1: kv-x appears twice'],
])('an answer that %s is not believed', async (_, accepted, told) => {
  const { end } = await remove(['kv-x'], () => Response.json({ accepted }));
  expect(end).toBeInstanceOf(ApplicationFailure);
  expect(end).toMatchObject({ type: 'extension-protocol', message: expect.stringContaining(told) as string });
});

test.each([
  ['refuses', refusing(409, 'unit-busy', false), 'extension-rejected', true],
  ['is away', refusing(503, 'away', true), 'extension-unavailable', false],
])('a push type that %s fails the removal, for good or for now', async (_, answer, type, nonRetryable) => {
  const { end } = await remove(['kv-x'], answer);
  expect(end).toMatchObject({ type, nonRetryable });
});

test('nothing is removed while a canary of another deploy is on one of the units', async () => {
  const canary = { requester: 'deploy/kv/8/deploy/1', updates: ['deploy/kv/8/deploy/1/0/1'], units: ['kv-x'] };
  const { sent, end } = await remove(['kv-x'], accepting, { canaries: async () => [canary] as never });
  expect(end).toEqual({ kind: 'canaries', canaries: ['deploy/kv/8/deploy/1'] });
  expect(sent).toEqual([]);
});

test('in lockstep a removed unit, which has no tasks to move, takes no part in a stride, and comes back with the last one', async () => {
  const needs = [
    { id: 'kv-x', size: 0, outdated: 6, budget: 0 },
    { id: 'kv-y', size: 10, outdated: 10, budget: 2 },
  ];
  const registry = { find: () => ({ name: 'twine', kind: 'push-type', url: 'http://push-type', timeoutMs: 5_000 }) };
  const planned = async (amount: Amount, outdated: number) => {
    const units = needs.map((one) => (one.id === 'kv-y' ? { ...one, outdated } : one));
    const fetch: Fetch = () => Promise.resolve(Response.json({ units }));
    const ports = { registry, fetch, snapshots: inlineSnapshots } as unknown as PushPorts;
    const part = { kind: 'completion' as const, scope: '*' as const, amount: { all: true as const }, without: [] };
    const work = {
      selection: { snapshot: { units: ['kv-x', 'kv-y'].map(unit) }, parts: [part] },
      want: { version: 'kv:2', artifacts: [], amount },
    };
    return new MockActivityEnvironment().run(() => createPushTypeActivities(ports).planStride(CALL, work));
  };
  expect(await planned({ percent: 50 }, 10)).toMatchObject({ counts: { 'kv-y': 2 } });
  expect(await planned({ all: true }, 2)).not.toHaveProperty('counts');
});
