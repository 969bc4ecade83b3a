import { planDeploy, planRollback, withoutBakes, type DeployPlan, type PhasePlan } from '../../../domain/deploy/plan';
import { selectUnits } from '../../../domain/deploy/snapshot';
import {
  dueUndos,
  stepFacts,
  stepRun,
  listPhaseSteps,
  stepUnits,
  undoRun,
  withFailed,
  withoutStepToUndo,
  withStepToUndo,
  withTry,
} from '../../../domain/deploy/steps';
import type { StepToUndo } from '../../../domain/deploy/state';
import type { Unit } from '../../../domain/fleet/unit';
import { deployWith } from '../../../domain/spec/deploy';

const DEPLOY = 'deploy/kvstore/12/deploy/1';
const unit = (id: string, region: string, version: string | null = 'kv:1', mixed = false): Unit => ({
  ...{ id, labels: { region }, size: 6, version, mixed, available: true },
});
const FLEET = [unit('kvstore-x', 'x'), unit('kvstore-y', 'y')];
const AWAY = { service: 'shift', with: { away: true }, undo: { service: 'shift', with: { away: false } } };
const E2E = { command: ['./e2e.sh', '--all'], timeout: '10m' };
const UNSCOPED = { amount: 3, updateTimeout: '1h', pre: [AWAY, E2E], post: [E2E] };
const FIRST = { ...UNSCOPED, name: 'first', scope: 'region:x' };

const spec = (fields: object = {}) => deployWith.parse({ pushType: 'twine', phases: [FIRST], ...fields });
const plan = (fields: object = {}) => planDeploy(spec(fields), FLEET, [], 'kv:2');
const names = ({ phases }: DeployPlan) =>
  phases.map((phase) => ({
    pre: listPhaseSteps(phase, 'pre').map((place) => stepRun(DEPLOY, place, 1).title),
    post: listPhaseSteps(phase, 'post').map((place) => stepRun(DEPLOY, place, 1).title),
  }));
const NOTHING = { pre: [], post: [] };

describe('the steps of a plan', () => {
  const of = (phase: string) => ({
    pre: [`${phase}: before the updates: shift`, `${phase}: before the updates: ./e2e.sh`],
    post: [`${phase}: after the bake: ./e2e.sh`],
  });
  test.each<[string, DeployPlan, object[]]>([
    ['are those of its phases, and the completion has those of the last', plan(), [of('first'), of('completion')]],
    [
      'are what completion says, where it does',
      plan({ completion: { pre: [], post: [AWAY] } }),
      [of('first'), { pre: [], post: ['completion: after the bake: shift'] }],
    ],
    [
      'are those of every phase that forEach makes',
      plan({ phases: [{ ...UNSCOPED, name: 'in', forEach: 'region' }] }),
      [of('in-x'), of('in-y'), of('completion')],
    ],
    ['are none by default', plan({ phases: undefined }), [NOTHING, NOTHING, NOTHING]],
    ['are none in a rollback, which is a revert', planRollback(spec(), FLEET, [], 'kv:1'), [NOTHING]],
    ['continue in an emergency that skips its bakes', withoutBakes(plan()), [of('first'), of('completion')]],
  ])('%s', (_, made, expected) => expect(names(made)).toEqual(expected));

  test('have ids of their own, one for each attempt', () => {
    const places = plan().phases.flatMap((phase) => [
      ...listPhaseSteps(phase, 'pre'),
      ...listPhaseSteps(phase, 'post'),
    ]);
    const ids = [1, 2].flatMap((attempt) => places.map((place) => stepRun(DEPLOY, place, attempt).runId));
    expect(ids[0]).toBe(`${DEPLOY}/0/pre/0/1`);
    expect(new Set(ids).size).toBe(12);
  });
});

describe('the steps to undo', () => {
  const made = plan();
  const begun = () =>
    made.phases
      .flatMap((phase) => [...listPhaseSteps(phase, 'pre'), ...listPhaseSteps(phase, 'post')])
      .reduce<readonly StepToUndo[]>((standing, place) => withStepToUndo(standing, place), []);
  const at = (steps: readonly StepToUndo[]) => steps.map(({ phase, step }) => [phase, step]);

  test('is each step before a phase that can be undone and has begun, the last first', () =>
    expect(at(dueUndos(begun()))).toEqual([
      [1, 0],
      [0, 0],
    ]));

  test('is not more where a step begins a second time', () =>
    expect(
      listPhaseSteps(made.phases[0]!, 'pre').reduce(
        (standing, place) => withStepToUndo(standing, place, ['kvstore-y']),
        begun(),
      ),
    ).toEqual(begun()));

  test('the key of one phase is that of no other', () => expect(at(dueUndos(begun(), 0))).toEqual([[0, 0]]));

  test('is no longer what was undone, or could not be', () => {
    const [last, first] = dueUndos(begun());
    expect(at(dueUndos(withoutStepToUndo(begun(), last!)))).toEqual([[0, 0]]);
    expect(at(dueUndos(withFailed(begun(), first!)))).toEqual([[1, 0]]);
  });

  test('is undone under an id for each try, for as long as the step may take or else five minutes', () => {
    const [, first] = dueUndos(begun());
    const [again] = dueUndos(withTry(begun(), first!), 0);
    const undo = undoRun(DEPLOY, made, again!);
    expect(undo).toMatchObject({ runId: `${DEPLOY}/0/undo/0/2`, call: AWAY.undo, timeoutMs: 300_000 });
    const timed = plan({ phases: [{ ...FIRST, pre: [{ ...AWAY, timeout: '5m' }] }] });
    expect(undoRun(DEPLOY, timed, first!)?.timeoutMs).toBe(300_000);
  });
});

describe('a step receives', () => {
  const input = { pipeline: 'kvstore', release: 12, action: 'deploy', version: 'kv:2', lastGood: null };
  /** As an activity finds its units. */
  const facts = (phase: PhasePlan, units: readonly Unit[], lastGood: string | null = null, skipped: string[] = []) => {
    const { selection, ...known } = stepFacts({ ...input, lastGood }, phase, { units }, skipped);
    return { ...known, ...stepUnits(selectUnits(units, selection.parts), known.lastGood) };
  };

  test('its pipeline, release, deploy, phase, version and units', () =>
    expect(facts(plan().phases[0]!, FLEET)).toEqual({
      pipeline: 'kvstore',
      release: 'kvstore/12',
      deploy: 'kvstore/12/deploy',
      phase: 'first',
      version: 'kv:2',
      previousVersion: 'kv:1',
      lastGood: null,
      units: ['kvstore-x'],
    }));

  test('nothing of units that are left out, although they count for how many the phase takes', () => {
    const half = plan({ phases: [{ ...FIRST, scope: '*', amount: { units: 1 } }] }).phases[0]!;
    const down = unit('kvstore-x', 'x', 'kv:0');
    expect(facts(half, [down, FLEET[1]!], null, ['kvstore-x']).units).toEqual([]);
    const { units, previousVersion } = facts(plan().phases[1]!, [down, FLEET[1]!], null, ['kvstore-x']);
    expect({ units, previousVersion }).toEqual({ units: ['kvstore-y'], previousVersion: 'kv:1' });
  });

  test.each<[string, readonly Unit[], string | null, string | undefined]>([
    ['the version that all its units ran', FLEET, 'kv:0', 'kv:1'],
    ['the last good one where they ran several', [unit('a', 'x'), unit('b', 'x', 'kv:9')], 'kv:0', 'kv:0'],
    ['the last good one where a unit ran several', [unit('a', 'x', 'kv:1', true)], 'kv:0', 'kv:0'],
    ['no previous version where none is known', [unit('a', 'x', null)], null, undefined],
  ])('%s', (_, units, lastGood, expected) =>
    expect(facts(plan().phases[1]!, units, lastGood).previousVersion).toBe(expected),
  );
});
