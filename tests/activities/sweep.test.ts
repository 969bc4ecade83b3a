import { Hono } from 'hono';
import { formatIdentity } from '../../domain/artifact';
import {
  recordAnswer,
  forbidden,
  NOT_BEGUN,
  recordReception,
  buildSubmissions,
  sweepDetails,
  type FinderAnswer,
} from '../../domain/finder/sweep';
import { viaApp } from '../../sdk/client';
import type { Fetch } from '../../sdk/request';
import { serveArtifactFinder } from '../../sdk/server';
import { facts } from '../builders/accessWorld';
import { FinderWorld } from '../builders/finderWorld';
import { expectNoViolations, givenFleet, type TestFleet } from '../builders/simulatorFleet';

const MAIN = { repository: 'kvstore', branch: 'main' };
const artifact = (name: string, version: string) => ({ name, kind: 'source', version, metadata: {} });

let fleet: TestFleet;
let world: FinderWorld;
beforeEach(() => {
  fleet = givenFleet();
  world = new FinderWorld('commits', viaApp(fleet.app));
});
afterEach(expectNoViolations);

const commits = async (...revisions: string[]): Promise<void> => {
  for (const revision of revisions) await fleet.control('POST', '/commits', { ...MAIN, revision });
};
const faulty = (mode: string, count = 1) =>
  fleet.control('POST', '/faults', { kind: 'http', service: 'commits', mode, count });

describe('a sweep', () => {
  test('submits what is new to every pipeline that wants it, once', async () => {
    world.subscribes('web', MAIN);
    world.subscribes('shop', MAIN);
    world.subscribes('other', { repository: 'other', branch: 'main' });
    await commits('a');
    expect(await world.sweeps()).toMatchObject({ pipelines: 3, calls: 1, found: 2, released: 2, refused: 0 });
    expect(world.keys).toEqual(['commits:input@a', 'commits:input@a']);
    world.now += 60_000;
    await world.sweeps();
    await commits('b');
    expect(await world.sweeps()).toMatchObject({ found: 2, released: 2 });
    expect(await world.sweeps()).toMatchObject({ found: 0, released: 0, repeated: 0 });
    expect(Object.fromEntries(world.releases)).toEqual({ web: ['input@a', 'input@b'], shop: ['input@a', 'input@b'] });
  });

  test('gives the latest to a pipeline that subscribed since the last one, and nothing old to the others', async () => {
    world.subscribes('web', MAIN);
    await commits('a', 'b');
    await world.sweeps();
    await world.sweeps();
    world.subscribes('late', MAIN);
    expect(await world.sweeps()).toMatchObject({ calls: 2, found: 1, released: 1 });
    expect(Object.fromEntries(world.releases)).toEqual({ web: ['input@b'], late: ['input@b'] });
  });

  describe('of changes that do not replace each other', () => {
    const found: string[] = [];
    beforeEach(() => {
      found.splice(0);
      const app = serveArtifactFinder('commits', {
        getArtifacts: async ({ subscriptions, cursor = '0' }) => ({
          found: subscriptions.flatMap(({ pipeline, artifact: name }) =>
            found.slice(Number(cursor)).map((version) => ({ pipeline, artifact: artifact(name, version) })),
          ),
          ...{ cursor: String(found.length), refused: [] },
        }),
      });
      world = new FinderWorld('commits', viaApp(new Hono().route('/artifact-finders/commits', app)));
      world.subscribes('web', MAIN);
      world.now += 60_000;
    });

    test('submits every one that came since the last, in their order, each by itself', async () => {
      found.push('1', '2', '3');
      expect(await world.sweeps()).toMatchObject({ found: 3, released: 3 });
      found.push('4', '5');
      expect(await world.sweeps()).toMatchObject({ found: 2, released: 2 });
      expect(world.releases.get('web')).toEqual(['1', '2', '3', '4', '5'].map((n) => `input@${n}`));
    });

    test('lets no later one go before one that the pipeline does not take now', async () => {
      await world.sweeps();
      found.push('1', '2');
      world.moods.set('web', 'held');
      expect(await world.sweeps()).toMatchObject({ released: 0, refused: 1, again: ['web'] });
      expect(world.submissions).toEqual(['web input@1']);
      world.moods.clear();
      found.push('3');
      await world.sweeps();
      expect(world.releases.get('web')).toEqual(['input@1', 'input@2', 'input@3']);
    });

    test('continues behind one that is known to be bad', async () => {
      await world.sweeps();
      found.push('1', '2');
      world.moods.set('web', 'known-bad');
      await world.sweeps();
      expect(world.submissions).toEqual(['web input@1', 'web input@2']);
    });
  });

  test('finds what a lost notification missed, exactly once', async () => {
    world.subscribes('web', MAIN);
    await world.sweeps();
    await commits('a');
    // The notification of a arrived and made its release; that of b is lost.
    world.releases.set('web', ['input@a']);
    await commits('b');
    await world.sweeps();
    await world.sweeps();
    expect(world.releases.get('web')).toEqual(['input@a', 'input@b']);
  });

  test('loses nothing that comes between its pages', async () => {
    for (let index = 0; index < 1_001; index += 1) world.subscribes(`p-${index}`, MAIN);
    let asked = 0;
    const fetch: Fetch = async (request) => {
      asked += 1;
      const answer = await viaApp(fleet.app)(request);
      if (asked === 1) await commits('a'); // after the first page was answered
      return answer;
    };
    world = Object.assign(new FinderWorld('commits', fetch), { pipelines: world.pipelines });
    await world.sweeps();
    expect(world.releases.size).toBe(1);
    await world.sweeps();
    expect([...world.releases.values()]).toEqual(Array(1_001).fill(['input@a']));
  });

  test('makes one submission of all that is found for a pipeline', async () => {
    world.subscribes('web', MAIN, ['one', 'two']);
    await commits('a');
    expect(await world.sweeps()).toMatchObject({ found: 2, released: 1 });
    expect(world.submissions).toEqual(['web one@a+two@a']);
  });

  test('fails while the finder is down, and its successor loses nothing', async () => {
    world.subscribes('web', MAIN);
    await world.sweeps();
    await commits('a');
    await faulty('error');
    await expect(world.sweeps()).rejects.toMatchObject({ type: 'extension-unavailable', nonRetryable: false });
    await faulty('garbage');
    await expect(world.sweeps()).rejects.toMatchObject({ type: 'extension-protocol', nonRetryable: false });
    expect(await world.sweeps()).toMatchObject({ released: 1 });
  });

  test('says when its finder is not configured, and is itself tried again until it is, instead of leaving one that failed a minute', async () => {
    world.subscribes('web', MAIN);
    world.configured = ['tagged-executables'];
    const failure = { type: 'unknown-extension', nonRetryable: false, message: expect.stringContaining('commits') };
    await expect(world.sweeps()).rejects.toMatchObject(failure);
  });
});

describe('a pipeline that does not take what was found', () => {
  test.each([
    ['because nothing may start in it gets it when it may again', 'held', 'it is frozen', ['input@a']],
    ['because it does not answer gets it when it does', 'silent', 'it did not answer: no answer in time', ['input@a']],
    ['because it is known to be bad is left alone', 'known-bad', 'it was reverted', undefined],
    ['because its digest has changed is left alone', 'digest-changed', 'release 1 has another digest', undefined],
    ['because it is gone is left alone', 'gone', 'it is gone', undefined],
  ] as const)('%s, and stops no other subscription', async (_, mood, why, later) => {
    world.subscribes('web', MAIN);
    world.subscribes('shop', MAIN);
    world.now += 60_000;
    world.moods.set('web', mood);
    await commits('a');
    expect(await world.sweeps()).toMatchObject({ released: 1, refused: 1, said: [`web: ${why}`] });
    world.moods.clear();
    world.now += 60_000;
    await world.sweeps();
    expect(world.releases.get('web')).toEqual(later);
    expect(world.releases.get('shop')).toEqual(['input@a']);
  });

  test('is one of many that do not answer: then the sweep fails and is tried again', async () => {
    for (let index = 0; index < 130; index += 1) world.subscribes(`p-${index}`, MAIN);
    for (const name of world.pipelines.keys()) world.moods.set(name, 'silent');
    await commits('a');
    await expect(world.sweeps()).rejects.toThrow('no answer in time');
    world.moods.clear();
    expect(await world.sweeps()).toMatchObject({ released: 130 });
  });

  test('with a `with` that cannot be served is named, and stops no other', async () => {
    world.subscribes('web', { repository: 'kvstore' });
    world.subscribes('shop', MAIN);
    await commits('a');
    const { said, ...counts } = await world.sweeps();
    expect(counts).toMatchObject({ released: 1, refused: 1 });
    expect(said).toEqual(['web, input: commits takes with: { repository, branch }, and was given { repository }']);
  });
});

describe('a pipeline whose owners may not use the finder', () => {
  const rule = (...by: string[]) =>
    facts({ admins: ['user:root'], uses: [{ kind: 'artifact-finder', names: ['commits'], by }] });

  test('gets nothing, is named with the rule, stops no other, and gets the latest once it is allowed again', async () => {
    world.platform = rule('user:alice', 'user:bob');
    world.subscribes('web', MAIN, ['input'], ['user:alice']);
    world.subscribes('shop', MAIN, ['input'], ['user:alice', 'user:bob']);
    world.subscribes('nobodys', MAIN);
    await commits('a');
    expect(await world.sweeps()).toMatchObject({ released: 2, refused: 1 });
    world.platform = rule('user:alice');
    await commits('b');
    const { released, said } = await world.sweeps();
    expect([released, said]).toEqual([
      1,
      [
        'shop: pipelines of user:alice, user:bob may not use the artifact-finder commits: platform.uses.0 is for pipelines of user:alice',
        expect.stringMatching(/^nobodys: pipelines of unknown owners/),
      ],
    ]);
    await world.sweeps();
    world.platform = rule('user:alice', 'user:bob');
    await world.sweeps();
    expect(Object.fromEntries(world.releases)).toEqual({ web: ['input@a', 'input@b'], shop: ['input@a', 'input@b'] });
  });

  test('is remembered for that only where there are few of them', () => {
    const all = Array.from({ length: 2_000 }, (_, n) => `p${n}`).reduce(
      (sum, name) => forbidden(sum, name, 'no'),
      NOT_BEGUN,
    );
    expect([all.refused, all.again.length, all.said.length]).toEqual([2_000, 500, 20]);
  });
});

describe('thirty thousand pipelines', () => {
  test('cost thirty calls a sweep, and no submission when nothing changed', async () => {
    const quiet = serveArtifactFinder('commits', { getArtifacts: () => ({ found: [], cursor: '1' }) });
    world = new FinderWorld('commits', viaApp(new Hono().route('/artifact-finders/commits', quiet)));
    for (let index = 0; index < 30_000; index += 1) world.subscribes(`p-${index}`, MAIN);
    expect(await world.sweeps()).toMatchObject({ pipelines: 30_000, calls: 30 });
    expect(await world.sweeps()).toMatchObject({ pipelines: 30_000, calls: 30 });
    expect(world.calls).toBe(60);
    expect(world.submissions).toEqual([]);
  });
});

describe('the result of a sweep', () => {
  const page = { cursor: null, pipelines: 1, asked: [{ pipeline: 'web', artifact: 'source', with: {} }] };
  const answer = (found: FinderAnswer['found']): FinderAnswer => ({ found, cursor: '1', refused: [] });

  test('leaves out rows that were not asked for', () => {
    const found = [
      { pipeline: 'web', artifact: artifact('source', 'a') },
      { pipeline: 'web', artifact: artifact('executable', 'evil') },
      { pipeline: 'bank', artifact: artifact('source', 'evil') },
    ];
    const [only, ...others] = buildSubmissions('commits', page, answer(found));
    expect(others).toEqual([]);
    expect(only).toEqual({
      pipeline: 'web',
      artifacts: [artifact('source', 'a')],
      trigger: { kind: 'finder', actor: 'service:commits', key: `commits:${formatIdentity(artifact('source', 'a'))}` },
    });
  });

  test('shows the numbers in the Web UI, and the first reasons of refusals', () => {
    const refusals = Array.from({ length: 23 }, (_, index) => `p-${index}`);
    const submission = (pipeline: string) => ({
      pipeline,
      artifacts: [],
      trigger: { kind: 'finder', actor: 'a', key: 'k' } as const,
    });
    const outcome = refusals.reduce(
      (sum, pipeline) =>
        recordReception(sum, submission(pipeline), { kind: 'refused', why: 'it is frozen', again: true }),
      recordReception(recordAnswer(NOT_BEGUN, page, answer([])), submission('web'), { kind: 'released' }),
    );
    const text = sweepDetails('commits', outcome);
    expect(text).toMatch(/^1 +pipelines$/m);
    expect(text).toMatch(/^1 +releases made$/m);
    expect(text).toMatch(/^23 +refused$/m);
    expect(text).toContain('- p-0: it is frozen');
    expect(text).toContain('- and 3 more');
    expect(sweepDetails('commits', null)).toContain('commits');
  });
});
