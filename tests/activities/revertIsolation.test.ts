import { setImmediate as turn } from 'node:timers/promises';
import { ApplicationFailure } from '@temporalio/activity';
import type { DeployCall, Invoke, PushPorts } from '../../activities/pushCalls';
import { createRevertActivities, type RevertRequest } from '../../activities/reverts';

const units = Array.from({ length: 2_000 }, (_, nth) => ({
  ...{ id: `u${String(nth).padStart(4, '0')}`, labels: {}, size: 1 },
  ...{ version: 'kv:1', mixed: false, available: true },
}));

test('units that are refused among thousands are found in four portions at once, and all others are sent', async () => {
  const bad = ['u0100', 'u0700', 'u1300', 'u1999'];
  const calls = { now: 0, most: 0, all: 0 };
  const taken = new Set<string>();
  const invoke = (async (_call: unknown, method: string, request: { targets: readonly { unit: string }[] }) => {
    if (method !== 'executeUpdates') return { service: 'kv', units, next: null };
    calls.now += 1;
    calls.all += 1;
    calls.most = Math.max(calls.most, calls.now);
    await turn();
    calls.now -= 1;
    const names = request.targets.map(({ unit }) => unit);
    if (names.some((name) => bad.includes(name)))
      throw ApplicationFailure.nonRetryable('somebody else updates it', 'unit-busy');
    for (const name of names) taken.add(name);
    return {};
  }) as unknown as Invoke;
  const ports = { snapshots: { read: async () => units } } as unknown as PushPorts;
  const call = { pushType: 'twine', deployId: 'deploy/kv/2/deploy/1', inPages: true } as unknown as DeployCall;
  const request = {
    ...{ updateId: 'deploy/kv/2/deploy/1/revert/1', snapshot: { units }, updatedBy: [] },
    parts: [{ kind: 'completion', scope: '*', amount: { all: true }, without: [] }],
    rules: { lastGood: 'kv:1', deployed: 'kv:2' },
  } as unknown as RevertRequest;
  const sent = await createRevertActivities(ports, invoke).revertUpdates(call, request);
  expect(sent.refused.map(({ id }) => id).sort()).toEqual(bad);
  expect(taken.size).toBe(units.length - bad.length);
  expect(calls.most).toBe(4);
  // One for the first portion, which was refused; in each of four some ten levels of halves.
  expect(calls.all).toBeLessThan(1 + 4 * 20);
});
