import { DEFAULT_AMOUNTS, DEFAULT_PACE } from '../../deploy/defaults';
import { computeLookback } from '../../health/lookback';
import { formatDuration } from '../../text';
import { formatAmount, type PhaseAmount } from '../../fleet/amount';
import type { DeploySpec, PhaseSpec } from '../deploy';
import type { Rule } from '../rule';
import { errorAt, warningAt, type Finding, type Path } from '../problem';
import { listPlacedDeploys } from './deploys';

/** Phases that reveal a bad version while it is small (Conveyor §6, best practices). */
const LARGEST_FIRST_PERCENT = 10;

const bakes: Rule = (spec) =>
  listPlacedDeploys(spec).flatMap(({ path, deploy }) =>
    listBakes(deploy).flatMap((bake) => bakeFindings([...path, ...bake.at], deploy, bake, 'the next phase')),
  );

const canaryBakes: Rule = (spec) =>
  Object.entries(spec.actions).flatMap(([name, action]) => {
    if (action.type !== 'canary') return [];
    const { bake: bakeMs } = action.with;
    return bakeFindings(['actions', name, 'with', 'bake'], action.with, { bakeMs, name }, 'it succeeds');
  });

const firstPhase: Rule = (spec) =>
  listPlacedDeploys(spec).flatMap(({ path, deploy }) => {
    const [first] = deploy.phases ?? [{ amount: { percent: 1 } }];
    if (first && percentCovered(first.amount) <= LARGEST_FIRST_PERCENT) return [];
    const message = first
      ? `the first phase updates ${percentCovered(first.amount)}% at once, so a bad version reaches that many tasks before it is noticed`
      : 'there is no phase before everything is updated at once';
    const at = first ? [...path, 'phases', 0, 'amount'] : [...path, 'phases'];
    return [
      warningAt(
        at,
        'large-first-phase',
        message,
        `begin with ${LARGEST_FIRST_PERCENT}% or less, or leave phases out for 1% → 10% → 100%`,
      ),
    ];
  });

/** Some problems appear only when a whole region runs the new version; they should appear in a single region. */
const wholeRegion: Rule = (spec) =>
  listPlacedDeploys(spec).flatMap(({ path, deploy }) => {
    const phases = deploy.phases;
    if (phases === undefined || phases.length === 0 || phases.some(coversARegion)) return [];
    const message = 'no phase covers a whole region before the last one covers them all';
    const hint = 'add a phase such as { name: region, scope: "region:x", amount: 100% }';
    return [warningAt([...path, 'phases'], 'no-whole-region', message, hint)];
  });

/** The default phases apply if a file has none; the author of a completion alone may believe that it is the only phase. */
const completionAlone: Rule = (spec) =>
  listPlacedDeploys(spec).flatMap(({ path, deploy }) => {
    if (deploy.phases !== undefined || deploy.completion === undefined) return [];
    const before = DEFAULT_AMOUNTS.map(formatAmount).join(' and ');
    const message = `without phases, ${before} of the tasks come before the completion, with ${formatDuration(DEFAULT_PACE.bake)} after each`;
    const hint = 'write the phases, or phases: [] to update everything at once';
    return [warningAt([...path, 'completion'], 'default-phases', message, hint)];
  });

export const phaseRules: readonly Rule[] = [bakes, canaryBakes, firstPhase, wholeRegion, completionAlone];

interface PhaseBake {
  readonly at: Path;
  readonly name: string;
  readonly bakeMs: number;
}

function listBakes(deploy: DeploySpec): PhaseBake[] {
  const defaults: PhaseBake[] = deploy.phases
    ? []
    : [{ at: ['phases'], name: 'every phase', bakeMs: DEFAULT_PACE.bake }];
  const phases = (deploy.phases ?? []).map((phase, index): PhaseBake => {
    const name = phase.name ?? `phase ${index + 1}`;
    return { at: ['phases', index, 'bake'], name, bakeMs: phase.bake };
  });
  const completion = deploy.completion?.bake;
  return completion === undefined
    ? [...defaults, ...phases]
    : [...defaults, ...phases, { at: ['completion', 'bake'], name: 'completion', bakeMs: completion }];
}

function bakeFindings(
  path: Path,
  { healthChecks, healthInterval }: Pick<DeploySpec, 'healthChecks' | 'healthInterval'>,
  { bakeMs, name }: Pick<PhaseBake, 'bakeMs' | 'name'>,
  next: string,
): Finding[] {
  if (bakeMs === 0)
    return [
      warningAt(
        path,
        'no-bake',
        `${name} has no bake, so nothing is checked before ${next}`,
        'let it bake for some minutes',
      ),
    ];
  const lookbacks = healthChecks.map((check) => computeLookback(check, healthInterval));
  const needed = Math.max(0, ...lookbacks);
  if (bakeMs >= needed) return [];
  const slow = healthChecks
    .filter((check) => computeLookback(check, healthInterval) > bakeMs)
    .map((check) => check.name);
  const message = `${name} bakes for ${formatDuration(bakeMs)}, shorter than what ${[...new Set(slow)].join(', ')} looks back`;
  return [
    errorAt(path, 'bake-too-short', message, `let it bake for ${formatDuration(needed)} at least, or look back less`),
  ];
}

function percentCovered(amount: PhaseAmount): number {
  const inner = 'units' in amount ? amount.units : amount;
  if ('all' in inner) return 100;
  return 'percent' in inner ? inner.percent : 0;
}

const coversARegion = (phase: PhaseSpec): boolean =>
  percentCovered(phase.amount) === 100 && ('forEach' in phase || phase.scope !== '*');
