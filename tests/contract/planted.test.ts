import { viaApp } from '../../sdk/client';
import { ACTION_SERVICE_CHECKS } from '../../sdk/conform/actionService';
import { ARTIFACT_FINDER_CHECKS } from '../../sdk/conform/artifactFinder';
import { HEALTH_SERVICE_CHECKS } from '../../sdk/conform/healthService';
import { livePushType } from '../../sdk/conform/live/pushType';
import { actionServiceProtocol } from '../../sdk/protocol/actionService';
import { artifactFinderProtocol } from '../../sdk/protocol/artifactFinder';
import { healthServiceProtocol } from '../../sdk/protocol/healthService';
import { pushTypeProtocol } from '../../sdk/protocol/pushType';
import type { Fetch } from '../../sdk/request';
import { givenFleet, type TestFleet } from '../builders/simulatorFleet';
import { givenHealthService } from './healthServices';
import {
  each,
  failedIn,
  listFailures,
  listPlants,
  literally,
  lying,
  put,
  rows,
  rulesBroken,
  rulesOf,
  twice,
  type Answer,
  type Lie,
  type Plants,
  type PlantsByKind,
} from './planting';

/** Each rule by which an answer contradicts itself or its question is broken once: its author learns service, method, field and value. */

const stranger: Lie = (answer) => ({ ...answer, units: rows(answer, 'units').map((row, nth) => (nth === 0 ? { ...row, id: 'stranger' } : row)) }); // prettier-ignore
const COUNTS = { targeted: 2, updated: 2, live: 2 };

/** Of the progress of removals alone. */
const ofRemovals = (lie: Lie): Lie => (answer, asked) => String(asked['updateId']).includes('/remove/') ? lie(answer, asked) : answer; // prettier-ignore
/** Of a removal of some units; one of none only asks whether there are removals. */
const ofSome = (lie: Lie): Lie => (answer, asked) => rows(asked, 'units').length > 0 ? lie(answer, asked) : answer; // prettier-ignore
const twiceNamed: Lie = () => ({ accepted: ['kvstore-x', 'kvstore-x'] });

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
  'a verdict by tasks that had no samples': [judging({ samples: 0 }), 'units.0.checks.0.samples: 0 of 1 task that'],
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
    'a removal that is done before its tasks are gone': [
      ofRemovals(each('units', { state: 'done', gone: 9 })),
      'units.0.gone: 9 of 10 are gone, and it is done',
    ],
    'a removal that brings tasks up': [
      ofRemovals(each('units', { updated: 2, live: 2 })),
      'units.0.live: 2 in a removal',
    ],
  },
  runHealthChecks: HEALTH,
  removeUnits: {
    'a unit twice': [ofSome(twiceNamed), 'accepted.1: kvstore-x appears twice'],
    'a unit that was not asked for': [ofSome(() => ({ accepted: ['kvstore-x', 'stranger'] })), 'accepted.1: stranger was not asked for'], // prettier-ignore
    'a unit that is left out': [ofSome(() => ({ accepted: [] })), 'accepted: kvstore-x is missing'],
  },
};

/** Checks that call each method of a push type, since to try all takes long. */
const CALLED_BY: Readonly<Record<string, readonly string[]>> = {
  fetchDeployUnits: ['the units are those of the config'],
  needsPush: ['a unit on the version needs no push'],
  trackUpdates: ['one update comes in several requests', 'a removal stops all tasks'],
  runHealthChecks: ['health without data'],
  removeUnits: ['a removal stops all tasks'],
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

const ALL: PlantsByKind = {
  'push type': { protocol: pushTypeProtocol, plants: PUSH_TYPE },
  'Health Check Service': { protocol: healthServiceProtocol, plants: { evaluate: HEALTH } },
  'action service': { protocol: actionServiceProtocol, plants: ACTION_SERVICE },
  'artifact finder': { protocol: artifactFinderProtocol, plants: { getArtifacts: FINDER } },
};

test.each(Object.entries(ALL))(
  'each rule by which an answer of a %s contradicts itself is broken here',
  (_, { protocol, plants }) => {
    expect(rulesOf(protocol).length).toBeGreaterThan(3);
    expect(rulesBroken(plants).toSorted()).toEqual(rulesOf(protocol).toSorted());
  },
);

test.each(listPlants(ALL))(
  'the author of a %s that answers %s with %s learns of it',
  async (kind, method, _, [lie, told]) => {
    const [reason = ''] = await failures(kind, method, lie);
    expect(reason).toContain(`the service answered ${method} in violation of its protocol: `);
    expect(reason).toContain(told);
  },
);

/** A number of each, and the sentence's field; `NaN` is no JSON, so that no field of it is known. */
const NUMBERS: readonly (readonly [string, string, string])[] = [
  ['push type', 'trackUpdates', 'units.0.live'],
  ['push type', 'needsPush', 'units.0.outdated'],
  ['push type', 'fetchDeployUnits', 'units.0.size'],
  ['Health Check Service', 'evaluate', 'units.0.checks.0.samples'],
];

const UNREADABLE: readonly (readonly [string, unknown, string])[] = [
  ['-1', -1, 'it is -1'],
  ['0.5', 0.5, 'it is 0.5'],
  ['2^53', 2 ** 53, 'it is 9007199254740992'],
  ['1e999', literally('1e999'), 'it is Infinity'],
  ['a text', 'two', 'it is "two"'],
  ['nothing', undefined, 'it is missing'],
];

const misread = NUMBERS.flatMap(([kind, method, field]) =>
  UNREADABLE.map(([name, value, told]) => [kind, method, field, name, value, told] as const),
);

test.each(misread)(
  'the author of a %s whose %s has as %s %s learns of it',
  async (kind, method, field, _, value, told) => {
    const lie: Lie = (answer, asked) =>
      put(field, value)(kind === 'push type' ? answer : judging({})(answer, asked), asked);
    const [reason = ''] = await failures(kind, method, lie);
    expect(reason).toContain(`the service answered ${method} in violation of its protocol: ${field}: `);
    expect(reason).toContain(`(${told})`);
  },
);

test.each<[string, string, string, unknown, string]>([
  ['push type', 'trackUpdates', 'units.0.live', literally('NaN'), 'body: not JSON: '],
  ['push type', 'trackUpdates', 'units.0.live', literally('NaN'), '"live":NaN'],
  ['action service', 'startRun', 'runId', 7, 'runId: Invalid input: expected string, received number (it is 7)'],
  ['action service', 'getRunProgress', 'progress', -1, 'progress: Too small: expected number to be >=0 (it is -1)'],
  ['action service', 'getRunProgress', 'progress', literally('1e999'), '(it is Infinity)'],
  ['action service', 'getRunProgress', 'state', 'done', '(it is "done")'],
  ['action service', 'getRunProgress', 'state', undefined, 'state: '],
  [
    'artifact finder',
    'getArtifacts',
    'found.0.artifact.version',
    7,
    'found.0.artifact.version: Invalid input: expected string, received number (it is 7)',
  ],
  ['artifact finder', 'getArtifacts', 'found.0.artifact.version', undefined, '(it is missing)'],
])('the author of a %s whose %s has another %s, %s, learns: %s', async (kind, method, field, value, told) => {
  const [reason = ''] = await failures(kind, method, put(field, value));
  expect(reason).toContain(`the service answered ${method} in violation of its protocol: `);
  expect(reason).toContain(told);
});

/** Why checks failed, of a service that answers a method with a lie. */
async function failures(kind: string, method: string, lie: Lie): Promise<string[]> {
  if (kind === 'push type') return pushTypeFailures(method, lie);
  if (kind === 'Health Check Service') {
    const honest = givenHealthService();
    return listFailures(HEALTH_SERVICE_CHECKS, { ...honest, fetch: lying(honest.fetch, method, lie) });
  }
  const { fleet, fetch } = await givenBuilds();
  const lies = lying(fetch, method, lie);
  if (kind === 'artifact finder') {
    const asked = { with: { repository: 'kv', branch: 'main' }, other: { repository: 'none', branch: 'main' } };
    return listFailures(ARTIFACT_FINDER_CHECKS, { ...asked, url: 'http://s/artifact-finders/commits', fetch: lies });
  }
  const settle = async () => fleet.pass(60_000);
  const asked = { with: {}, settle, input: { name: 'source', version: '12' }, runs: 'suite/1' };
  return listFailures(ACTION_SERVICE_CHECKS, { ...asked, url: 'http://s/actions/build', fetch: lies });
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
  const isMeant = ({ title }: { title: string }): boolean =>
    CALLED_BY[method]?.some((part) => title.includes(part)) ?? false;
  return failedIn({ ...live, checks: live.checks.filter(isMeant) });
}
