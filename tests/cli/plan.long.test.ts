import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { conveyorError } from '../../domain/errors';
import type { DeployStatus, HistoryRow, PipelineStatus, PlanView } from '../../domain/views';
import type { PlanReport } from '../../render/plan';
import { statsReport } from '../../domain/stats/report';
import { examplePath } from '../setup/examples';
import { run } from '../builders/cliWorld';
import { talliesOf } from '../builders/statsTallies';

const folder = mkdtempSync(join(tmpdir(), 'conveyor-plan-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** No process listens there, and nothing has ended. */
const ALONE = { CONVEYOR_SIMULATOR_URL: 'http://127.0.0.1:9', CONVEYOR_ARCHIVE_FILE: join(folder, 'none.duckdb') };
const STORAGE = examplePath('storage/pipeline.yaml');
const MONDAY = ['--now', '2026-11-23T09:00-08:00'];

test.each(['2026-02-30', '2026-02-30T09:00Z', '2026-13-01', 'tomorrow', '1', '2026-11-23T25:00Z'])(
  '--now %s is not a time',
  async (time) => {
    const { code, err } = await run(['plan', STORAGE, '--now', time], { env: ALONE });
    expect([code, err]).toEqual([2, expect.stringContaining(`--now ${time} is not a time`)]);
  },
);

test('in the hour that comes twice in autumn each time says its offset, so that none seems to go back', async () => {
  const file = join(folder, 'night.yaml');
  writeFileSync(
    file,
    readFileSync(STORAGE, 'utf8')
      .replace('days: [mon, tue, wed, thu, fri]', 'days: [sun]')
      .replace('"09:00"', '"00:00"'),
  );
  const argv = [
    'plan',
    file,
    '--units',
    examplePath('storage/fleet.yaml'),
    '--now',
    '2026-11-01T01:20-07:00',
    '--update-time',
    '10m',
  ];
  const { out } = await run(argv, { env: ALONE });
  expect(out).toMatch(/1 first-job .*Sun 01 Nov 01:20 -07:00 +01:30 -07:00 +01:30 -08:00 /);
  expect(out).toMatch(/2 two-jobs .*Sun 01 Nov 01:30 -08:00 +01:40 -08:00 +02:40 /);
});

test('the plan of examples/regions is that of one region, with what its template and its parameters say', async () => {
  const argv = ['plan', examplePath('regions/pipeline.yaml'), ...MONDAY];
  const { out } = await run([...argv, '--action', 'deploy-eu'], { env: ALONE });
  expect(out).toMatch(/^search deploy-eu {2}/);
  expect(out).toMatch(/^1 first +\* +10% .* search-eu: 2$/m);
  expect(out).not.toContain('search-us');
  const { code, err } = await run(argv, { env: ALONE });
  expect(code).not.toBe(0);
  expect(err).toMatch(/deploy-eu.*deploy-us/);
});

describe('the plan of examples/storage', () => {
  const planned = (...more: string[]) =>
    run(['plan', STORAGE, ...MONDAY, '--update-time', '25m', ...more], { env: ALONE });

  test('is printed in the zone of its window, with its finish, and needs no server', async () => {
    const { code, out, err, connections } = await planned();
    expect([code, connections]).toEqual([0, []]);
    expect(err).toBe(`twine does not answer: planned for the fleet of ${examplePath('storage/fleet.yaml')}\n`);
    const lines = out.split('\n');
    expect(lines[0]).toBe('storage deploy  misc, 20 phases, finishes Tue 24 Nov 16:35, 1d 7h from now');
    expect(lines[1]).toBe(
      'window mon, tue, wed, thu, fri 09:00–18:00, updates pause at closing; times in America/Los_Angeles',
    );
    expect(lines).toEqual(
      expect.arrayContaining([
        expect.stringMatching(
          /^1 first-job +region:a +1 of units +1.3% +10 +Mon 23 Nov 09:00 +09:25 +10:25 +storage-a-1: 10$/,
        ),
        expect.stringMatching(/^7 region-e +region:e +100% +32.5% +40 +Mon 23 Nov 17:30 +17:55 +18:05 +storage-e: 40$/),
        expect.stringMatching(/^8 region-f +region:f +100% +37.7% +40 +Tue 24 Nov 09:00 +09:25 +09:35 +storage-f: 40$/),
        expect.stringMatching(/^20 completion +\* +100% +100% +770 +Tue 24 Nov 16:00 +16:25 +16:35 +storage-a-1: 10, /),
      ]),
    );
  });

  test('is for programs in UTC, in the shape that is promised', async () => {
    const view = JSON.parse((await planned('-o', 'json')).out) as PlanView;
    expect(view).toMatchObject({ pipeline: 'storage', action: 'deploy', pattern: 'misc', warnings: [] });
    expect(view.finishesAt).toBe('2026-11-25T00:35:00.000Z');
    expect(view.phases).toHaveLength(20);
    expect(view.phases[1]).toEqual({
      ...{ index: 1, name: 'two-jobs', scope: 'region:a', amount: '2 of units', effectivePercent: 3.9 },
      units: [
        { id: 'storage-a-1', tasks: 10 },
        { id: 'storage-a-2', tasks: 20 },
      ],
      ...{ startsAt: '2026-11-23T18:25:00.000Z', updatedAt: '2026-11-23T18:50:00.000Z' },
      bakedAt: '2026-11-23T19:50:00.000Z',
    });
  });

  test('says the day of what ends on another than it began', async () => {
    const { out } = await run(['plan', STORAGE, '--now', '2026-11-23T09:15-08:00', '--update-time', '25m'], {
      env: ALONE,
    });
    expect(out).toMatch(/7 region-e .* Mon 23 Nov 17:45 +Tue 24 Nov 09:10 +09:20 /);
    expect(out).toContain('finishes Tue 24 Nov 16:55');
  });

  test('takes a fleet file as its units, too', async () => {
    const fleet = examplePath('storage/fleet.yaml');
    const { out, err } = await planned('--units', fleet);
    expect([err, out]).toEqual(['', expect.stringContaining('finishes Tue 24 Nov 16:35')]);
  });
});

describe('experience from the archive', () => {
  const tallies = { ...talliesOf('uncategorised'), progress: [{ category: 'uncategorised', tenth: 7, count: 3 }] };
  const report = statsReport(tallies, { sinceMs: 0, untilMs: 1, readUntilMs: 1 });
  const planned = (answer: () => Promise<Response>, ...more: string[]) =>
    run(['plan', STORAGE, '--units', examplePath('storage/fleet.yaml'), ...MONDAY, '--update-time', '25m', ...more], {
      env: { ...ALONE, CONVEYOR_SERVER: 'http://127.0.0.1:8080' },
      fetch: answer,
    });

  test('is said with the plan: how long its deploys took, how often a check stopped a good version, and how late it was', async () => {
    const { out } = await planned(() => Promise.resolve(Response.json(report)));
    expect(out).toContain(
      [
        '\nAll pipelines of the category uncategorised, since Wed 31 Dec',
        '  4 deploys succeeded, half of them within 10m, 99% within 2h',
        '  people let 1 of 2 deploys continue in spite of a check',
        '  people took back 0 of 2 releases that had succeeded',
        '  3 of 3 failed deploys had updated half of their tasks before\n',
      ].join('\n'),
    );
    const { experience } = JSON.parse(
      (await planned(() => Promise.resolve(Response.json(report)), '-o', 'json')).out,
    ) as PlanReport;
    expect(experience).toMatchObject({ category: 'uncategorised', late: { count: 3, of: 3 } });
  });

  test('is missing, with a note, if no archive can be asked; the plan is there all the same', async () => {
    const { code, out, err } = await planned(() => Promise.reject(new Error('connect ECONNREFUSED')));
    expect([code, out]).toEqual([0, expect.stringContaining('finishes Tue 24 Nov 16:35')]);
    expect(err).toContain('note: without data from the archive: ');
    expect(out).not.toContain('All pipelines of the category uncategorised, since');
  });
});

describe('a window that lets only two deploys begin', () => {
  const file = join(folder, 'two.yaml');
  beforeAll(() =>
    writeFileSync(
      file,
      readFileSync(STORAGE, 'utf8')
        .replace('      onClose: pause', '      maxDeploys: 2\n      onClose: pause')
        .replace('\nactions:', '\nreleases: { expireAfter: 2d }\n\nactions:'),
    ),
  );
  const planned = (client: object, ...more: string[]) =>
    run(['plan', file, '--units', examplePath('storage/fleet.yaml'), ...MONDAY, '--update-time', '25m', ...more], {
      env: ALONE,
      client,
    });
  const begun = (...times: string[]) => ({
    status: () =>
      Promise.resolve({ kind: 'pipeline', id: 'storage', begun: { deploy: times } } as unknown as PipelineStatus),
  });
  /** At nine and at noon in Los Angeles. */
  const [NINE, NOON] = ['2026-11-23T17:00:00.000Z', '2026-11-23T20:00:00.000Z'];

  test('and in which two have begun is reckoned with: it begins when the window opens again', async () => {
    const { out } = await planned(begun(NINE, NOON), '--now', '2026-11-23T13:00-08:00');
    expect(out).toMatch(/^1 first-job .* Tue 24 Nov 09:00 /m);
    expect(out).toContain(
      'window-full: 2 of 2 deploys of this window have begun: it begins when the window opens again',
    );
  });

  test.each<[string, readonly string[]]>([
    ['one has begun', [NINE]],
    ['two had begun on the day before', ['2026-11-20T17:00:00.000Z', '2026-11-20T20:00:00.000Z']],
    ['none has', []],
  ])('has room when %s', async (_, times) => {
    const view = JSON.parse((await planned(begun(...times), '--now', '2026-11-23T13:00-08:00', '-o', 'json')).out);
    expect(view).toMatchObject({
      phases: [{ startsAt: '2026-11-23T21:00:00.000Z' }, ...Array(19).fill({})],
      warnings: [],
    });
  });

  test('is planned without the limit of a window if no count is available, and the plan states that', async () => {
    const { code, out } = await planned({ status: () => Promise.reject(new Error('no worker')) });
    expect([code, out]).toEqual([0, expect.stringMatching(/^⚠ uncounted-deploys: /m)]);
    const none = await planned({
      status: () => Promise.reject(conveyorError('unknown-pipeline', { pipeline: 'storage' })),
    });
    expect(none.out).not.toContain('uncounted-deploys');
  });

  test('and the time after which a release expires in the queue are said', async () => {
    const { out } = await planned(begun());
    expect(out).toContain('09:00–18:00 (2 deploys at most)');
    expect(out).toContain('a release that waits in the queue for longer than 2d is cancelled');
    expect(JSON.parse((await planned(begun(), '-o', 'json')).out)).toMatchObject({ expireAfterMs: 172_800_000 });
  });
});

describe('how long updates take', () => {
  const row = (number: number, kind: string, outcome: string) =>
    ({
      ...{ id: `storage/${number}`, number, trigger: { kind } },
      deploys: [{ action: 'deploy', outcome }],
    }) as unknown as HistoryRow;
  const status = (updateMs: number, phases: number) =>
    ({
      spans: { updateMs },
      phases: Array.from({ length: phases }, () => ({ updatedAt: '2026-11-20T17:00:00Z', units: [{ targeted: 3 }] })),
    }) as unknown as DeployStatus;
  const DEPLOYS: Record<string, DeployStatus> = {
    'storage/4/deploy': status(4_000_000, 2),
    'storage/1/deploy': status(500_000, 1),
  };
  const client = {
    history: () =>
      Promise.resolve([
        row(5, 'manual', 'reverted'),
        row(4, 'webhook', 'succeeded'),
        row(2, 'rollback', 'succeeded'),
        row(1, 'manual', 'succeeded'),
      ]),
    status: (id: string) => (DEPLOYS[id] ? Promise.resolve(DEPLOYS[id]) : Promise.reject(new Error(id))),
  };
  const first = async (...rest: Parameters<typeof run>) => {
    const { phases, warnings } = JSON.parse((await run(...rest)).out) as PlanView;
    const [{ startsAt, updatedAt }] = phases as [PlanView['phases'][number]];
    return [(Date.parse(updatedAt ?? '') - Date.parse(startsAt ?? '')) / 60_000, warnings.map(({ code }) => code)];
  };

  test('is what it took in the deploys that succeeded', async () => {
    expect(await first(['plan', STORAGE, ...MONDAY, '-o', 'json'], { env: ALONE, client })).toEqual([25, []]);
  });

  test('is what a person says, whatever it took', async () => {
    const argv = ['plan', STORAGE, ...MONDAY, '--update-time', '40m', '-o', 'json'];
    expect(await first(argv, { env: ALONE, client })).toEqual([40, []]);
  });

  test.each<[string, object]>([
    ['there are none', { history: () => Promise.resolve([]) }],
    ['nobody answers', { history: () => Promise.reject(new Error('no worker')) }],
  ])('is assumed, and said to be, when %s', async (_, none) => {
    const argv = ['plan', STORAGE, ...MONDAY, '-o', 'json'];
    expect(await first(argv, { env: ALONE, client: none })).toEqual([5, ['assumed-update-time']]);
  });
});

test('a percentage of whole units that means much more than it says is warned of', async () => {
  const file = join(folder, 'pipeline.yaml');
  const text = readFileSync(STORAGE, 'utf8').replace('amount: { units: 1 }', 'amount: { units: 5% }');
  writeFileSync(file, text);
  const { out } = await run(['plan', file, '--units', examplePath('storage/fleet.yaml'), '--update-time', '1m']);
  expect(out).toContain(
    'misleading-percent: 5% in phase first-job means 33.3% of these units, since it takes at least one of them',
  );
});

test('names each of several windows, and begins a phase in the first that opens', async () => {
  const file = join(folder, 'windows.yaml');
  const windows =
    '[{ days: [tue], from: "10:00", to: "12:00", timezone: UTC }, { days: [mon, wed], from: "14:00", to: "15:00", timezone: Europe/Berlin }]';
  writeFileSync(file, readFileSync(STORAGE, 'utf8').replace(/^( +window:)\n( {6}.*\n)+/m, `$1 ${windows}\n`));
  const fleet = examplePath('storage/fleet.yaml');
  const { out } = await run(['plan', file, '--units', fleet, '--update-time', '25m', '--now', '2026-11-23T12:00Z']);
  expect(out).toContain(
    'window tue 10:00–12:00 or mon, wed 14:00–15:00 Europe/Berlin, updates pause at closing; times in UTC',
  );
  expect(out).toMatch(/^1 first-job .* Mon 23 Nov 13:00 +13:25 /m);
  expect(out).toMatch(/^2 two-jobs .* Tue 24 Nov 10:00 /m);
});

test('steps before and after a phase are said not to be counted', async () => {
  const file = join(folder, 'steps.yaml');
  const step = 'bake: 10m, post: [{ service: e2e }] }';
  writeFileSync(file, readFileSync(STORAGE, 'utf8').replace(/(name: region-f.*)bake: 10m \}/, `$1${step}`));
  const { out } = await run(['plan', file, '--units', examplePath('storage/fleet.yaml'), '--update-time', '1m']);
  expect(out).toContain('uncounted-steps: the time that pre and post take is not counted: region-f');
});

test('in parallel mode a phase ends no sooner than a check has looked at what was updated last', async () => {
  const file = join(folder, 'parallel.yaml');
  const text = readFileSync(STORAGE, 'utf8').replace('pushType: twine', 'pushType: twine\n      mode: parallel');
  writeFileSync(file, text.replaceAll('bake: 10m', 'bake: 0s').replaceAll('bake: 1h', 'bake: 0s'));
  const argv = ['plan', file, '--units', examplePath('storage/fleet.yaml'), '--update-time', '25m', ...MONDAY];
  expect((await run(argv)).out).toMatch(/^1 first-job .* Mon 23 Nov 09:00 +09:25 +09:30 /m);
});

test('another file that is called fleet.yaml is not taken for a fleet', async () => {
  writeFileSync(join(folder, 'pipeline.yaml'), readFileSync(STORAGE, 'utf8'));
  writeFileSync(join(folder, 'fleet.yaml'), 'apiVersion: v1\n');
  const ran = await run(['plan', join(folder, 'pipeline.yaml')], { env: ALONE });
  expect([ran.code, ran.err]).toEqual([1, expect.stringContaining('extension-unavailable')]);
});

test('a soak is named, and the times are without it', async () => {
  const file = join(folder, 'soak.yaml');
  const soak = 'soak: { pipeline: staging, artifact: executable, for: 24h }';
  writeFileSync(file, readFileSync(STORAGE, 'utf8').replace(/^( +)(type: deploy)$/m, `$1$2\n$1${soak}`));
  const argv = ['plan', file, '--units', examplePath('storage/fleet.yaml'), ...MONDAY, '--update-time', '25m'];
  const { out } = await run(argv, { env: ALONE });
  expect(out.split('\n')[1]).toBe(
    'begins once its version has run for 1d as executable in staging; the times do not include this',
  );
  const view = JSON.parse((await run([...argv, '-o', 'json'], { env: ALONE })).out) as PlanView;
  const day = 86_400_000;
  expect(view.soak).toEqual({ pipeline: 'staging', artifact: 'executable', for: day, forMs: day });
  expect(view.phases[0]?.startsAt).toBe('2026-11-23T17:00:00.000Z');
});

test('the blackouts that it meets are named, and nothing begins in them', async () => {
  const file = join(folder, 'blackout.yaml');
  const blackouts = `blackouts:
  - { from: 2026-11-23T10:00, to: 2026-11-25, timezone: America/Los_Angeles, reason: the network is moved }
  - { from: 12-24, to: 12-26, timezone: UTC, reason: Christmas }
`;
  writeFileSync(file, blackouts + readFileSync(STORAGE, 'utf8'));
  const argv = ['plan', file, '--units', examplePath('storage/fleet.yaml'), ...MONDAY, '--update-time', '25m'];
  const { out } = await run(argv, { env: ALONE });
  expect(out).toContain('\nblackout 2026-11-23T10:00–2026-11-25 America/Los_Angeles: the network is moved\n');
  expect(out).not.toContain('Christmas');
  expect(out).toMatch(/\n2 two-jobs .*Thu 26 Nov 09:00 /);
  const { windows, blackouts: met } = JSON.parse((await run([...argv, '-o', 'json'], { env: ALONE })).out) as PlanView;
  expect(met).toEqual([expect.objectContaining({ reason: 'the network is moved', timezone: 'America/Los_Angeles' })]);
  expect(windows).toMatchObject([{ timezone: 'America/Los_Angeles', onClose: expect.any(String) as string }]);
});
