import type { ReadinessPart } from '../../client/api';
import type { CertificateLook } from '../../domain/certificates';
import { appOf, FakePipelines, NOW_MS } from '../builders/serverWorld';

const part = (name: ReadinessPart['name'], ok: boolean): ReadinessPart => ({ name, ok, detail: 'so it is' });

/** A server whose looks at what Temporal stores end when the test says so. */
function world({ temporal = true, certificates = [] as readonly CertificateLook[] } = {}) {
  const pipelines = new FakePipelines();
  const looks = { parts: 0, stored: [] as ((why: string | Error | undefined) => void)[] };
  let nowMs = NOW_MS;
  const app = appOf(pipelines, {
    client: {
      ...pipelines.client,
      readiness: () => {
        looks.parts += 1;
        return Promise.resolve([part('temporal', temporal), part('worker', true)]);
      },
    },
    whyNothingIsStored: () =>
      new Promise((resolve, reject) => looks.stored.push((why) => (why instanceof Error ? reject(why) : resolve(why)))),
    certificates: () => Promise.resolve(certificates),
    now: () => nowMs,
  });
  return {
    ...{ looks, later: (ms: number) => (nowMs += ms) },
    ready: async () => {
      const answer = await app.request('/readyz');
      const { checks } = (await answer.json()) as { checks: { name: string; status: string; detail: string }[] };
      return { status: answer.status, ...Object.fromEntries(checks.map(({ name, detail }) => [name, detail])) };
    },
    metric: async (check: string) =>
      (await (await app.request('/metrics')).text()).match(
        new RegExp(`^conveyor_ready\\{check="${check}"\\} (\\d)$`, 'm'),
      )?.[1],
    stored: async (why: string | Error | undefined) => {
      looks.stored.at(-1)?.(why);
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

test('a Temporal server that answers and stores nothing makes a server unready once two looks have failed, with the reason, and the metric says it', async () => {
  const { ready, metric, stored, later } = world();
  expect(await ready()).toMatchObject({ status: 200, writes: 'not known' });
  await stored('database or disk is full');
  expect(await ready()).toMatchObject({ status: 200, writes: 'not known' });
  later(10_000);
  await ready();
  await stored('database or disk is full');
  const why = 'Temporal answers, and stores nothing: database or disk is full';
  expect(await ready()).toMatchObject({ status: 503, writes: why });
  expect([await metric('writes'), await metric('temporal')]).toEqual(['0', '1']);
  // While the next look is under way, what the last one saw counts.
  later(10_000);
  expect(await ready()).toMatchObject({ status: 503, writes: why });
  await stored(undefined);
  expect(await ready()).toMatchObject({ status: 200, writes: 'stores data' });
  expect(await metric('writes')).toBe('1');
});

test('a Temporal server that is away is reported with the certificate that has ended', async () => {
  const until = new Date(NOW_MS - 60_000).toISOString();
  const look = { at: '/etc/conveyor/client.pem', from: '2026-01-01T00:00:00.000Z', until, trouble: null };
  const uses = ['client certificate for Temporal', 'client certificate for the store of feed'];
  const { ready } = world({ temporal: false, certificates: uses.map((use) => ({ use, ...look })) });
  const temporal = `so it is; client certificate for Temporal expired at ${until}: /etc/conveyor/client.pem`;
  expect(await ready()).toMatchObject({ status: 503, temporal });
});

test('a silent Temporal server leaves unknown whether it stores anything', async () => {
  const { ready, looks } = world({ temporal: false });
  expect(await ready()).toEqual({ status: 503, temporal: 'so it is', worker: 'so it is' });
  expect(looks.stored).toEqual([]);
});

test('a Temporal server that forbids reading is ready, without a statement on storing', async () => {
  const { ready, stored, later } = world();
  await ready();
  await stored('database or disk is full');
  later(10_000);
  await ready();
  await stored(new Error('7 PERMISSION_DENIED'));
  expect(await ready()).toMatchObject({ status: 200, writes: 'not known' });
});

test('a look of a minute ago does not count', async () => {
  const { ready, stored, later } = world();
  for (let look = 0; look < 2; look++) {
    await ready();
    await stored('database or disk is full');
    later(10_000);
  }
  later(60_001);
  expect(await ready()).toMatchObject({ status: 200, writes: 'not known' });
});

test('load balancers that ask every second cost one look in two seconds, and one write in ten', async () => {
  const { ready, stored, looks, later } = world();
  for (let second = 0; second < 20; second += 1) {
    await Promise.all(Array.from({ length: 8 }, () => ready()));
    await stored(undefined);
    later(1_000);
  }
  expect([looks.parts, looks.stored.length]).toEqual([10, 2]);
});
