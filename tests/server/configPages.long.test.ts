import { Lander } from '../../configerator/repository/land';
import { NOW } from '../configerator/repositories';
import { BEARER, configServer, type ConfigServer } from './configWorld';

/** A page as a reader with a token gets it. */
const read = async (
  { app }: ConfigServer,
  path: string,
): Promise<{ readonly status: number; readonly text: string }> => {
  const answer = await app.request(path, { headers: BEARER });
  return { status: answer.status, text: (await answer.text()).replace(/&quot;/g, '"') };
};

test('pages of a repository show changes until they land, then the value, its source, and the share of a gate', async () => {
  const server = await configServer();
  const gate = { rules: [{ name: 'employees', if: [{ restraint: 'employee' }], pass: 0.25 }] };
  const made = await server.propose({
    message: 'Tune it',
    values: { 'feed/limits': { soft: 5 }, 'gates/checkout': gate },
  });
  expect(made.status).toBe(201);
  const proposed = await read(server, '/config/flags');
  expect(proposed.status).toBe(200);
  expect(proposed.text).toContain('Tune it');
  expect(proposed.text).toContain('nothing has landed yet');
  expect((await read(server, '/config/flags/value?path=feed/limits')).status).toBe(404);
  const inChange = await read(server, '/config/flags/value?path=feed/limits&change=1');
  expect(inChange.text).toContain('"soft": 5');

  await new Lander(server.it.repository).land([1], NOW);
  // Readers of five seconds share what git says, so another server is asked.
  const after = { ...server, app: (await configServer({}, { git: server.it.origin })).app };
  const landed = await read(after, '/config/flags');
  expect(landed.text).toMatch(/landed [0-9a-f]{12}/);
  expect(landed.text).toContain('href="/config/flags/value?path=feed%2Flimits.json"');
  const value = await read(after, '/config/flags/value?path=feed%2Flimits.json');
  expect(value.text).toContain('"soft": 5');
  // A slow machine leaves the origins out, and says so.
  expect(value.text).toMatch(/config\.repositories\.flags names no etcd|did not arrive in time/);
  expect((await read(after, '/gates')).text).toContain('href="/gates/flags/checkout"');
  const shown = await read(after, '/gates/flags/checkout');
  expect(shown.text).toContain('25%');
  expect(shown.text).toContain('employees');
  const twin = await read(after, '/config/flags.json');
  expect(JSON.parse(twin.text)).toMatchObject({
    repository: 'flags',
    sources: ['feed/limits.json', 'gates/checkout.json'],
  });
  expect((await read(after, '/gates/flags/nothing')).status).toBe(404);
});
