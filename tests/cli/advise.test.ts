import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parsePipeline } from '../../domain/spec/parse';
import type { PipelineSpec } from '../../domain/spec/pipeline';
import { statsReport } from '../../domain/stats/report';
import { NOW } from '../builders/cliSamples';
import { run } from '../builders/cliWorld';
import { NO_TALLIES } from '../builders/statsTallies';

const FILE = `pipeline: kvstore
owners: [user:alice]
labels: { category: regular }
artifacts:
  executable: { finder: manual }
actions:
  deploy:
    type: deploy
    inputs: [executable]
    with:
      pushType: twine
      phases:
        - { scope: "region:a", amount: 100%, bake: 30m }
        - { scope: "region:b", amount: 100%, bake: 30m }
      healthChecks:
        - { name: errors, metric: rpc.errors, threshold: { above: 1 } }
    window: { days: [mon, fri], from: "09:00", to: "12:00", timezone: UTC }
`;

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'conveyor-advise-'));
  file = join(folder, 'pipeline.yaml');
  writeFileSync(file, FILE);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Whose server has an archive in which half of ten pipelines of the category have a canary. */
const withArchive =
  (command: string) =>
  (...args: readonly string[]) => {
    const cadences = [{ category: 'regular', cadence: 'daily' as const, count: 10 }];
    const tallies = { ...NO_TALLIES, cadences, actionTypes: [{ category: 'regular', type: 'canary', count: 5 }] };
    const report = statsReport(tallies, { sinceMs: NOW - 1, untilMs: NOW, readUntilMs: NOW });
    return run([command, file, ...args], {
      env: { CONVEYOR_SERVER: 'http://127.0.0.1:8080' },
      fetch: () => Promise.resolve(Response.json(report)),
    });
  };
const [advise, lint] = [withArchive('advise'), withArchive('lint')];

test('each recommendation has its line, what to do and why, by the file and by the archive', async () => {
  const { code, out, err } = await advise();
  expect([code, err]).toEqual([0, '']);
  expect(out).toContain(
    `${file}:17:21: late-in-the-week actions.deploy.window.days: deploy in the mornings of Monday to Thursday\n`,
  );
  expect(out).toContain('    deploys may start on fri, the day before a day off (Conveyor §6.5.4)\n');
  expect(out).toContain(`${file}:7:3: canary actions: try a version on a few tasks first`);
  expect(out).toContain('    5 of 10 pipelines of regular have one\n');
  expect(out).toMatch(/\n3 recommendations by the file and the releases that ended in the category regular\n$/);
});

test('programs get the same, each with a rule, a place, a recommendation and a reason', async () => {
  const { out } = await advise('-o', 'json');
  const report = JSON.parse(out) as { advice: object[] };
  expect(report).toMatchObject({ file, category: 'regular', since: expect.any(String) });
  expect(report.advice).toContainEqual({
    ...{ rule: 'canary', line: 7, column: 3, path: 'actions', reason: '5 of 10 pipelines of regular have one' },
    recommendation: 'try a version on a few tasks first: add a canary before the deploy',
  });
});

test('a pipeline that was applied is known by its name, and has paths instead of lines', async () => {
  const config = join(folder, 'conveyor.config.yaml');
  writeFileSync(config, 'extensions: []\n');
  const spec = parsePipeline(FILE).spec as PipelineSpec;
  const world = { env: { CONVEYOR_CONFIG: config }, client: { spec: () => Promise.resolve(spec) } };
  const { code, out } = await run(['advise', 'kvstore'], world);
  expect(code).toBe(0);
  expect(out).toContain('kvstore: late-in-the-week actions.deploy.window.days: deploy in the mornings');
  expect(out).toMatch(/\n2 recommendations by its spec alone\n$/);
  const { advice } = JSON.parse((await run(['advise', 'kvstore', '-o', 'json'], world)).out) as { advice: object[] };
  expect(advice).toContainEqual(expect.objectContaining({ line: null, path: 'actions.deploy.window.days' }));
});

test('lint --archive warns of what the archive teaches, and is refused where there is none', async () => {
  const { code, out } = await lint('--archive');
  expect(code).toBe(0);
  expect(out).toContain(`${file}:7:3: warning canary: actions: try a version on a few tasks first`);
  expect((await lint()).out).not.toContain('canary');
  const config = join(folder, 'conveyor.config.yaml');
  writeFileSync(config, 'extensions: []\n');
  expect(await run(['lint', file, '--archive'], { env: { CONVEYOR_CONFIG: config } })).toMatchObject({
    code: 2,
    err: expect.stringContaining('there is no archive'),
  });
});

test('without an archive the file is enough, and that is said', async () => {
  const config = join(folder, 'conveyor.config.yaml');
  writeFileSync(config, 'extensions: []\n');
  const { code, out, err } = await run(['advise', file], { env: { CONVEYOR_CONFIG: config } });
  expect(code).toBe(0);
  expect(err).toMatch(/^note: without data from the archive: /);
  expect(out).toMatch(/\n2 recommendations by the file alone\n$/);
});

test('a file that cannot be applied is refused, as is a time that is none', async () => {
  expect((await advise('--since', 'soon')).err).toContain('--since soon is not a time');
  writeFileSync(file, FILE.replace('type: deploy', 'type: deplyo'));
  expect((await advise()).err).toContain('error: invalid-file');
});
