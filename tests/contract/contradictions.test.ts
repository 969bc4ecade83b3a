import { viaApp } from '../../sdk/client';
import { ACTION_SERVICE_CHECKS } from '../../sdk/conform/actionService';
import { ARTIFACT_FINDER_CHECKS } from '../../sdk/conform/artifactFinder';
import type { ConformCheck } from '../../sdk/conform/check';
import type { Reachable } from '../../sdk/conform/conversation';
import { DATA_SOURCE_CHECKS } from '../../sdk/conform/dataSource';
import { DEPENDENCY_GRAPH_CHECKS } from '../../sdk/conform/dependencyGraph';
import { conform } from '../../sdk/conform/run';
import { TASK_CONTROLLER_CHECKS } from '../../sdk/conform/taskController';
import { TICKET_CHECKS } from '../../sdk/conform/tickets';
import type { Fetch } from '../../sdk/request';
import { serveTaskController } from '../../sdk/server';
import { givenFleet, START, type TestFleet } from '../builders/simulatorFleet';
import { NOW } from '../builders/cliSamples';

/** The contract suite tells the author of a service which answers Conveyor would not believe. */

type Answer = Record<string, unknown>;
type Lie = (answer: Answer, nth: number) => Answer;

/** Each answer of a method, changed. */
function lying(honest: Fetch, method: string, lie: Lie): Fetch {
  let nth = 0;
  return async (request, init) => {
    const answer = await honest(request, init);
    if (!request.url.endsWith(`/${method}`) || answer.status !== 200) return answer;
    nth += 1;
    return Response.json(lie((await answer.json()) as Answer, nth));
  };
}

async function reasons<S extends Reachable>(checks: readonly ConformCheck<S>[], subject: (nth: number) => S) {
  const prepare = (nth: number) => Promise.resolve(subject(nth));
  const report = await conform({ kind: 'service', checks, prepares: 'it', prepare });
  return report.checks.flatMap(({ state, reason = '' }) => (state === 'failed' ? [reason] : [])).join('\n');
}

const rows = (answer: Answer, field: string): Answer[] => (answer[field] ?? []) as Answer[];
const twice = (field: string): Lie => (answer) => ({ ...answer, [field]: [...rows(answer, field), ...rows(answer, field)] }); // prettier-ignore
const eachOf =
  (field: string, change: (row: Answer) => Answer): Lie =>
  (answer) => ({ ...answer, [field]: rows(answer, field).map(change) });

let fleet: TestFleet;
let honest: Fetch;
beforeEach(async () => {
  fleet = givenFleet();
  fleet.pass(NOW - START - 1_200_000);
  await fleet.job('kvstore-x');
  fleet.pass(1_200_000);
  await fleet.control('POST', '/commits', { repository: 'kv', branch: 'main', revision: 'a' });
  for (const [target, ...deps] of [['//kv:server', '//lib:rpc'], ['//lib:rpc']])
    await fleet.control('POST', '/targets', { target, deps });
  honest = viaApp(fleet.app);
});

test.each<[string, string, Lie, string]>([
  ['names another run', 'startRun', () => ({ runId: 'x' }), 'runId: x is not the run asked for'],
  [
    'succeeds half-way',
    'getRunProgress',
    (answer) => ({ ...answer, state: 'succeeded', progress: 0.5 }),
    'progress: a run that succeeded has progress 1, not 0.5',
  ],
  [
    'makes an output twice',
    'getRunProgress',
    (answer) => (answer['outputs'] ? twice('outputs')(answer, 0) : answer),
    'appears twice',
  ],
  [
    'makes a digest that is none',
    'getRunProgress',
    eachOf('outputs', (row) => ({ ...row, digest: 'sha256:0' })),
    'sha256:0 is not a sha256 digest',
  ],
  [
    'lets a run that has ended run again',
    'getRunProgress',
    (answer, nth) => (answer['state'] === 'succeeded' && nth % 2 === 0 ? { state: 'running' } : answer),
    'the run, asked for again.state is',
  ],
])('the author of an action service that %s learns of it', async (_, method, lie, sentence) => {
  const settle = () => Promise.resolve(fleet.pass(60_000)) as Promise<void>;
  const subject = {
    ...{ fetch: lying(honest, method, lie), url: 'http://s/actions/build', with: {}, settle },
    ...{ input: { name: 'source', version: '12' } },
  };
  const found = await reasons(ACTION_SERVICE_CHECKS, (nth) => ({ ...subject, runs: `suite/${nth}` }));
  expect(found).toContain(sentence);
});

test.each<[string, Lie, string]>([
  ['finds a version twice', twice('found'), 'found.1.artifact: web, input, input@a appears twice'],
  [
    'finds what was not asked for',
    eachOf('found', (row) => ({ ...row, pipeline: 'other' })),
    'found.0.artifact: other, input was not asked for',
  ],
  [
    'finds a digest that is none',
    eachOf('found', (row) => ({ ...row, artifact: { ...(row['artifact'] as object), digest: 'sha256:' } })),
    'found.0.artifact.digest: sha256: is not a sha256 digest',
  ],
  [
    'orders versions against their numbers',
    (answer) => ({
      ...answer,
      found: rows(answer, 'found').flatMap((row) =>
        ['2', '1'].map((sequence) => {
          const artifact = row['artifact'] as Answer;
          return { ...row, artifact: { ...artifact, version: `a${sequence}`, metadata: { sequence } } };
        }),
      ),
    }),
    'metadata.sequence: 1 comes after 2, but the oldest must come first',
  ],
  [
    'finds and refuses at once',
    (answer) => ({
      ...answer,
      refused: rows(answer, 'found').map(({ pipeline }) => ({ pipeline, artifact: 'input', message: 'no' })),
    }),
    'refused.0.artifact: web, input is also in found',
  ],
])('the author of an artifact finder that %s learns of it', async (_, lie, sentence) => {
  const [repository, branch] = ['kv', 'main'];
  const subject = { with: { repository, branch }, other: { repository: 'none', branch } };
  const url = 'http://s/artifact-finders/commits';
  const found = await reasons(ARTIFACT_FINDER_CHECKS, () => ({
    ...subject,
    ...{ url, fetch: lying(honest, 'getArtifacts', lie) },
  }));
  expect(found).toContain(sentence);
});

test.each<[string, Lie, string]>([
  ['has two series of a task', twice('series'), 'kvstore-x/1/1 appears twice'],
  [
    'answers about another task',
    eachOf('series', (row) => ({ ...row, labels: { task: 'other' } })),
    'series.0.labels.task: other was not asked for',
  ],
])('the author of a data source that %s learns of it', async (_, lie, sentence) => {
  const subject = {
    ...{ fetch: lying(honest, 'query', lie), url: 'http://s/data-source', metric: 'system.cpu', unit: 'kvstore-x' },
    ...{ tasks: ['kvstore-x/1/1', 'kvstore-x/2/1'] as const, window: { start: NOW - 600_000, end: NOW } },
  };
  expect(await reasons(DATA_SOURCE_CHECKS, () => subject)).toContain(sentence);
});

test.each<[string, Lie, string]>([
  ['approves one twice', twice('ack'), 'appears twice'],
  ['approves what does not wait', () => ({ ack: ['other'] }), 'ack.0: other was not asked for'],
])('the author of a task controller that %s learns of it', async (_, lie, sentence) => {
  const app = serveTaskController('one', {
    process: ({ request }) => ({ ack: request.slice(0, 1).map(({ id }) => id) }),
  });
  const subject = { fetch: lying(viaApp(app), 'process', lie), url: 'http://s', job: 'kv', tasks: ['kv/0', 'kv/1'] };
  expect(await reasons(TASK_CONTROLLER_CHECKS, (nth) => ({ ...subject, ops: `${nth}` }))).toContain(sentence);
});

test.each<[string, Lie, string]>([
  ['names one twice', twice('affected'), 'affected.1.target: //lib:rpc at 11 appears twice'],
  [
    'names what it was not asked about',
    eachOf('affected', (row) => ({ ...row, target: '//x' })),
    '//x at 11 was not asked for',
  ],
  [
    'names a path that leads elsewhere',
    eachOf('affected', (row) => ({ ...row, path: ['//x'] })),
    'affected.0.path: it does not lead from',
  ],
])('the author of a dependency graph that %s learns of it', async (_, lie, sentence) => {
  const subject = {
    ...{ fetch: lying(honest, 'getDependents', lie), url: 'http://s/dependency-graph' },
    ...{ target: '//lib:rpc', dependent: '//kv:server', revisions: ['9', '10', '11'] as const },
  };
  expect(await reasons(DEPENDENCY_GRAPH_CHECKS, () => subject)).toContain(sentence);
});

test.each<[string, Lie, string]>([
  ['has one ticket for all', () => ({ ticket: 'OPS-1' }), "both are called 'OPS-1', expected two tickets"],
  ['calls one by another name later', (_, nth) => ({ ticket: `OPS-${nth}` }), 'the ticket of the same key'],
])('the author of a service of tickets that %s learns of it', async (_, lie, sentence) => {
  const subject = { fetch: lying(honest, 'openTicket', lie), url: 'http://s/tickets', assignee: 'group:storage' };
  expect(await reasons(TICKET_CHECKS, (nth) => ({ ...subject, keys: `suite/${nth}` }))).toContain(sentence);
});
