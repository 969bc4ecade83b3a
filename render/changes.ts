import { isAmount, type SpecChange } from '../domain/changes';
import { formatAmount } from '../domain/fleet/amount';
import { formatDuration } from '../domain/text';
import { paint, fold, type View } from './paint';

/** `~ actions.deploy.with.phases.first.bake: 10m → 5m`, with + for additions and - for removals. */
export function renderChanges(changes: readonly SpecChange[], view: View): string {
  const colors = paint(view.color);
  const lines = changes.map(({ path, from, to }) => {
    if (from === undefined) return colors.green(`  + ${path}: ${valueWord(path, to)}`);
    if (to === undefined) return colors.red(`  - ${path}: ${valueWord(path, from)}`);
    return `${colors.yellow('  ~')} ${path}: ${colors.red(valueWord(path, from))} → ${colors.green(valueWord(path, to))}`;
  });
  return lines.flatMap((line) => fold(line, view.width)).join('\n');
}

const DURATIONS = /(^|\.)(bake|timeout|updateTimeout|healthInterval|lookback|backoff|jitter|for|average|over)$/;

/** As in the file: durations and amounts in words, everything else as JSON. */
function valueWord(path: string, value: unknown): string {
  if (typeof value === 'number' && DURATIONS.test(path)) return formatDuration(value);
  if (isAmount(value)) return formatAmount(value);
  if (typeof value === 'string') return value === '' ? '""' : value;
  return JSON.stringify(value);
}
