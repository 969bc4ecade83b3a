import { failurePoint } from '../../../domain/deploy/failurePoint';
import { cumulativeShares } from '../../../domain/deploy/pattern';
import { planDeploy } from '../../../domain/deploy/plan';
import type { Unit } from '../../../domain/fleet/unit';
import { deployWith } from '../../../domain/spec/deploy';

const unit = (id: string, size: number): Unit => ({
  ...{ id, size, labels: { region: id }, version: 'kv:1', mixed: false, available: true },
});
const snapshot = [unit('x', 50), unit('y', 150)];
const FLEET = { units: 2, tasks: 200, snapshot: { units: snapshot }, withoutPast: [], inPages: false };
const HALF = { scope: '*', amount: '50%' };

describe('a deploy that fails has got as far as the tasks until the end of that phase, of those of all phases', () => {
  const check = (phases: object[], cursor: number, expected: number | null) => {
    const spec = deployWith.parse({ pushType: 'twine', phases });
    const plan = planDeploy(spec, snapshot, [], 'kv:2');
    const fleet = { ...FLEET, shares: cumulativeShares(plan, snapshot) };
    expect(failurePoint({ fleet, cursor })).toBe(expected);
  };

  test.each<[string, object[], number, number | null]>([
    ['in its first phase', [{ scope: 'x', amount: 10 }, HALF], 0, 0.05],
    ['in its second phase', [{ scope: 'x', amount: 10 }, HALF], 1, 0.5],
    ['in its completion', [{ scope: 'x', amount: 10 }, HALF], 2, 1],
    ['in a phase that added nothing', [HALF, { scope: 'x', amount: '10%' }], 1, 0.5],
    ['before its first phase', [HALF], -1, null],
    ['with one phase only, which says nothing', [], 0, null],
    ['with one phase that leaves nothing to the completion', [{ scope: '*', amount: '100%' }], 0, null],
  ])('%s', (_what, phases, cursor, expected) => check(phases, cursor, expected));

  test('before it was planned', () => expect(failurePoint({ fleet: null, cursor: -1 })).toBeNull());
});
