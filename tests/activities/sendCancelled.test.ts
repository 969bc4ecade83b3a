import { CancelledFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { createPushTypeActivities } from '../../activities/pushType';
import type { DeployCall, PushPorts } from '../../activities/pushCalls';

const CALL: DeployCall = {
  ...{ pushType: 'twine', pipeline: 'kvstore', release: 2, deployId: 'deploy/kvstore/2/deploy/1', actor: 'user:alice' },
  ...{ config: {}, inPages: true },
};
const units = Array.from({ length: 4_000 }, (_, nth) => ({
  ...{ id: `u${nth}`, labels: {}, size: 1, version: 'kv:1', mixed: false, available: true },
}));
const selection = {
  snapshot: { units },
  parts: [{ kind: 'completion', scope: '*', amount: { all: true }, without: [] }],
} as never;

type Activities = ReturnType<typeof createPushTypeActivities>;
const EXECUTE = (push: Activities) =>
  push.executeUpdates(CALL, {
    ...{ updateId: `${CALL.deployId}/0/1`, wholeUnit: false, selection },
    want: { version: 'kv:2', artifacts: [], amount: { all: true } },
  });
const SHIFT = (push: Activities) => push.shiftTraffic(CALL, { step: '0/1', selection, percent: 1, toVersion: 'kv:2' });

/** Sends to 4,000 units in eight portions, and is cancelled once four are on their way, each of which takes `answerMs`. */
async function cancelled(send: (push: Activities) => Promise<unknown>, answerMs: number) {
  const environment = new MockActivityEnvironment();
  const seen = { asked: 0, answered: 0, beats: 0 };
  environment.on('heartbeat', () => (seen.beats += 1));
  const fetch = async (request: Request, init?: RequestInit): Promise<Response> => {
    const { signal } = init ?? request;
    const asked = (await new Request(request, init).json()) as { targets?: { unit: string }[] };
    seen.asked += 1;
    if (seen.asked === 4) environment.cancel();
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(resolve, answerMs);
      signal?.addEventListener('abort', () => (clearTimeout(timer), reject(signal.reason as Error)));
    });
    seen.answered += 1;
    return Response.json(asked.targets ? { accepted: asked.targets.map(({ unit }) => unit) } : {});
  };
  const service = { name: 'twine', url: 'http://twine', timeoutMs: 60_000 };
  const ports = { registry: { find: () => service }, snapshots: { read: async () => units }, fetch };
  const startedMs = performance.now();
  const sending = environment.run(() => send(createPushTypeActivities(ports as unknown as PushPorts)));
  const end = await (sending as Promise<unknown>).catch((error: unknown) => error);
  return { ...seen, end, tookMs: performance.now() - startedMs };
}

test.each([
  ['updates', EXECUTE],
  ['shifts of traffic', SHIFT],
])('when %s are cancelled, requests under way are answered first, and no others are sent', async (_, send) => {
  expect(await cancelled(send, 100)).toMatchObject({
    asked: 4,
    answered: 4,
    end: expect.any(CancelledFailure) as Error,
  });
});

test.each([
  ['updates', EXECUTE],
  ['shifts of traffic', SHIFT],
])('%s that hang hold up whatever cancelled them for some seconds, however long a call may take', async (_, send) => {
  const { tookMs, ...seen } = await cancelled(send, 50_000);
  expect(seen).toMatchObject({ asked: 4, answered: 0, end: expect.any(CancelledFailure) as Error });
  // By its heartbeats it learns of the cancel.
  expect(seen.beats).toBeGreaterThan(0);
  expect(tookMs).toBeLessThan(20_000);
});
