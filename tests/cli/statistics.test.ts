import type { ConveyorClient } from '../../client/api';
import { conveyorError } from '../../domain/errors';
import type { HistoryRow } from '../../domain/views';
import { NOW } from '../builders/cliSamples';
import { run } from '../builders/cliWorld';
import { letPass, pastRelease, through } from '../builders/historyRows';

const DAY = 86_400_000;

/** That many days before the moment of the test. */
const endedAgo = (days: number, row: HistoryRow): HistoryRow => ({
  ...row,
  endedAt: new Date(NOW - days * DAY).toISOString(),
});

const KVSTORE = [
  endedAgo(1, pastRelease(4, [through('13')], { kind: 'rollback', actor: 'user:ana', of: 3 })),
  endedAgo(2, pastRelease(3, [through('14')])),
  endedAgo(3, pastRelease(2, [through('13', letPass('errors'))])),
  endedAgo(40, pastRelease(1, [through('12')])),
];
const histories: Readonly<Record<string, readonly HistoryRow[]>> = {
  kvstore: KVSTORE,
  web: [],
  busy: Array.from({ length: 100 }, (_, at) => endedAgo(at, pastRelease(200 - at, [through(`${at}`)]))),
};
const LABELS: Readonly<Record<string, Record<string, string>>> = { kvstore: { category: 'regular' } };

/** A server with these pipelines. */
const serving = (...pipelines: readonly string[]): Partial<ConveyorClient> => ({
  listPipelines: () => Promise.resolve(pipelines.map((id) => ({ id, labels: LABELS[id] ?? {} })) as never),
  spec: (id) =>
    pipelines.includes(id)
      ? Promise.resolve({ labels: LABELS[id] ?? {} } as never)
      : Promise.reject(conveyorError('unknown-pipeline', { pipeline: id })),
  history: (id) => Promise.resolve([...(histories[id] ?? [])]),
});

const said = async (line: string, ...pipelines: readonly string[]): Promise<string> => {
  const { code, out, err } = await run(line.split(' ').slice(1), { client: serving(...pipelines) });
  expect({ code, err }).toEqual({ code: 0, err: '' });
  return out;
};

test('statistics are of all pipelines, each by itself and per category, with shares and their bounds', async () => {
  const out = await said('conveyor health statistics', 'web', 'kvstore');
  expect(out.split('\n').map((line) => line.trimEnd())).toEqual([
    'PIPELINE  CATEGORY       DEPLOYS  FALSE POSITIVES       RELEASES  FALSE NEGATIVES',
    'kvstore   regular        3        1 (33.3%, 6.1–79.2%)  3         1 (33.3%, 6.1–79.2%)',
    'web       uncategorised  0        –                     0         –',
    '',
    'CATEGORY       PIPELINES  DEPLOYS  FALSE POSITIVES       RELEASES  FALSE NEGATIVES',
    'regular        1          3        1 (33.3%, 6.1–79.2%)  3         1 (33.3%, 6.1–79.2%)',
    'uncategorised  1          0        –                     0         –',
    '',
    expect.stringMatching(/95% confidence.*upper bounds/),
    '',
  ]);
});

test('statistics of one pipeline are of it alone, wide ones say what was counted, and since when is said', async () => {
  const out = await said('conveyor health statistics kvstore --since 30d -o wide', 'kvstore', 'web');
  expect(out).toMatch(/^kvstore +regular +2 +1 \(50\.0%, 9\.5–90\.5%\) +2 +1 \(50\.0%/m);
  expect(out).toMatch(/^kvstore\/2\/deploy +false-positive +succeeded after user:ana let errors pass$/m);
  expect(out).toMatch(/^kvstore\/3 +false-negative +rolled back by user:ana in kvstore\/4$/m);
  expect(out).toMatch(/since 21 Oct 14:02:10/);
  expect(out).not.toMatch(/web/);
});

test('statistics say of which pipelines more has happened than they remember', async () => {
  expect(await said('conveyor health statistics', 'busy')).toMatch(/its last 100 releases; 1 pipeline had more: busy/);
  expect(await said('conveyor health statistics --since 30d', 'busy')).not.toMatch(/remembers/);
});

test('statistics are data for scripts, and a pipeline that is named twice is counted once', async () => {
  const report = JSON.parse(await said('conveyor health statistics kvstore kvstore -o json', 'kvstore')) as object;
  expect(report).toMatchObject({
    since: null,
    cut: [],
    pipelines: [{ pipeline: 'kvstore', category: 'regular', falsePositives: { count: 1, of: 3 }, suspects: [{}, {}] }],
    categories: [{ category: 'regular', pipelines: 1, falseNegatives: { count: 1, of: 3 } }],
  });
  expect(await said('conveyor health statistics -o name', 'web', 'kvstore')).toBe('kvstore\nweb\n');
});

test('a pipeline that does not exist, a duration that is none, and nothing after health are refused', async () => {
  const refused = async (line: string) => run(line.split(' ').slice(1), { client: serving('kvstore') });
  expect(await refused('conveyor health statistics nosuch')).toMatchObject({ code: 4 });
  expect(await refused('conveyor health statistics --since soon')).toMatchObject({ code: 2 });
  const { code, err } = await refused('conveyor health');
  expect(code).toBe(2);
  expect(err).toMatch(/statistics.*\n[^]*an argument is missing after it/);
});
