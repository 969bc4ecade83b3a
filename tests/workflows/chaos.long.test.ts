import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { callExtension, viaApp } from '../../sdk/client';
import { pushTypeProtocol } from '../../sdk/protocol/pushType';
import { judge } from '../chaos/judge';
import { judgeOffers } from '../chaos/judgeOffers';
import { judgeSteps } from '../chaos/judgeSteps';
import type { PipelineState } from '../../domain/pipeline/state';
import { judgeReverts, passedOver, seeMoment, untrue } from '../chaos/judgeReverts';
import { canariesOf, deploysOf, play, releasesOf, type Deploy } from '../chaos/play';
import { configurationOf, membersOf, offersOf, scenarioOf, type Member, type Scenario } from '../chaos/scenario';
import { kvstore } from './pipelines';
import { HOUR, MINUTE, VirtualWorld } from './world';

/**
 * `npm run chaos -- --seeds N --from S` sets it to `S:N`, with `--configuration` to `S:N:configuration`, and with `--offers` to `S:N:offers`. The
 * tests run only a few quick stories of all kinds.
 */
const [from = 85, count = 5] = (process.env['CONVEYOR_CHAOS'] ?? '').split(':').flatMap((text) => Number(text) || []);
const ASKED = process.env['CONVEYOR_CHAOS'] ?? '';
const [, , KIND] = ASKED.split(':');
/** The story of a seed, by kind. */
const STORIES: Readonly<Record<string, (seed: number) => Scenario>> = {
  configuration: configurationOf,
  offers: offersOf,
};
const { [KIND ?? '']: storyOf = scenarioOf } = STORIES;
const MANY_JOBS = 100;
const SEEDS = Array.from({ length: count }, (_, index) => from + index);

/** Worlds are expensive, so stories share one until a story in it fails. */
let world: VirtualWorld | null = null;
/** The log of a story that did not end well, or has not ended yet. */
let told: string[] | null = null;
beforeEach(async () => {
  told = [];
  world ??= await VirtualWorld.open();
});
afterEach(async () => {
  if (told === null) return;
  const silent = wait(20_000, 'the server answers nothing', { ref: false });
  const standing = await Promise.race([world?.standing(), silent]);
  process.stderr.write(`${[...told, standing].join('\n')}\n`);
  await leave();
});
afterAll(() => world?.close());

/** A world in which time stands still may not end either. */
async function leave(): Promise<void> {
  await Promise.race([world?.close().catch(() => undefined), wait(20_000, undefined, { ref: false })]);
  world = null;
}

async function survives(story: Scenario): Promise<VirtualWorld> {
  if (world === null) throw new Error('no world');
  const lines = membersOf(story).flatMap(({ source, jobs }) => [JSON.stringify(source), JSON.stringify(jobs)]);
  told = lines;
  const askedBack = await play(world, story, (line) => lines.push(line));
  for (const { pipeline, source } of membersOf(story)) {
    const canaries = source.actions['canary'] ? await canariesOf(world, pipeline) : [];
    const early = source.actions['early'] ? await deploysOf(world, pipeline, 'early') : [];
    for (const { id, timeline } of [...(await deploysOf(world, pipeline)), ...early, ...canaries])
      lines.push(...timeline.map(({ at, text }) => `${id} ${at} ${text}`));
  }
  await judge(world, story);
  for (const member of membersOf(story)) await judgeReverts(world, { ...story, ...member }, askedBack);
  told = null;
  return world;
}

test.each(SEEDS)('whatever goes wrong and whoever presses what, nothing unsafe happens: seed %d', async (seed) => {
  process.stderr.write(`chaos seed ${seed}\n`);
  const story = storyOf(seed);
  await survives(story);
  // Values that a thousand hosts were left with cost a step every five seconds, also in the days of the stories after it.
  if (membersOf(story).some(({ jobs }) => jobs.length > MANY_JOBS)) await leave();
});

/** Only in the tests, not in `npm run chaos`. */
test.each(ASKED === '' ? [1] : [])('nor where the deploy brings configuration: story %d', async (seed) => {
  await survives(configurationOf(seed));
});

test.each(ASKED === '' ? [16] : [])('nor where pipelines wish for offers of each other: story %d', async (seed) => {
  await survives(offersOf(seed));
});

/** Whole stories, since a change of the generator changes the meaning of a seed. */
const PAST = join(__dirname, '../chaos/past');
/** The tests of a day play a third of them, `npm run chaos` all. */
const TODAY = Math.floor(Date.now() / (24 * HOUR)) % 3;
const KEPT = readdirSync(PAST).filter((_, at) => ASKED !== '' || at % 3 === TODAY);

test.each(KEPT)('a story that went wrong once goes well: %s', async (file) => {
  await survives(JSON.parse(readFileSync(join(PAST, file), 'utf8')) as Scenario);
});

const CALM: Scenario = {
  seed: 1,
  pipeline: 'calm',
  jobs: [{ name: 'job-x', region: 'x', tasks: 4, more: { service: 'calm' } }],
  source: {
    ...kvstore({}, { pipeline: 'calm' }),
    actions: {
      deploy: {
        type: 'deploy',
        inputs: ['executable'],
        with: {
          pushType: 'twine',
          config: { jobs: ['job-x'] },
          phases: [{ scope: '*', amount: '50%', pre: [{ service: 'slow', with: { takesMs: MINUTE } }] }],
          completion: { pre: [] },
        },
      },
    },
  },
  happenings: [{ atMs: 0, kind: 'release', version: 'kv:2' }],
};

const quick = (job: string) => ({ config: { jobs: [job] }, phases: [], completion: { bake: '1m' }, healthChecks: [] });

test('a step that took effect twice would be found out, and so would a fleet that is not as its deploys say', async () => {
  const after = await survives(CALM);
  const runs = after.slow.runs.filter(({ pipeline }) => pipeline === 'calm');
  const twice = runs.flatMap((run) => [run, { ...run, runId: run.runId.replace(/1$/, '2') }]);
  const [deploy] = await deploysOf(after, 'calm');
  expect(() => judgeSteps(runs, deploy!)).not.toThrow();
  expect(() => judgeSteps(twice, deploy!)).toThrow(runs[0]?.runId);
  await updateBehindItsBack(after);
  await expect(judge(after, CALM)).rejects.toThrow('toBeLessThanOrEqual');
});

test('a board that does not know a user would be found out, and so would one that knows a user that is gone', async () => {
  const net = { ...kvstore(quick('job-y')), pipeline: 'net', offers: [{ name: 'place' }] };
  const app = { ...kvstore(quick('job-x')), pipeline: 'app', wishes: [{ from: 'net', offer: 'place' }] };
  const jobs = [{ name: 'job-y', region: 'y', tasks: 2, more: { service: 'net' } }];
  const offering = { others: [{ pipeline: 'net', source: net as Member['source'], jobs }], last: [app, net] };
  const story: Scenario = { ...CALM, pipeline: 'app', source: app as Member['source'], offering };
  const after = await survives(story);
  const board = after.client.workflow.getHandle('offers/net');
  const of = (release: number) => ({ user: 'app/deploy', release, uses: [{ offer: 'place', seq: 1, paths: [] }] });
  await board.executeUpdate('pin-offers', { args: [{ ...of(1), anyway: true }] });
  await expect(judgeOffers(after, story, offering)).rejects.toThrow('counts app/deploy as user of place for release 1');
  await board.signal('end-use', 'app/deploy');
  await expect(judgeOffers(after, story, offering)).rejects.toThrow('which knows no use');
});

test('a revert that begins late would be found out, and so would a refusal for what is not so', async () => {
  const after = await survives(CALM);
  const [release] = await releasesOf(after, 'calm');
  const startedMs = Date.parse(release!.startedAt);
  const asked = {
    pipeline: 'calm',
    verb: 'roll-back',
    of: 1,
    actor: 'user:alice',
    reason: '',
    atMs: startedMs,
  } as const;
  await expect(judgeReverts(after, CALM, [{ ...asked, answer: { release: 1 } }])).resolves.toBeUndefined();
  const late = { ...asked, atMs: startedMs - 5_000, answer: { release: 1 } };
  await expect(judgeReverts(after, CALM, [late])).rejects.toThrow('began 5000 ms after it was asked for');
  const ANOTHER = 'other/1 is what runs now (kv:9); revert that one, or say …';
  const seen = await seeMoment(after, CALM, 1, ANOTHER);
  const answers: [string, string | undefined][] = [
    ['nothing of it is deployed', 'was refused for what was not so'],
    ['release 1 is what runs now; revert that one', 'was refused for what was not so'],
    ['release 2 is being deployed over release 1; revert one of these', 'was refused for what was not so'],
    [ANOTHER, 'was refused for what was not so'],
    ['nothing that ran before it is known to be good', undefined],
    ['there is none', undefined],
    ['no', 'nothing is known to hold this refusal against'],
  ];
  for (const [refused, wrong] of answers)
    if (wrong === undefined) expect(untrue(asked, { refused, seen })).toBeUndefined();
    else expect(untrue(asked, { refused, seen })).toContain(wrong);
});

test.each([
  ['the hotfix before it', 'kv:4', undefined],
  ['a version from before the hotfix', 'kv:2', 'the rollback of release 3 brings kv:2, past kv:4 of release 2'],
  ['a version that no release brought', 'kv:9', 'the rollback of release 3 brings kv:9, past kv:4 of release 2'],
])('a rollback that undoes a hotfix would be found out: one that brings %s', (_, brought, wrong) => {
  const brings = (release: number, version: string) => ({ release, version, outcome: 'succeeded' }) as Deploy;
  const deploys = [brings(1, 'kv:2'), brings(2, 'kv:4'), brings(3, 'kv:5')];
  expect(passedOver({ deploys, state: null }, 3, brought)).toBe(wrong);
});

test('a version whose release was undone does not count as good by the follow-on that completed it', () => {
  const trigger = (kind: string, of?: number) => ({ kind, ...(of === undefined ? {} : { of }) });
  const rows = [trigger('manual'), trigger('follow-on', 1), trigger('rollback', 1)];
  const history = rows.map((one, at) => ({ number: at + 1, trigger: one }));
  const stateOf = (ended: readonly object[]) =>
    ({ history: ended, active: [], knownBad: [] }) as unknown as PipelineState;
  const brings = (release: number, version: string) => ({ release, version, outcome: 'succeeded' }) as Deploy;
  const deploys = [brings(1, 'kv:2'), brings(2, 'kv:2'), brings(3, 'kv:1')];
  const asked = { pipeline: 'calm', verb: 'roll-back', of: 3, actor: 'user:alice', reason: '', atMs: 0 } as const;
  const refused = 'nothing that ran before it is known to be good';
  const judged = (ended: readonly object[]) =>
    untrue(asked, { refused, seen: { state: stateOf(ended), deploys, runs: false, jobs: null, other: null } });
  expect(judged(history)).toBeUndefined();
  expect(judged(history.filter(({ number }) => number !== 3))).toContain('was refused for what was not so');
});

test('a refusal names the release that a follow-on completed as the one that is deployed over', () => {
  const rows = [{ kind: 'manual' }, { kind: 'follow-on', of: 1 }];
  const history = rows.map((trigger, at) => ({ number: at + 1, trigger }));
  const state = { history, active: [], deploys: { holder: { owner: '3' } } } as unknown as PipelineState;
  const deploys = [1, 2].map((release) => ({ release, version: 'kv:2', outcome: 'succeeded' }) as Deploy);
  const asked = { pipeline: 'calm', verb: 'roll-back', of: 2, actor: 'user:alice', reason: '', atMs: 0 } as const;
  const over = (release: number) =>
    untrue(asked, {
      refused: `release 3 is being deployed over release ${release}; revert one of these`,
      seen: { state, deploys, runs: false, jobs: null, other: null },
    });
  expect(over(1)).toBeUndefined();
  expect(over(2)).toContain('was refused for what was not so');
});

test('a refusal names the rollback that undoes a follow-on with its release, only while that is under way', () => {
  const row = (number: number, trigger: object) => ({ number, trigger });
  const history = [row(1, { kind: 'manual' }), row(2, { kind: 'follow-on', of: 1 })];
  const asked = { pipeline: 'calm', verb: 'roll-back', of: 2, actor: 'user:alice', reason: '', atMs: 0 } as const;
  const refused = 'release 3 undoes it together with release 1';
  const judged = (active: readonly object[]) => {
    const state = { history, active } as unknown as PipelineState;
    return untrue(asked, { refused, seen: { state, deploys: [], runs: false, jobs: null, other: null } });
  };
  expect(judged([row(3, { kind: 'rollback', of: 1 })])).toBeUndefined();
  expect(judged([row(3, { kind: 'rollback', of: 2 })])).toContain('was refused for what was not so');
  expect(judged([])).toContain('was refused for what was not so');
});

/** A task of the fleet gets another version from a source unknown to Conveyor. */
async function updateBehindItsBack(after: VirtualWorld): Promise<void> {
  const target = { unit: 'job-x', version: 'kv:9', artifacts: [], amount: { count: 1 } };
  await callExtension({
    service: { name: 'twine', url: 'http://simulator/push-types/twine', timeoutMs: 10_000 },
    protocol: pushTypeProtocol,
    method: 'executeUpdates',
    request: { updateId: 'rogue/0/1', targets: [target], wholeUnit: false, urgency: 'normal' },
    context: { pipeline: 'rogue', release: 1, deployId: 'rogue', actor: 'user:mallory', config: { jobs: ['job-x'] } },
    key: 'rogue',
    fetch: viaApp(after.simulator.app),
  });
  await after.sleep(10 * MINUTE);
}
