import { viaApp } from '../../sdk/client';
import { ACTION_SERVICE_CHECKS } from '../../sdk/conform/actionService';
import { ARTIFACT_FINDER_CHECKS } from '../../sdk/conform/artifactFinder';
import type { ConformCheck } from '../../sdk/conform/check';
import type { Reachable } from '../../sdk/conform/conversation';
import { HEALTH_SERVICE_CHECKS } from '../../sdk/conform/healthService';
import { livePushType } from '../../sdk/conform/live/pushType';
import { conform, type Live } from '../../sdk/conform/run';
import { actionServiceProtocol } from '../../sdk/protocol/actionService';
import { artifactFinderProtocol } from '../../sdk/protocol/artifactFinder';
import type { Protocol } from '../../sdk/protocol/common';
import { healthServiceProtocol } from '../../sdk/protocol/healthService';
import { pushTypeProtocol } from '../../sdk/protocol/pushType';
import type { Fetch } from '../../sdk/request';
import { givenFleet, type TestFleet } from '../builders/simulatorFleet';
import { givenHealthService } from './healthServices';

/** Each rule by which an answer contradicts itself or its question is broken once: its author learns service, method, field and value. */

type Answer = Record<string, unknown>;
type Lie = (answer: Answer, asked: Answer) => Answer;
/** A change of the answers of a method, and the field and value that its author learns. */
type Plant = readonly [Lie, string];
/** By method and rule. */
type Plants = Readonly<Record<string, Readonly<Record<string, Plant>>>>;

const rows = (answer: Answer, field: string): Answer[] => (answer[field] ?? []) as Answer[];
const twice = (field: string): Lie => (answer) => ({ ...answer, [field]: rows(answer, field).flatMap((row) => [row, row]) }); // prettier-ignore
const each = (field: string, change: object | ((row: Answer) => object)): Lie => (answer) => ({ ...answer, [field]: rows(answer, field).map((row) => ({ ...row, ...(typeof change === 'function' ? change(row) : change) })) }); // prettier-ignore

const stranger: Lie = (answer) => ({ ...answer, units: rows(answer, 'units').map((row, nth) => (nth === 0 ? { ...row, id: 'stranger' } : row)) }); // prettier-ignore
const COUNTS = { targeted: 2, updated: 2, live: 2 };

/** The evidence of each unit, made of what was asked. */
const judging =
  (more: object, change: (evidence: object) => object[] = (one) => [one]): Lie =>
  (answer, asked) => {
    const [name] = rows(asked, 'checks').map((check) => check['name']);
    const now = Number(asked['now']);
    const numbers = { observed: 0, reference: null, threshold: 1, samples: 3, tasks: 1, reason: '' };
    const evidence = { name, verdict: 'healthy', ...numbers, window: { start: now - 60_000, end: now }, ...more };
    return each('units', { checks: change(evidence) })(answer, asked);
  };
/** With the window that is made of the moment of the question. */
const judgedIn = (window: (now: number) => object): Lie => (answer, asked) => judging({ window: window(Number(asked['now'])) })(answer, asked); // prettier-ignore

const HEALTH: Plants[string] = {
  'a unit twice': [twice('units'), 'units.1.id: '],
  'a unit that was not asked for': [stranger, 'units.0.id: stranger was not asked for'],
  'a check twice': [judging({}, (one) => [one, one]), 'units.0.checks.1.name: '],
  'a check that was not asked for': [judging({ name: 'other' }), 'units.0.checks.0.name: other was not asked for'],
  'a verdict by tasks that had no samples': [judging({ samples: 0 }), 'units.0.checks.0.samples: 0 of 1 tasks'],
  'a verdict by samples of no task': [judging({ tasks: 0 }), 'units.0.checks.0.tasks: 0 gave 3 samples'],
  'a window that ends before it starts': [judgedIn((now) => ({ start: now, end: 5 })), 'is after the end, 5'],
  'a window of the future': [judgedIn((now) => ({ start: now, end: 9e15 })), 'units.0.checks.0.window.end: 9000000000000000 is in the future'], // prettier-ignore
};

const PUSH_TYPE: Plants = {
  fetchDeployUnits: { 'a unit twice': [twice('units'), 'units.1.id: kvstore-x appears twice'] },
  needsPush: {
    'a unit twice': [twice('units'), 'units.1.id: kvstore-x appears twice'],
    'a unit that was not asked for': [stranger, 'units.0.id: stranger was not asked for'],
  },
  trackUpdates: {
    'a unit twice': [twice('units'), 'units.1.id: kvstore-x appears twice'],
    'a unit that was not asked for': [
      (answer, asked) => (asked['units'] ? stranger(answer, asked) : answer),
      'units.0.id: stranger was not asked for',
    ],
    'more live than updated': [each('units', { ...COUNTS, updated: 1 }), 'units.0.live: 2 is more than updated, 1'],
    'more live than targeted': [each('units', { ...COUNTS, targeted: 1 }), 'units.0.live: 2 is more than targeted, 1'],
  },
  runHealthChecks: HEALTH,
};

/** A check that calls each method of a push type, since to try all takes long. */
const CALLED_BY: Readonly<Record<string, string>> = {
  fetchDeployUnits: 'the units are those of the config',
  needsPush: 'a unit on the version needs no push',
  trackUpdates: 'one update comes in several requests',
  runHealthChecks: 'health without data',
};

const made = (row: Answer, change: object): Answer => ({ ...row, artifact: { ...(row['artifact'] as object), ...change } }); // prettier-ignore
const refusing = (answer: Answer, pipeline: unknown, times: number): Answer => ({ ...answer, refused: Array(times).fill({ pipeline, artifact: 'input', message: 'no' }) }); // prettier-ignore

const FINDER: Plants[string] = {
  'a row twice': [twice('found'), 'found.1.artifact: web, input, input@a appears twice'],
  'what was not asked for': [each('found', { pipeline: 'other' }), 'found.0.artifact: other, input was not asked for'],
  'a digest that is none': [
    each('found', (row) => made(row, { digest: 'sha256:' })),
    'found.0.artifact.digest: sha256: is not a sha256 digest',
  ],
  'an order that goes back': [
    (answer) => ({
      ...answer,
      found: rows(answer, 'found').flatMap((row) =>
        ['2', '1'].map((sequence) => made(row, { version: `a${sequence}`, metadata: { sequence } })),
      ),
    }),
    'metadata.sequence: 1 comes after 2',
  ],
  'a version that follows itself': [
    each('found', (row) => made(row, { version: 'a', metadata: { before: 'a' } })),
    'found.0.artifact.metadata.before: a follows itself',
  ],
  'a refusal twice': [
    (answer) => refusing({ ...answer, found: [] }, 'web', 2),
    'refused.1.artifact: web, input appears twice',
  ],
  'a refusal of what was not asked for': [
    (answer) => refusing(answer, 'other', 1),
    'refused.0.artifact: other, input was not asked for',
  ],
  'what is found and refused': [
    (answer) => (rows(answer, 'found').length > 0 ? refusing(answer, 'web', 1) : answer),
    'refused.0.artifact: web, input is also in found',
  ],
};

const ACTION_SERVICE: Plants = {
  startRun: { 'another run': [() => ({ runId: 'x' }), 'runId: x is not the run asked for'] },
  getRunProgress: {
    'a success half-way': [(answer) => ({ ...answer, state: 'succeeded', progress: 0.5 }), 'has progress 1, not 0.5'],
    'an output twice': [(answer) => (answer['outputs'] ? twice('outputs')(answer, {}) : answer), 'outputs.1.name: '],
    'a digest that is none': [
      (answer) => (answer['outputs'] ? each('outputs', { digest: 'sha256:0' })(answer, {}) : answer),
      'outputs.0.digest: sha256:0 is not a sha256 digest',
    ],
  },
};

const ALL: Readonly<Record<string, { readonly protocol: Protocol; readonly plants: Plants }>> = {
  'push type': { protocol: pushTypeProtocol, plants: PUSH_TYPE },
  'Health Check Service': { protocol: healthServiceProtocol, plants: { evaluate: HEALTH } },
  'action service': { protocol: actionServiceProtocol, plants: ACTION_SERVICE },
  'artifact finder': { protocol: artifactFinderProtocol, plants: { getArtifacts: FINDER } },
};

test.each(Object.entries(ALL))(
  'each rule by which an answer of a %s contradicts itself is broken here',
  (_, { protocol, plants }) => {
    const rules = Object.entries(protocol).flatMap(([method, { contradictions = {} }]) =>
      Object.keys(contradictions).map((rule) => `${method}: ${rule}`),
    );
    const broken = Object.entries(plants).flatMap(([method, own]) =>
      Object.keys(own).map((rule) => `${method}: ${rule}`),
    );
    expect(rules.length).toBeGreaterThan(3);
    expect(broken.toSorted()).toEqual(rules.toSorted());
  },
);

const planted = Object.entries(ALL).flatMap(([kind, { plants }]) =>
  Object.entries(plants).flatMap(([method, own]) =>
    Object.entries(own).map(([rule, plant]) => [kind, method, rule, plant] as const),
  ),
);

test.each(planted)('the author of a %s that answers %s with %s learns of it', async (kind, method, _, [lie, told]) => {
  const [reason = ''] = await failures(kind, method, lie);
  expect(reason).toContain(`the service answered ${method} against its protocol: `);
  expect(reason).toContain(told);
});

/** Why checks failed, of a service that answers a method with a lie. */
async function failures(kind: string, method: string, lie: Lie): Promise<string[]> {
  if (kind === 'push type') return pushTypeFailures(method, lie);
  if (kind === 'Health Check Service') {
    const honest = givenHealthService();
    return failing(HEALTH_SERVICE_CHECKS, { ...honest, fetch: lying(honest.fetch, method, lie) });
  }
  const { fleet, fetch } = await givenBuilds();
  const lies = lying(fetch, method, lie);
  if (kind === 'artifact finder') {
    const asked = { with: { repository: 'kv', branch: 'main' }, other: { repository: 'none', branch: 'main' } };
    return failing(ARTIFACT_FINDER_CHECKS, { ...asked, url: 'http://s/artifact-finders/commits', fetch: lies });
  }
  const settle = async () => fleet.pass(60_000);
  const asked = { with: {}, settle, input: { name: 'source', version: '12' }, runs: 'suite/1' };
  return failing(ACTION_SERVICE_CHECKS, { ...asked, url: 'http://s/actions/build', fetch: lies });
}

function lying(honest: Fetch, method: string, lie: Lie): Fetch {
  return async (request, init) => {
    const asked = (await request.clone().json().catch(() => ({}))) as Answer; // prettier-ignore
    const answer = await honest(request, init);
    if (!request.url.endsWith(`/${method}`) || answer.status !== 200) return answer;
    return Response.json(lie((await answer.json()) as Answer, asked));
  };
}

async function givenBuilds(): Promise<{ fleet: TestFleet; fetch: Fetch }> {
  const fleet = givenFleet();
  await fleet.control('POST', '/commits', { repository: 'kv', branch: 'main', revision: 'a' });
  return { fleet, fetch: viaApp(fleet.app) };
}

async function pushTypeFailures(method: string, lie: Lie): Promise<string[]> {
  const fleet = givenFleet();
  const units = ['kvstore-x', 'kvstore-y'] as const;
  for (const name of units) await fleet.job(name, { tasks: 10, nSmall: 2, budget: 2 });
  const live = livePushType({
    ...{ url: 'http://simulator/push-types/twine', fetch: lying(viaApp(fleet.app), method, lie) },
    ...{ config: { jobs: [...units] }, units, newVersions: ['new:1', 'new:2'], settleMs: 3_600_000, nonce: 'n' },
    ...{ now: fleet.now, sleep: async (ms) => fleet.pass(50 * ms) },
  });
  return failedIn({ ...live, checks: live.checks.filter(({ title }) => title.includes(CALLED_BY[method] ?? 'none')) });
}

const failing = <S extends Reachable>(checks: readonly ConformCheck<S>[], subject: S): Promise<string[]> =>
  failedIn({ kind: 'service', checks, prepares: 'it', prepare: async () => subject });

async function failedIn<S extends Reachable>(live: Live<S>): Promise<string[]> {
  const { checks } = await conform(live);
  return checks.flatMap(({ state, reason = '' }) => (state === 'failed' ? [reason] : []));
}
