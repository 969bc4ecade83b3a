import { parsePipeline } from '../../domain/spec/parse';
import type { PipelineStatus, Trigger } from '../../domain/views';
import { pipeline, release } from '../builders/cliSamples';
import { run, type Ran } from '../builders/cliWorld';

const stopped = { actor: 'user:eve', at: '2026-11-20T14:00:00.000Z', reason: 'incident 4711' };
const evening = '2026-11-20T20:00:00.000Z';
const why = ['--reason', 'r'];

/** A pipeline whose deploy has a blackout on the day of the tests. */
const BLACKOUT = parsePipeline(`
pipeline: kvstore
owners: [group:storage]
artifacts: { source: { finder: manual } }
blackouts:
  - { from: 2026-11-20, to: 2026-11-30, timezone: UTC, reason: Black Friday }
actions:
  build: { type: build, inputs: [source], outputs: [executable] }
  deploy: { type: deploy, inputs: [executable], with: { pushType: twine, config: {} } }
`).spec!;
const OPEN: typeof BLACKOUT = { ...BLACKOUT, blackouts: [] };

interface Given {
  readonly state?: Partial<PipelineStatus>;
  readonly trigger?: Trigger['kind'];
  readonly endedAt?: string;
  readonly spec?: typeof OPEN;
}

/** Starts release 13 of a pipeline in this state. */
async function started(argv: readonly string[], { state, trigger = 'manual', endedAt, spec = OPEN }: Given) {
  const of = { kind: trigger, actor: 'user:alice', key: null };
  const one = release({ trigger: of, ...(endedAt === undefined ? {} : { state: 'succeeded', endedAt }) });
  const begin = () => Promise.resolve({ id: 'kvstore/13', number: 13, duplicate: endedAt !== undefined });
  const statuses = { kvstore: pipeline({ releases: [one], ...state }), 'kvstore/13': one };
  const client = {
    ...{ release: begin, push: begin, rerun: begin, spec: () => Promise.resolve(spec) },
    status: (id: string) => Promise.resolve(statuses[id as keyof typeof statuses] as never),
  };
  return run(argv, { client });
}

const RELEASE = ['release', 'kvstore', '-a', 'source=13'];
const waitIn = ({ out }: Ran): string | undefined =>
  out
    .split('\n')
    .find((line) => line.startsWith('‖ '))
    ?.slice(2);

const FROZEN =
  'it waits: the pipeline is frozen by user:eve: incident 4711; conveyor unfreeze kvstore --reason "…" lets it start';
const HELD =
  'it deploys nothing yet: the pipeline is held by user:eve: incident 4711; conveyor unhold kvstore --reason "…" lets it deploy';
const CLOSED =
  'deploy waits until 01 Dec 00:00, in 10d 9h: its window is closed (blackout: Black Friday); when the actions before it are done, conveyor skip-window kvstore/13/deploy --reason "…" starts it anyway';
const calendar = [{ release: 13, action: null, why: 'waiting for the calendar', until: evening }];

describe('a release that is started says in one line what it waits for, until when, and what ends that', () => {
  test.each<[string, Given, string]>([
    ['a freeze', { state: { frozen: stopped } }, FROZEN],
    [
      'a freeze with an end',
      { state: { frozen: { ...stopped, until: evening } } },
      FROZEN.replace('it waits', 'it waits until 20:00, in 5h 57m'),
    ],
    ['a freeze before a hold', { state: { frozen: stopped, held: stopped } }, FROZEN],
    ['a hold', { state: { held: stopped } }, HELD],
    ['a blackout', { spec: BLACKOUT }, CLOSED],
    ['a hold before a blackout', { state: { held: stopped }, spec: BLACKOUT }, HELD],
    ['a calendar', { state: { waits: calendar } }, 'it waits until 20:00, in 5h 57m: waiting for the calendar'],
  ])('%s', async (_title, given, line) => {
    expect(waitIn(await started(RELEASE, given))).toBe(line);
    expect(waitIn(await started(['rerun', 'kvstore/12', ...why], given))).toBe(line);
  });

  test.each<[string, Given]>([
    ['nothing keeps it', {}],
    ['others wait', { state: { waits: [{ ...calendar[0]!, release: 12 }] } }],
    ['it has ended', { state: { frozen: stopped, held: stopped }, endedAt: evening, spec: BLACKOUT }],
  ])('and none when %s', async (_title, given) => {
    const ran = await started(RELEASE, given);
    expect([ran.code, waitIn(ran)]).toEqual([0, undefined]);
  });
});

test('an emergency waits for a freeze alone', async () => {
  const push = ['push', 'kvstore', 'deploy', '--emergency', '-a', 'source=13', ...why];
  const given: Given = { state: { held: stopped }, trigger: 'emergency', spec: BLACKOUT };
  expect(await started(push, given)).toMatchObject({ code: 0, out: expect.not.stringContaining('‖') });
  expect(waitIn(await started(push, { ...given, state: { frozen: stopped } }))).toBe(FROZEN);
});

test('programs get it as a field of its own, and none where the release waits for nothing', async () => {
  const said = async (given: Given): Promise<unknown> =>
    JSON.parse((await started([...RELEASE, '-o', 'json'], given)).out);
  const plain = { id: 'kvstore/13', number: 13, duplicate: false, webUi: 'http://localhost:8233/r' };
  expect(await said({})).toEqual(plain);
  expect(await said({ state: { frozen: { ...stopped, until: evening } } })).toEqual({
    ...plain,
    wait: {
      ...{ by: 'freeze', action: null, why: 'the pipeline is frozen by user:eve: incident 4711', until: evening },
      next: 'conveyor unfreeze kvstore --reason "…"',
    },
  });
});

test('with --wait a note says at once that nothing will deploy, and leaves a freeze to the watch', async () => {
  const waiting = [...RELEASE, '--wait', '--timeout', '1s'];
  expect((await started(waiting, { state: { held: stopped } })).err).toContain(`${HELD}\n`);
  expect((await started(waiting, { state: { frozen: stopped } })).err).not.toContain('frozen');
});

test('a release is accepted even if its pipeline does not answer', async () => {
  const client = {
    release: () => Promise.resolve({ id: 'kvstore/13', number: 13, duplicate: false }),
    status: () => Promise.reject(new Error('silent')),
  };
  const ran = await run(RELEASE, { client });
  expect(ran).toMatchObject({ code: 0, out: '✔ started kvstore/13\nNext    conveyor watch kvstore/13\n' });
});
