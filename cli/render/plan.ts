import { formatDuration, plural } from '../../domain/text';
import type { PlanView } from '../../domain/views';
import { joinSections } from './deploy';
import { alignRows, paint, type View } from './paint';
import { clock } from './words';

const UNITS_SHOWN = 4;

/** What each phase of a deploy would reach, and when. */
export function renderPlan(plan: PlanView, view: View): string {
  const colors = paint(view.color);
  const heading = ['PHASE', 'SCOPE', 'AMOUNT', 'REACHES', 'TASKS', 'STARTS', 'UPDATED', 'BAKED', 'UNITS'].map(
    colors.bold,
  );
  const rows = plan.phases.map((phase) => [
    `${phase.index + 1} ${phase.name}`,
    phase.scope,
    phase.amount,
    `${Number(phase.effectivePercent.toPrecision(3))}%`,
    String(phase.units.reduce((total, unit) => total + unit.tasks, 0)),
    timeWord(phase.startsAt, view),
    timeWord(phase.updatedAt, view),
    timeWord(phase.bakedAt, view),
    unitWords(phase.units),
  ]);
  const finish =
    plan.finishesAt === null
      ? 'when it finishes is not known'
      : `finishes ${clock(plan.finishesAt, view)}, ${formatDuration(Math.max(0, Date.parse(plan.finishesAt) - view.now))} from now`;
  return joinSections(
    [
      [
        `${colors.bold(`${plan.pipeline} ${plan.action}`)}  ${plan.pattern}, ${plural(plan.phases.length, 'phase')}, ${finish}`,
      ],
      alignRows([heading, ...rows]),
      plan.warnings.map((warning) => `${colors.yellow('⚠')} ${warning.code}: ${warning.message}`),
    ],
    view,
  );
}

const timeWord = (iso: string | null, view: View): string => (iso === null ? '–' : clock(iso, view));

function unitWords(units: PlanView['phases'][number]['units']): string {
  const shown = units.slice(0, UNITS_SHOWN).map((unit) => `${unit.id}: ${unit.tasks}`);
  const hidden = units.length - shown.length;
  return shown.join(', ') + (hidden > 0 ? `, … ${hidden} more` : '');
}
