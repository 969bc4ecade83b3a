import { joinWords, plural } from '../../domain/text';
import { alignRows } from '../../render/columns';
import { foldAll, paint, tint, type View } from '../../render/paint';
import type { StatusSymbol } from '../../render/words';
import type { DoctorCheck } from './check';

const DOCTOR_SYMBOLS: Readonly<Record<DoctorCheck['state'], StatusSymbol>> = {
  ok: { glyph: '✔', tone: 'good' },
  missing: { glyph: '✖', tone: 'bad' },
  warning: { glyph: '⚠', tone: 'warn' },
};

/** The results, each problem with its remedy below. */
export function renderChecks(checks: readonly DoctorCheck[], view: View): string {
  const colors = paint(view.color);
  const rows = groupAlike(checks);
  const aligned = alignRows(
    rows.map(([{ name, state, found }, ...others]) => [
      `${tint(colors, DOCTOR_SYMBOLS[state].tone, DOCTOR_SYMBOLS[state].glyph)} ${name}${others.length === 0 ? '' : ` and ${others.length} more`}`,
      found,
    ]),
  );
  const lines = aligned.flatMap((line, at) => {
    const [first, ...others] = rows[at] ?? [];
    const how = first?.how;
    const more =
      others.length === 0
        ? []
        : [
            `    with ${joinWords(
              others.map(({ name }) => name),
              'and',
            )}`,
          ];
    return foldAll([line, ...more, ...(how ? [`    ${colors.dim('→')} ${how}`] : [])], view);
  });
  const missing = rows.filter(([check]) => check.state === 'missing').length;
  const verdict =
    missing === 0
      ? colors.green('Nothing required is missing or broken.')
      : colors.red(`${plural(missing, 'thing')} missing or broken.`);
  return [...lines, '', verdict].join('\n');
}

type Row = readonly [DoctorCheck, ...DoctorCheck[]];

/** Problems with the same text share one row: one process may serve several extensions. */
function groupAlike(checks: readonly DoctorCheck[]): Row[] {
  const rows = new Map<string, [DoctorCheck, ...DoctorCheck[]]>();
  for (const check of checks) {
    const { name, state, found, how } = check;
    if (state === 'missing' && isSilentFinder(checks, name)) continue;
    const key = JSON.stringify(state === 'ok' ? [name, rows.size] : [state, found, how]);
    const row = rows.get(key);
    if (row === undefined) rows.set(key, [check]);
    else row.push(check);
  }
  return [...rows.values()];
}

/** A silent finder explains its failed sweeps. */
const isSilentFinder = (checks: readonly DoctorCheck[], name: string): boolean =>
  name.startsWith('finder ') && checks.some((one) => one.name === `artifact-${name}` && one.state === 'missing');
