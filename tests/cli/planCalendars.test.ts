import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from '../builders/cliWorld';

const FIXTURES = join(__dirname, '../fixtures/calendars');
const folder = mkdtempSync(join(tmpdir(), 'conveyor-plan-ics-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const plan = async (ics: string, now: string) => {
  copyFileSync(join(FIXTURES, ics), join(folder, ics));
  writeFileSync(join(folder, 'units.yaml'), '- { name: kv, service: kv, region: x, tasks: 6, version: "kv:1" }\n');
  const withDeploy = '{ pushType: twine, config: { jobs: [kv] }, completion: { bake: 10m } }';
  writeFileSync(
    join(folder, 'pipeline.yaml'),
    `pipeline: web\nowners: [user:alice]\nartifacts: { executable: { finder: manual } }\nblackouts: [{ ics: ${ics}, timezone: Europe/Berlin }]\nactions: { deploy: { type: deploy, inputs: [executable], with: ${withDeploy} } }\n`,
  );
  const units = ['--units', join(folder, 'units.yaml'), '--update-time', '5m'];
  const { code, out, err } = await run(['plan', join(folder, 'pipeline.yaml'), ...units, '--now', now, '-o', 'json']);
  return { code, err, ...(JSON.parse(out) as { phases: { updatesAt: string }[] }) };
};

describe('a deploy is planned after the freeze that a calendar has, not into it', () => {
  test.each([
    ['further-day.ics', '2026-12-24T09:00Z', '2026-12-24T23:00:00'],
    ['moved-with-all-later.ics', '2026-12-29T09:00Z', '2026-12-29T23:00:00'],
    ['until-in-utc.ics', '2026-12-24T09:00Z', '2026-12-24T19:00:00'],
    ['date-without-value.ics', '2026-12-25T09:00Z', '2026-12-25T23:00:00'],
    ['whole-day-moved-by-time.ics', '2026-12-11T09:00Z', '2026-12-11T23:00:00'],
  ])('%s at %s', async (ics, now, begins) => {
    const planned = await plan(ics, now);
    expect(planned).toMatchObject({ code: 0 });
    expect(JSON.stringify(planned.phases[0])).toContain(begins);
  });
});
