import { readFileSync } from 'node:fs';
import { compile } from '../../configerator/compiler/compile';
import { folderTree } from '../../configerator/compiler/tree';
import type { SubscriberCounts } from '../../simulator/configerator/subscribers';
import { folderOf } from '../configerator/sources';
import { examplePath, exampleSource } from '../setup/examples';
import { HOUR, MINUTE, VirtualWorld } from './world';

/** examples/config/errors: the paper's three kinds of errors, each caught at the stage that the paper names. */

const FOLDER = 'config/errors';
const PATH = 'feed/settings';
const FILES = ['feed/settings.schema.ts', 'feed/settings.validate.ts', 'feed/settings.config.ts'];

/** The lines that the page tells readers to try, in order. */
const LINES = [...readFileSync(examplePath(`${FOLDER}/README.md`), 'utf8').matchAll(/^export default .*$/gm)].map(
  ([line]) => line,
);

async function compiled(line: string | undefined) {
  const tree = Object.fromEntries(
    FILES.map((file) => [file, readFileSync(examplePath(`${FOLDER}/flags/${file}`), 'utf8')]),
  );
  const program = tree['feed/settings.config.ts']!;
  const changed = line === undefined ? program : program.replace(/^export default .*$/m, line);
  expect(line === undefined || changed !== program).toBe(true);
  return compile(folderTree(folderOf({ ...tree, 'feed/settings.config.ts': changed })));
}

const valueOf = async (line?: string): Promise<unknown> => {
  const { values, problems } = await compiled(line);
  expect(problems).toEqual([]);
  return JSON.parse(values.find(({ path }) => path === PATH)?.text ?? '') as unknown;
};

let world: VirtualWorld | undefined;
afterEach(async () => {
  await world?.close();
  world = undefined;
});

/** The old value on a hundred tasks that run a version of the code with these bugs. */
async function given(version: string, behaviours: readonly object[]): Promise<VirtualWorld> {
  const before = await valueOf();
  const opened = await VirtualWorld.open();
  world = opened;
  const config = <T>(what: string, body: object) => opened.control<T>('POST', `/control/config/${what}`, body);
  const { change } = await config<{ change: number }>('changes', { values: { [PATH]: before } });
  await config('commits', { change });
  await opened.job('feed-eu', 'eu', 100, { service: 'feed', version });
  await config('subscribers', { job: 'feed-eu', paths: [PATH] });
  for (const behaviour of behaviours) await config('behaviours', { path: PATH, ...behaviour });
  await opened.apply({ ...exampleSource('config/errors/pipeline.yaml'), owners: ['user:alice'] });
  return opened;
}

async function released(
  line: string,
): Promise<{ outcome: string | null; summary: string; phases: string[]; commits: number }> {
  const value = await valueOf(line);
  const opened = world!;
  const { version } = await opened.control<{ version: string }>('POST', '/control/config/changes', {
    values: { [PATH]: value },
  });
  const artifacts = [{ name: 'settings', kind: 'config', version, metadata: {} }];
  await opened.start('feed-settings', { artifacts });
  await opened.ended('feed-settings', 1, { stepMs: MINUTE, withinMs: 6 * HOUR });
  const { outcome, summary, phases } = await opened.deployStatus('feed-settings', 1);
  await opened.sleep(MINUTE);
  const counts = await opened.control<SubscriberCounts>(
    'GET',
    `/control/config/subscribers?path=${encodeURIComponent(PATH)}`,
  );
  expect(counts).toEqual({ total: 100, committed: 100, overridden: 0, stale: 0 });
  const begun = phases.filter(({ startedAt }) => startedAt !== null).map(({ name }) => name);
  const { branches } = opened.simulator.simulation.state.configerator;
  return { outcome, summary, phases: begun, commits: branches.get('flags')!.commits.length };
}

const OVERLOAD = { when: { field: 'retries', above: 5 }, behaviour: { latencyFactor: 2, cpuFactor: 1.3 } };
const RACE = { when: { field: 'encoding', equals: 'zstd' }, version: 'feed:1', behaviour: { crashesPerMinute: 1 } };

test('the page has three lines to try', () => expect(LINES).toHaveLength(3));

test('1: a common mistake is refused by the invariant of the owner, and nothing is proposed', async () => {
  const { problems } = await compiled(LINES[0]);
  expect(problems.map(({ code, message }) => `${code}: ${message}`)).toEqual([
    expect.stringMatching(/^config-value-refused: feed\/settings .* softBelowHard .*: soft 500 is above hard 100/),
  ]);
});

test('2: a subtle one is found on the tenth of the hosts that have it, and nothing is committed', async () => {
  await given('feed:1', [OVERLOAD, RACE]);
  const { outcome, summary, phases, commits } = await released(LINES[1]!);
  expect([outcome, phases, commits]).toEqual(['reverted', ['few'], 1]);
  expect(summary).toContain('rpc-latency');
});

test('3: a valid one that exposes a bug of the code is found there, too, by its crashes', async () => {
  await given('feed:1', [OVERLOAD, RACE]);
  const { outcome, summary, phases, commits } = await released(LINES[2]!);
  expect([outcome, phases, commits]).toEqual(['reverted', ['few'], 1]);
  expect(summary).toContain('crashes');
});

test('3: and lands once the code is fixed', async () => {
  await given('feed:2', [OVERLOAD, RACE]);
  expect(await released(LINES[2]!)).toMatchObject({
    outcome: 'succeeded',
    phases: ['few', 'half', 'completion'],
    commits: 2,
  });
});
