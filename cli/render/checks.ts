import { plural } from '../../domain/text';
import type { DoctorCheck } from '../doctor/check';
import { alignRows } from './columns';
import { foldAll, paint, tint, type View } from './paint';
import type { StatusSymbol } from './words';

const DOCTOR_SYMBOLS: Readonly<Record<DoctorCheck['state'], StatusSymbol>> = {
  ok: { glyph: '✔', tone: 'good' },
  missing: { glyph: '✖', tone: 'bad' },
  warning: { glyph: '⚠', tone: 'warn' },
};

/** The results, present and missing; under each that is not, how to get it. */
export function renderChecks(checks: readonly DoctorCheck[], view: View): string {
  const colors = paint(view.color);
  const aligned = alignRows(
    checks.map(({ name, state, found }) => [
      `${tint(colors, DOCTOR_SYMBOLS[state].tone, DOCTOR_SYMBOLS[state].glyph)} ${name}`,
      found,
    ]),
  );
  const lines = aligned.flatMap((line, at) => {
    const how = checks[at]?.how;
    return foldAll([line, ...(how ? [`    ${colors.dim('→')} ${how}`] : [])], view);
  });
  const missing = checks.filter((check) => check.state === 'missing').length;
  const verdict =
    missing === 0
      ? colors.green('Nothing that is needed is missing or broken.')
      : colors.red(`${plural(missing, 'thing')} missing or broken.`);
  return [...lines, '', verdict].join('\n');
}
