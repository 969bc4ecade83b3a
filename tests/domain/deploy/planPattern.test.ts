import { classifyPattern, type Pattern } from '../../../domain/deploy/pattern';
import { planDeploy } from '../../../domain/deploy/plan';
import type { Unit } from '../../../domain/fleet/unit';
import { deployWith } from '../../../domain/spec/deploy';

const unit = (id: string, size: number, region: string): Unit => ({
  ...{ id, labels: { region }, size, version: 'kv:1', mixed: false, available: true },
});
const THREE = ['x', 'y', 'z'].map((region) => unit(`kv-${region}`, 12, region));
const ONE = [unit('kv-x', 100, 'x')];
const all = (...amounts: (string | number)[]) => amounts.map((amount) => ({ scope: '*', amount }));
const regions = (...names: string[]) => names.map((name) => ({ scope: `region:${name}`, amount: '100%' }));
const whole = (...amounts: (string | number)[]) => amounts.map((units) => ({ scope: '*', amount: { units } }));

const check = (phases: object[] | undefined, units: readonly Unit[], pattern: Pattern) => {
  const spec = deployWith.parse({ pushType: 'twine', ...(phases ? { phases } : {}) });
  expect(classifyPattern(planDeploy(spec, units, [], 'kv:2'), units)).toBe(pattern);
};

describe('the pattern of a deploy (Conveyor §6.5.2)', () => {
  test.each<[string, object[] | undefined, readonly Unit[], Pattern]>([
    ['all tasks of one job in one phase', [], ONE, 'single'],
    ['all tasks of several jobs in one phase, which is done in parallel', [], THREE, 'single parallel'],
    ['one phase, also where it is written before the completion', all('100%'), ONE, 'single'],
    ['one phase, also where a percentage of small jobs is all of them', all('1%'), [unit('tiny', 1, 'x')], 'single'],
    ['a region a phase', [{ forEach: 'region', amount: '100%' }], THREE, 'region-by-region'],
    ['a region a phase, the last left to the completion', regions('x', 'y'), THREE, 'region-by-region'],
    ['a region a phase, although their equal sizes make it linear', regions('x', 'y', 'z'), THREE, 'region-by-region'],
    ['whole jobs that happen to be regions', whole(1, 2), THREE, 'region-by-region'],
    ['a region, then the two others at once', regions('x'), THREE, 'super-linear'],
    ['a region in two steps', [{ scope: 'region:x', amount: 1 }, ...regions('x', 'y')], THREE, 'misc'],
    ['the same percentage in each phase', all('25%', '50%', '75%'), ONE, 'linear'],
    ['the same percentage, however it is rounded', all('33%', '66%'), THREE, 'linear'],
    ['the same percentage of jobs too small to show it', all('25%', '50%', '75%'), [unit('kv-x', 6, 'x')], 'linear'],
    ['the default', undefined, ONE, 'super-linear'],
    ['a small percentage, then more', all('5%', '20%'), THREE, 'super-linear'],
    ['small steps that double', all('1%', '3%', '7%', '15%', '31%'), ONE, 'super-linear'],
    ['steps that become smaller', all('50%', '80%'), ONE, 'misc'],
  ])('%s', (_, phases, units, pattern) => check(phases, units, pattern));
});
