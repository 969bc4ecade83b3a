import { appOf, FakePipelines } from '../builders/serverWorld';

const listing = (listPipelines: () => Promise<never>) => ({ client: { ...new FakePipelines().client, listPipelines } });

describe('the health of the front end', () => {
  test('/livez says that the process runs, whatever Temporal does', async () => {
    const app = appOf(
      undefined,
      listing(() => Promise.reject(new Error('down'))),
    );
    expect((await app.request('/livez')).status).toBe(200);
  });

  test('/readyz is 200 while Temporal answers', async () => {
    const response = await appOf().request('/readyz');
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ status: 'ok' });
  });

  test.each(['temporal', 'worker'] as const)('/readyz is 503 with the reason when %s does not answer', async (name) => {
    const readiness = () => Promise.resolve([{ name, ok: false, detail: 'nobody polls' }]);
    const app = appOf(undefined, { client: { ...new FakePipelines().client, readiness } });
    const response = await app.request('/readyz');
    expect(response.status).toBe(503);
    expect(await response.json()).toEqual({
      status: 'unavailable',
      checks: [{ name, status: 'unavailable', detail: 'nobody polls' }],
    });
  });

  test('/readyz asks no pipeline, so a silent pipeline does not make a server unready', async () => {
    const app = appOf(
      undefined,
      listing(() => Promise.reject(new Error('asked'))),
    );
    expect((await app.request('/readyz')).status).toBe(200);
  });

  test('/readyz is 503 once the server drains, so that nothing new is sent to it', async () => {
    expect((await appOf(undefined, { isDraining: () => true }).request('/readyz')).status).toBe(503);
  });

  test('/metrics is Prometheus text about this process', async () => {
    const times = [1000];
    const text = await (await appOf(undefined, { now: () => times.shift() ?? 61_000 }).request('/metrics')).text();
    expect(text).toMatch(/^process_uptime_seconds 60$/m);
    expect(text).toMatch(/^process_resident_memory_bytes \d{6,}$/m);
  });

  test('/metrics says which finders fail, asked once for scrapes that follow each other, and continues without', async () => {
    const pipelines = new FakePipelines();
    let asked = 0;
    const listFinders = () => {
      asked += 1;
      const states = { commits: 'failing', 'latest-build': 'answers', 'model-versions': 'idle' };
      return Promise.resolve(Object.entries(states).map(([id, state]) => ({ id, kind: 'finder', state }) as never));
    };
    const app = appOf(pipelines, { client: { ...pipelines.client, listFinders } });
    await app.request('/metrics');
    const text = await (await app.request('/metrics')).text();
    expect(text).toContain('conveyor_finder_failing{finder="commits"} 1\n');
    expect(text).toContain('conveyor_finder_failing{finder="latest-build"} 0\n');
    expect(asked).toBe(1);
    const gone = appOf(pipelines, {
      client: { ...pipelines.client, listFinders: () => Promise.reject(new Error('no')) },
    });
    expect((await gone.request('/metrics')).status).toBe(200);
  });

  test('/metrics says of each certificate whether it ends within 14 days, has ended or cannot be read', async () => {
    const now = Date.parse('2026-11-28T00:00:00Z');
    const look = (use: string, until: string | null) => ({
      ...{ use, at: '/etc/conveyor/client.pem', from: until && '2026-01-01T00:00:00Z', until, trouble: null },
    });
    const looks = [
      look('client certificate for Temporal', '2026-12-20T00:00:00Z'),
      look('client certificate for the store of flags', '2026-12-10T00:00:00Z'),
      look('authority of the store of flags', '2026-11-27T00:00:00Z'),
      look('authority of Temporal', null),
    ];
    const app = appOf(undefined, { now: () => now, certificates: () => Promise.resolve(looks) });
    const text = await (await app.request('/metrics')).text();
    expect(
      [...text.matchAll(/^conveyor_certificate_ending\{certificate="(.*)"\} (\d)$/gm)].map(([, ...one]) => one),
    ).toEqual([
      ['client certificate for Temporal', '0'],
      ['client certificate for the store of flags', '1'],
      ['authority of the store of flags', '1'],
      ['authority of Temporal', '1'],
    ]);
  });

  test('/metrics counts requests by route and status, never by path', async () => {
    const app = appOf();
    await app.request('/v1/releases/kvstore/1');
    await app.request('/v1/releases/kvstore/2');
    await app.request('/v1/releases/kvstore/x');
    await app.request('/v1/nope');
    const text = await (await app.request('/metrics')).text();
    expect(text).toContain(
      'conveyor_http_requests_total{method="GET",route="/v1/releases/:pipeline/:n",status="200"} 2\n',
    );
    expect(text).toContain(
      'conveyor_http_requests_total{method="GET",route="/v1/releases/:pipeline/:n",status="400"} 1\n',
    );
    expect(text).toContain('conveyor_http_requests_total{method="GET",route="none",status="404"} 1\n');
    expect(text).toContain('conveyor_http_request_duration_seconds_count{route="/v1/releases/:pipeline/:n"} 3\n');
    expect(text).toContain('conveyor_http_requests_in_flight{lane="webhooks"} 0\n');
    expect(text).not.toContain('kvstore');
  });

  test('an unknown path is a 404 in the form of all errors', async () => {
    const response = await appOf().request('/nope');
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ error: { code: 'not-found', message: 'there is no GET /nope' } });
  });
});
