import { DEFAULT_FRESHNESS } from '../../domain/freshness/policy';
import { freshnessReport } from '../../domain/freshness/report';
import { DAY_MS } from '../../domain/milliseconds';
import { NOW, pipeline } from '../builders/cliSamples';
import { run } from '../builders/cliWorld';

const deployedBefore = (id: string, days: number) => ({
  ...pipeline({ id }),
  state: 'active' as const,
  deployedAt: new Date(NOW - days * DAY_MS).toISOString(),
});
const REPORT = freshnessReport(
  [deployedBefore('young', 2), deployedBefore('old', 45), { ...deployedBefore('ancient', 80), state: 'frozen' }],
  DEFAULT_FRESHNESS,
  NOW,
);
const client = { freshness: () => Promise.resolve(REPORT) };

test('freshness shows the worst first: since when, until when, and what stops it', async () => {
  const { out } = await run(['freshness'], { client });
  const lines = out.split('\n').map((line) => line.replace(/ {2,}/g, '  '));
  expect(lines[0]).toMatch(/^PIPELINE  STATE  DEPLOYED  NEXT  STOPPED  OWNERS$/);
  expect(lines[1]).toMatch(/^ancient  ✖ overdue  80d ago  –  frozen  /);
  expect(lines[2]).toMatch(/^old  ⚠ stale  45d ago  overdue in 18d  –  /);
  expect(lines[3]).toMatch(/^young  ✔ fresh  2d ago  stale in 40d  –  /);
  expect(out).toContain('33.3 % of the pipelines that ever deployed did so in the last week.');
});

test('it is JSON for programs, with the share of a week, and says what a limit leaves out', async () => {
  expect(JSON.parse((await run(['freshness', '-o', 'json'], { client })).out)).toEqual(REPORT);
  const { out } = await run(['freshness', '--limit', '1'], { client });
  expect(out).not.toContain('young');
  expect(out).toContain('2 pipelines more: --limit 3');
});

test('without a pipeline it says how to get one', async () => {
  const empty = { freshness: () => Promise.resolve({ ...REPORT, weekly: null, pipelines: [] }) };
  expect((await run(['freshness'], { client: empty })).out).toContain('conveyor init');
});
