import fc from 'fast-check';
import { formatIdentity } from '../../../domain/artifact';
import { recordRelease } from '../../../domain/pipeline/recordOutcome';
import { withSpec } from '../../../domain/pipeline/specChange';
import { NO_VERSION } from '../../../domain/broughtVersions';
import { recordReplacement } from '../../../domain/pipeline/replacement';
import { queueUndeploy, whyNotUndeploy } from '../../../domain/pipeline/undeploy';
import { findRollbackArtifacts, queueRollback } from '../../../domain/pipeline/rollback';
import {
  queueRelease,
  isKnownBad,
  restoreState,
  markReleaseRunning,
  type PipelineState,
} from '../../../domain/pipeline/state';
import { artifact, deployed, manual, NOW, pipelineOf, resultOf, running, specOf } from '../../builders/pipelineWorld';

/** The versions on the fleet, as an observer would see them. */
interface Fleet {
  readonly release: number;
  readonly version: string;
  readonly action: string;
  /** Another pipeline brought it, or removed all units. */
  readonly by?: string;
  /** Its units are removed: nothing runs. */
  readonly empty?: true;
}

interface World {
  readonly state: PipelineState;
  readonly action: string;
  /** Everything that came through and was not undeployed, oldest first; the last runs now. */
  readonly ran: readonly Fleet[];
  /** The releases whose versions were undeployed. */
  readonly undeployed: readonly number[];
}

const EVENTS = [
  'ship',
  'fail',
  'cancel',
  'revert',
  'rename',
  'move',
  'hotfix',
  'undo-hotfix',
  'undeploy',
  'undeploy-hotfix',
  'roll-back',
  'roll-back-reverted',
  'anew',
] as const;
type Event = (typeof EVENTS)[number];

const BEGIN: World = { state: pipelineOf(['deploy-0']), action: 'deploy-0', ran: [], undeployed: [] };

function after(world: World, event: Event, nth: number): World {
  const { state, action, ran } = world;
  const version = `kv:${nth}`;
  const number = state.nextNumber;
  const ends = (outcome: Parameters<typeof deployed>[1]): PipelineState =>
    recordRelease(
      running(state, artifact(version)),
      resultOf(number, [deployed(action, outcome, artifact(version))], [artifact(version)]),
      NOW,
    );
  const now = ran.at(-1);
  const other = `deploy-${nth}`;
  const config =
    event === 'move'
      ? { jobs: [other] }
      : (state.spec.actions[action] as { with: { config: Record<string, unknown> } }).with.config;
  switch (event) {
    case 'ship':
      return { ...world, state: ends('succeeded'), ran: [...ran, { release: number, version, action }] };
    case 'fail':
      return { ...world, state: ends('failed') };
    case 'cancel':
      return { ...world, state: ends('cancelled') };
    case 'revert':
      return { ...world, state: ends({ revertedBy: 'health' }) };
    case 'rename':
    case 'move': {
      const deploy = { type: 'deploy' as const, inputs: ['executable'], with: { pushType: 'twine', config } };
      const next = withSpec(state, specOf([], { actions: { [other]: deploy } }));
      const follow = (one: Fleet): Fleet =>
        event === 'rename' && one.action === action ? { ...one, action: other } : one;
      return { ...world, state: next, action: other, ran: ran.map(follow) };
    }
    case 'hotfix': {
      if (now === undefined || now.by !== undefined || now.action !== action) return world;
      const by = { by: `hotfix/${nth}`, version, at: new Date(NOW).toISOString(), artifacts: [artifact(version)] };
      const told = recordReplacement(state, { pipeline: 'kvstore', action, release: now.release, by }, NOW);
      return { ...world, state: told, ran: [...ran, { release: now.release, version, action, by: by.by }] };
    }
    case 'undo-hotfix': {
      if (now?.by === undefined || now.empty || now.action !== action) return world;
      const told = recordReplacement(state, { pipeline: 'kvstore', action, release: now.release, by: null }, NOW);
      return { ...world, state: told, ran: ran.slice(0, -1) };
    }
    case 'undeploy':
      return undeployedBySelf(world);
    case 'undeploy-hotfix': {
      if (now?.by === undefined || now.empty || now.action !== action) return world;
      const at = new Date(NOW).toISOString();
      const by = { by: `hotfix/${nth}`, version: NO_VERSION, at, artifacts: [], removed: true as const };
      const known = recordReplacement(state, { pipeline: 'kvstore', action, release: now.release, by }, NOW);
      const empty = { release: now.release, version: NO_VERSION, action, by: by.by, empty: true as const };
      return { ...world, state: known, ran: [...ran.slice(0, -1), empty] };
    }
    case 'roll-back':
      return rolledBackTo(world, now?.release ?? 0, 'succeeded');
    case 'roll-back-reverted':
      return rolledBackTo(world, now?.release ?? 0, { revertedBy: 'user:alice' });
    case 'anew':
      return { ...world, state: restoreState({ ...state, retired: { actor: 'user:alice', at: '', reason: '' } }) };
  }
}

function undeployedBySelf(world: World): World {
  const { state, action, ran, undeployed } = world;
  if (whyNotUndeploy(state) !== undefined) return world;
  const number = state.nextNumber;
  const begun = markReleaseRunning(queueUndeploy(state, { actor: 'user:alice', reason: 'not needed' }, NOW), number);
  const ended = recordRelease(begun, resultOf(number, [{ ...deployed(action, 'succeeded'), artifacts: [] }]), NOW);
  const gone = ran.filter((one) => one.action === action).map(({ release }) => release);
  const left = ran.filter((one) => one.action !== action);
  return { ...world, state: ended, ran: left, undeployed: [...undeployed, ...gone, number] };
}

function rolledBackTo(world: World, of: number, outcome: Parameters<typeof deployed>[1]): World {
  const { state, action, ran } = world;
  const back = findRollbackArtifacts(state, of);
  if ('impossible' in back) return world;
  const number = state.nextNumber;
  const begun = markReleaseRunning(
    queueRollback(state, back, { of, actor: 'user:alice', reason: '', notBad: false }, NOW),
    number,
  );
  const ended = recordRelease(begun, resultOf(number, [deployed(action, outcome, ...back)], back), NOW);
  const version = back[0]?.version ?? '';
  const brought = outcome === 'succeeded' ? [{ release: number, version, action }] : [];
  return { ...world, state: ended, ran: [...ran, ...brought] };
}

/** Why what is said of a release is not true; undefined where it is. */
function untrue({ state, action, ran, undeployed }: World, of: number): string | undefined {
  const back = findRollbackArtifacts(state, of);
  const now = ran.at(-1);
  if (!('impossible' in back)) {
    if (back.some((one) => isKnownBad(state, one)))
      return `it goes back to ${back.map(formatIdentity).join()}, known to be bad`;
    return now?.release === of && now.by === undefined && back[0]?.version === now.version
      ? 'it goes back to what is to be undone'
      : undefined;
  }
  const why = back.impossible;
  const claims: readonly (readonly [RegExp, boolean])[] = [
    [/^nothing of it is deployed$/, ran.every((one) => one.action !== action)],
    [/^an undeploy cannot be reverted/, undeployed.includes(of)],
    [/^hotfix\/\d+ has removed the units, so nothing of it runs/, now?.empty === true && why.startsWith(`${now.by} `)],
    [
      /^release (\d+) (is what runs now|may still run)/,
      Number(/\d+/.exec(why)?.[0]) === now?.release && now.by === undefined,
    ],
    [/^hotfix\/\d+ is what runs now/, now?.by !== undefined && !now.empty && why.startsWith(now.by)],
    [
      /^it was deployed by (deploy-\d+), which the pipeline file no longer has/,
      now?.action !== action && !state.spec.actions[/deploy-\d+/.exec(why)?.[0] ?? ''],
    ],
    [
      /^nothing that ran before it is known to be good/,
      !ran.some(
        (one) =>
          one.action === action &&
          !one.empty &&
          one.version !== now?.version &&
          !isKnownBad(state, artifact(one.version)),
      ),
    ],
  ];
  const claim = claims.find(([words]) => words.test(why));
  return claim?.[1] === true ? undefined : `it says "${why}" of release ${of}`;
}

test('after any history a revert goes back, or is refused with a reason that is true', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...EVENTS), { maxLength: 14 }), (events) => {
      const world = events.reduce<World>((before, event, nth) => after(before, event, nth + 1), BEGIN);
      const now = world.ran.at(-1);
      if (now !== undefined) expect(untrue(world, now.release)).toBeUndefined();
    }),
    { numRuns: 2000 },
  );
});

test('a revert of the running version is refused only if nothing earlier is known to be good, or another pipeline brought it', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...EVENTS), { maxLength: 14 }), (events) => {
      const world = events.reduce<World>((before, event, nth) => after(before, event, nth + 1), BEGIN);
      const now = world.ran.at(-1);
      if (now === undefined) return;
      const back = findRollbackArtifacts(world.state, now.release);
      const said = 'impossible' in back ? back.impossible : '';
      expect(said).not.toMatch(/^release \d+ is what runs now|^nothing of it is deployed/);
    }),
    { numRuns: 2000 },
  );
});

test('a revert of a release whose units were undeployed is refused with a reason that is true', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...EVENTS), { maxLength: 14 }), (events) => {
      const world = [...events, 'undeploy' as const].reduce<World>(
        (before, event, nth) => after(before, event, nth + 1),
        BEGIN,
      );
      for (const of of world.undeployed) {
        expect(findRollbackArtifacts(world.state, of)).toHaveProperty('impossible');
        expect(untrue(world, of)).toBeUndefined();
      }
    }),
    { numRuns: 1000 },
  );
});

test("a release that waits or runs is in no other one's way", () => {
  const shipped = after(BEGIN, 'ship', 1).state;
  const queued = queueRelease(after({ ...BEGIN, state: shipped }, 'ship', 2).state, [artifact('kv:3')], manual(), NOW);
  expect(findRollbackArtifacts(queued, 2)).toEqual([artifact('kv:1')]);
});
