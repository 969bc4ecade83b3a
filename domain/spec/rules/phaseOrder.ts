import type { PhaseAmount } from '../../fleet/amount';
import type { DeploySpec, PhaseSpec } from '../deploy';
import type { Rule } from '../rule';
import { errorAt, warningAt, type Path } from '../problem';
import { listPlacedDeploys } from './deploys';

/** Phases with distinct names, each of which adds to those before it. */
const COMPLETION = 'completion';

/** `--phase NAME` prevents two people from skipping two phases, provided that the name is unique. */
const ownNames: Rule = (spec) =>
  listDeployPhases(spec).flatMap(({ path, phases }) => {
    const names = phases.map(phaseName);
    return phases.flatMap((phase, index) => {
      const name = phaseName(phase, index);
      const at = phase.name === undefined ? [...path, index] : [...path, index, 'name'];
      const hint = 'give each phase a name of its own: people skip phases by name';
      if (name === COMPLETION) return [errorAt(at, 'duplicate-phase', `the last phase is always called ${name}`, hint)];
      if (names.indexOf(name) === index) return [];
      return [errorAt(at, 'duplicate-phase', `there is another phase called ${name}`, hint)];
    });
  });

/** Amounts are cumulative: 5% after 90% updates nothing. */
const findIneffectivePhases: Rule = (spec) =>
  listDeployPhases(spec).flatMap(({ path, phases }) =>
    phases.flatMap((phase, index) => {
      const before = phases.findIndex((other, at) => at < index && coversPhase(other, phase));
      const earlier = phases[before];
      if (earlier === undefined) return [];
      const message = `${phaseName(phase, index)} updates nothing, and does not bake: ${phaseName(earlier, before)} has reached as much before`;
      const hint = 'amounts add up: write how much is to be updated in all by the end of the phase';
      return [warningAt([...path, index, 'amount'], 'phase-without-effect', message, hint)];
    }),
  );

export const phaseOrderRules: readonly Rule[] = [ownNames, findIneffectivePhases];

const listDeployPhases = (spec: Parameters<Rule>[0]): { path: Path; phases: NonNullable<DeploySpec['phases']> }[] =>
  listPlacedDeploys(spec).map(({ path, deploy }) => ({ path: [...path, 'phases'], phases: deploy.phases ?? [] }));

/** The common prefix of the names if one phase becomes several. */
const phaseName = (phase: PhaseSpec, index: number): string =>
  phase.name ?? ('forEach' in phase ? phase.forEach : `phase-${index + 1}`);

function coversPhase(earlier: PhaseSpec, later: PhaseSpec): boolean {
  const [much, more] = [measureAmount(earlier.amount), measureAmount(later.amount)];
  return isScopeWithin(later, earlier) && much.of === more.of && more.size <= much.size;
}

function isScopeWithin(inner: PhaseSpec, outer: PhaseSpec): boolean {
  if ('forEach' in outer) return 'forEach' in inner && inner.forEach === outer.forEach;
  return outer.scope === '*' || (!('forEach' in inner) && inner.scope === outer.scope);
}

/** Without the units, only amounts of the same kind can be compared. */
function measureAmount(amount: PhaseAmount): { readonly of: string; readonly size: number } {
  const [inner, what] = 'units' in amount ? [amount.units, 'units'] : [amount, 'tasks'];
  if ('count' in inner) return { of: what, size: inner.count };
  return { of: `% of ${what}`, size: 'percent' in inner ? inner.percent : 100 };
}
