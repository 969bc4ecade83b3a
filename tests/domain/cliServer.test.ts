import { conveyorError } from '../../domain/errors';
import { createApp, type ServerDeps } from '../../server/app';

const app = (over: Partial<ServerDeps> = {}): ReturnType<typeof createApp> =>
  createApp({ client: { listPipelines: () => Promise.resolve([]) }, now: () => 0, isDraining: () => false, ...over });

describe('the health of the front end', () => {
  test('/livez says that the process runs, whatever Temporal does', async () => {
    const client = { listPipelines: () => Promise.reject(new Error('down')) };
    expect((await app({ client }).request('/livez')).status).toBe(200);
  });

  test('/readyz is 200 while Temporal answers', async () => {
    const response = await app().request('/readyz');
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ status: 'ok' });
  });

  test('/readyz is 503 with the reason when Temporal does not', async () => {
    const client = {
      listPipelines: () => Promise.reject(conveyorError('temporal-unreachable', { address: 'x:1', detail: 'refused' })),
    };
    const response = await app({ client }).request('/readyz');
    expect(response.status).toBe(503);
    expect(JSON.stringify(await response.json())).toContain('no Temporal server answers at x:1 (refused)');
  });

  test('/readyz is 503 once the server drains, so that nothing new is sent to it', async () => {
    expect((await app({ isDraining: () => true }).request('/readyz')).status).toBe(503);
  });

  test('/metrics is Prometheus text about this process', async () => {
    const times = [1000, 61_000];
    const text = await (await app({ now: () => times.shift() ?? 0 }).request('/metrics')).text();
    expect(text).toMatch(/^process_uptime_seconds 60$/m);
    expect(text).toMatch(/^process_resident_memory_bytes \d{6,}$/m);
  });

  test('what is not there is a 404 in the form of all errors', async () => {
    const response = await app().request('/nope');
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ error: { code: 'not-found', message: 'there is no GET /nope' } });
  });
});
