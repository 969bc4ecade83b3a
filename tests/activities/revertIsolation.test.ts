import { setImmediate as turn } from 'node:timers/promises';
import { ApplicationFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import type { DeployCall, Invoke, PushPorts } from '../../activities/pushCalls';
import { createRevertActivities, type RevertRequest, type SentRevert } from '../../activities/reverts';

const ID = 'deploy/kv/2/deploy/1/revert/1';
const unit = (nth: number): string => `u${String(nth).padStart(4, '0')}`;
const refuse = () => ApplicationFailure.nonRetryable('somebody else updates it', 'unit-busy');
const away = () => ApplicationFailure.retryable('503 its backend is away', 'extension-unavailable');

/** A push type with so many units, which throws what `wrong` says of a unit as soon as a request names it. */
class Fleet {
  readonly calls = { now: 0, most: 0, all: 0 };
  /** By update id. */
  readonly taken = new Map<string, Set<string>>();
  readonly beats: unknown[] = [];

  constructor(
    private readonly count: number,
    private readonly wrong: (name: string, call: number) => Error | undefined,
  ) {}

  get back(): Set<string> {
    return new Set([...this.taken.values()].flatMap((names) => [...names]));
  }

  revert(info: object = {}): Promise<SentRevert> {
    const { count } = this;
    const units = Array.from({ length: count }, (_, nth) => ({
      ...{ id: unit(nth), labels: {}, size: 1, version: 'kv:1', mixed: false, available: true },
    }));
    const invoke = ((_call: unknown, method: string, request: Sent) =>
      method === 'executeUpdates' ? this.update(request) : { service: 'kv', units, next: null }) as unknown as Invoke;
    const ports = { snapshots: { read: async () => units } } as unknown as PushPorts;
    const call = { pushType: 'twine', deployId: 'deploy/kv/2/deploy/1', inPages: true } as unknown as DeployCall;
    const request = {
      ...{ updateId: ID, snapshot: { units }, updatedBy: [] },
      parts: [{ kind: 'completion', scope: '*', amount: { all: true }, without: [] }],
      rules: { lastGood: 'kv:1', deployed: 'kv:2' },
    } as unknown as RevertRequest;
    const environment = new MockActivityEnvironment(info, { logger: new DefaultLogger('ERROR') });
    environment.on('heartbeat', (details: unknown) => this.beats.push(details));
    return environment.run(() => createRevertActivities(ports, invoke).revertUpdates(call, request));
  }

  private async update({ updateId, targets }: Sent): Promise<object> {
    const { calls } = this;
    calls.now += 1;
    calls.all += 1;
    calls.most = Math.max(calls.most, calls.now);
    await turn();
    calls.now -= 1;
    for (const target of targets) {
      const wrong = this.wrong(target.unit, calls.all);
      if (wrong) throw wrong;
    }
    this.taken.set(updateId, new Set([...(this.taken.get(updateId) ?? []), ...targets.map((target) => target.unit)]));
    return {};
  }
}

interface Sent {
  readonly updateId: string;
  readonly targets: readonly { readonly unit: string }[];
}

const someOf = (names: readonly string[], wrong: () => Error) => (name: string) =>
  names.includes(name) ? wrong() : undefined;

test('units that are refused among thousands are found in four portions at once, and all others are sent', async () => {
  const bad = ['u0100', 'u0700', 'u1300', 'u1999'];
  const fleet = new Fleet(2_000, someOf(bad, refuse));
  const sent = await fleet.revert();
  expect(sent.refused.map(({ id }) => id).sort()).toEqual(bad);
  expect(fleet.back.size).toBe(2_000 - bad.length);
  expect(fleet.calls.most).toBe(4);
  // One for the first portion, which was refused; in each of four some five levels of quarters.
  expect(fleet.calls.all).toBeLessThan(1 + 4 * 20);
});

test('however many units are refused, all others go back, under few ids, and the first of the refused have names', async () => {
  const fleet = new Fleet(1_000, (name) => (name < unit(21) || Number(name.slice(1)) % 5 === 0 ? refuse() : undefined));
  const sent = await fleet.revert();
  expect(fleet.back.size).toBe(784);
  expect(sent).toMatchObject({ count: 1_000, refusedCount: 216 });
  expect(sent.refused).toHaveLength(100);
  expect(sent.updateIds).toHaveLength(1);
  expect(fleet.taken.get(sent.updateIds[0] ?? '')?.size).toBe(784);
  expect(fleet.calls.all).toBeLessThan(2 * 1_000);
});

test('where all of many units are refused, the refusal is what the revert shows', async () => {
  const fleet = new Fleet(1_000, refuse);
  await expect(fleet.revert()).rejects.toMatchObject({ message: 'somebody else updates it', nonRetryable: true });
  expect(fleet.calls.all).toBeLessThan(2 * 1_000);
});

test('a unit that keeps every request from an answer holds up the others no longer than two attempts', async () => {
  const fleet = new Fleet(1_000, someOf(['u0700'], away));
  for (const attempt of [1, 2]) await expect(fleet.revert({ attempt })).rejects.toMatchObject({ nonRetryable: false });
  const sent = await fleet.revert({ attempt: 3 });
  expect(sent.refused).toEqual([{ id: 'u0700', reason: '503 its backend is away' }]);
  expect(fleet.back.size).toBe(999);
});

test('a push type that is away is tried again as it is, after no more than some parts', async () => {
  const fleet = new Fleet(10_000, away);
  await expect(fleet.revert({ attempt: 9 })).rejects.toMatchObject({ message: '503 its backend is away' });
  expect(fleet.calls.all).toBeLessThan(80);
  expect(fleet.beats.at(-1)).toBeUndefined();
});

test('an attempt that did not come through is continued by the next, which asks for nothing again', async () => {
  const fleet = new Fleet(1_000, (name, call) => (call > 5 || name === unit(3) ? away() : undefined));
  await expect(fleet.revert({ attempt: 3 })).rejects.toMatchObject({ nonRetryable: false });
  const heartbeatDetails: unknown = JSON.parse(JSON.stringify(fleet.beats.at(-1)));
  const later = new Fleet(1_000, someOf([unit(3)], refuse));
  const sent = await later.revert({ attempt: 4, heartbeatDetails });
  expect(sent.refused.map(({ id }) => id)).toContain(unit(3));
  // Its last update takes over from all others, so that it alone is followed.
  const [whole = ''] = sent.updateIds;
  expect(later.taken.get(whole)?.size).toBe(1_000 - (sent.refusedCount ?? 0));
  later.taken.delete(whole);
  const before = fleet.back;
  expect([...later.back].filter((name) => before.has(name))).toEqual([]);
  expect(before.size + later.back.size + (sent.refusedCount ?? 0)).toBe(1_000);
});
