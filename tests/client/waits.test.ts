import { behindPaused, holderPaused, withPauses } from '../../client/pauses';
import { withWaits } from '../../client/waits';
import type { Temporal } from '../../client/connection';
import type { ReleaseStatus } from '../../domain/views';
import { releaseDetails } from '../../domain/release/details';
import { renderPipeline } from '../../render/pipeline';
import { action, deploy, NOW, pipeline, release } from '../builders/cliSamples';

/** Why a release waits behind one that is paused: its actor, and the command to type. */

type Paused = NonNullable<ReturnType<typeof deploy>['paused']>;
const VIEW = { width: 110, color: false, now: NOW, timeZone: 'UTC' };
const at = new Date(NOW).toISOString();
const BY_BOB: Paused = { by: 'operator', actor: 'user:bob', at, reason: 'a graph' };

/** A Temporal that lists deploys as they are, and answers queries of what is not named with an error. */
function temporal(deploys: Readonly<Record<string, Paused | null>>, answers: Readonly<Record<string, object>> = {}) {
  const queries: string[] = [];
  const list = async function* ({ query }: { query: string }) {
    queries.push(query);
    for (const [id, paused] of Object.entries(deploys))
      if (query.includes(`'${id.slice(0, id.lastIndexOf('/'))}'`)) yield { memo: { summary: { id, paused } } };
  };
  const getHandle = (id: string) => ({
    query: () => (answers[id] ? Promise.resolve(answers[id]) : Promise.reject(new Error(`no answer from ${id}`))),
    describe: () => Promise.reject(new Error('not asked')),
  });
  const client = { workflow: { list, getHandle }, withDeadline: (_: number, call: () => unknown) => call() };
  return { queries, parts: { client } as unknown as Temporal };
}

const silent = () => {
  const { parts } = temporal({});
  const list = () => {
    throw new Error('visibility is away');
  };
  return { ...parts, client: { ...parts.client, workflow: { ...parts.client.workflow, list } } } as unknown as Temporal;
};

const waiting = (blockedBy: string, more: object = {}): ReleaseStatus =>
  release({
    ...{ id: 'kvstore/13', number: 13, state: 'running', endedAt: null },
    actions: [{ ...action({ name: 'deploy', state: 'blocked', deploy: null, blockedBy }), ...more }],
  });

const whyOf = async (deploys: Parameters<typeof temporal>[0], blockedBy: string, more = {}, answers = {}) =>
  (await withWaits(temporal(deploys, answers).parts, waiting(blockedBy, more))).actions[0]?.blockedBy;

test.each<[string, Paused, string]>([
  [
    'a person',
    BY_BOB,
    'release 12 deploys, paused by user:bob: a graph: conveyor resume kvstore/12/deploy --reason "…" lets it continue; conveyor revert or cancel kvstore/12/deploy --reason "…" ends it',
  ],
  [
    'health',
    { ...BY_BOB, by: 'health', actor: null, reason: 'errors is 0.2' },
    'paused by health: errors is 0.2: conveyor resume kvstore/12/deploy',
  ],
  [
    'a freeze, which no resume ends',
    { ...BY_BOB, by: 'freeze', reason: 'audit' },
    'paused by user:bob: audit: conveyor unfreeze kvstore --reason "…" lets it continue',
  ],
  [
    'a dependency, which it waits for by itself',
    { ...BY_BOB, by: 'dependency', on: 'push type twine', actor: null, reason: 'it is away' },
    'paused by dependency: it is away: it continues once push type twine answers',
  ],
  [
    'a dependency that has refused, until a person resumes',
    { ...BY_BOB, by: 'dependency', actor: null, reason: 'refused', until: 'resumed' },
    'paused by dependency: refused: conveyor resume kvstore/12/deploy',
  ],
])('status says that the release in front is paused by %s, and what to type', async (_, paused, words) => {
  expect(await whyOf({ 'kvstore/12/deploy': paused }, 'release 12 deploys')).toContain(words);
});

test.each(['release 12 deploys', 'release 12 deploys and was asked to make way', 'release 12 comes first', 'release 12 holds prod', 'release 12 comes first for load'])(
  'it is said whatever keeps the next one behind it: %s',
  async (why) => {
    const deploys = { 'kvstore/12/canary': null, 'kvstore/12/deploy': BY_BOB, 'kvstore/11/deploy': BY_BOB };
    expect(await whyOf(deploys, why)).toMatch(new RegExp(`^${why}, paused by user:bob`));
  },
); // prettier-ignore

test('a wait without a pause mentions none, and reads no release', async () => {
  expect(await whyOf({ 'kvstore/12/deploy': null }, 'release 12 deploys')).toBe('release 12 deploys');
  const { queries, parts } = temporal({ 'kvstore/12/deploy': BY_BOB });
  const held = await withWaits(parts, waiting('the pipeline is held by user:alice: release 12 deploys badly'));
  expect(held.actions[0]?.blockedBy).toBe('the pipeline is held by user:alice: release 12 deploys badly');
  expect(queries).toEqual([]);
});

test('the release of another pipeline that holds the lock is named with its pause', async () => {
  const mutex = { holder: { owner: 'web/3', requesters: [], sinceMs: NOW }, queue: [], fence: 1 };
  const why = await whyOf(
    { 'web/3/deploy': BY_BOB },
    'another release holds prod',
    { lock: 'lock/prod' },
    { 'lock/prod': mutex },
  );
  expect(why).toMatch(
    /^another release holds prod; web\/3 is paused by user:bob: a graph: conveyor resume web\/3\/deploy /,
  );
  expect(await holderPaused(temporal({ 'web/3/deploy': null }).parts.client, { id: 'web/3' })).toBeUndefined();
});

test('a status does not wait for Temporal’s lists, and is as the release says without them', async () => {
  const why = await withWaits(silent(), waiting('release 12 deploys'));
  expect(why.actions[0]?.blockedBy).toBe('release 12 deploys');
});

test('no deploy is read for releases that have ended, or have not begun', async () => {
  const { queries, parts } = temporal({ 'kvstore/12/deploy': BY_BOB });
  const rows = [
    release({ id: 'kvstore/12', number: 12, state: 'succeeded', endedAt: at }),
    release({ id: 'kvstore/13', number: 13, state: 'queued', endedAt: null }),
  ];
  expect((await withPauses(parts.client, rows)).map(({ pausedDeploy }) => pausedDeploy)).toEqual([
    undefined,
    undefined,
  ]);
  expect(queries).toEqual([]);
  expect(behindPaused('release 12 deploys', rows)).toBe('release 12 deploys');
});

test('a release that is itself paused shows the actor, the reason and how to resume it', async () => {
  const list = async function* ({ query }: { query: string }) {
    const summary = { id: 'kvstore/12', state: 'paused', startedAt: at };
    if (query.includes(`WorkflowType = 'release'`)) yield { workflowId: 'release/kvstore/12', memo: { summary } };
  };
  const pause = { at, verb: 'pause', actor: 'user:bob', reason: 'a graph', accepted: true };
  const { parts } = temporal({}, { 'release/kvstore/12': { commands: [pause] } });
  const client = { ...parts.client, workflow: { ...parts.client.workflow, list } } as unknown as Temporal['client'];
  const running = release({ id: 'kvstore/12', number: 12, state: 'running', endedAt: null });
  const [row, ...none] = await withPauses(client, [running]);
  expect(none).toEqual([]);
  expect(row).toMatchObject({ state: 'paused', paused: { actor: 'user:bob', at, reason: 'a graph' } });
  expect(behindPaused('release 12 deploys', [row!])).toMatch(
    /^release 12 deploys, paused by user:bob: a graph: conveyor resume kvstore\/12 --reason/,
  );
  const page = renderPipeline(pipeline({ active: [12], releases: [row!] }), VIEW);
  expect(page).toMatch(/kvstore\/12 +‖ paused/);
  expect(page).toContain('‖ kvstore/12 by user:bob');
  expect(page).toContain('  conveyor resume kvstore/12 --reason "…"');
});

test('the Web UI page of a release that waits leads to the one in front', () => {
  expect(releaseDetails(waiting('release 12 deploys'))).toContain('conveyor status kvstore/12');
  expect(releaseDetails(waiting('waiting for its turn to deploy'))).not.toContain('conveyor status kvstore/12');
});
