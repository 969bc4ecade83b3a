import { plural } from '../domain/text';
import type { CheckOutcome } from '../sdk/conform/check';
import type { Exchange } from '../sdk/conform/conversation';
import type { ConformReport } from '../sdk/conform/run';
import { fold, paint, tint, type View } from './paint';
import type { StatusSymbol } from './words';

const CONFORM_SYMBOLS: Readonly<Record<CheckOutcome['state'], StatusSymbol>> = {
  passed: { glyph: '✔', tone: 'good' },
  failed: { glyph: '✖', tone: 'bad' },
  skipped: { glyph: '·', tone: 'quiet' },
  'not-run': { glyph: '·', tone: 'quiet' },
};

/** Options that an author may add, by the requirement of a check. Missing optional methods have no option. */
const FLAGS: Readonly<Record<string, string | undefined>> = {
  grow: '--add-task',
  deadVersion: '--dead-version',
  newVersions: '--new-versions v,w',
  badVersion: '--bad-version',
  outputs: '--outputs',
  make: '--make-version',
};

/** The number of calls shown for a failure; `-o json` has all. */
const SHOWN_CALLS = 6;

/** The checks that ran, and for each failure the facts that its author needs. */
export function conformText(report: ConformReport, view: View): string {
  const lines = report.checks.flatMap((outcome) => outcomeLines(outcome, view));
  return [...lines, '', ...verdict(report, view)].join('\n');
}

function outcomeLines(outcome: CheckOutcome, view: View): string[] {
  const colors = paint(view.color);
  const { glyph, tone } = CONFORM_SYMBOLS[outcome.state];
  const title = `${tint(colors, tone, glyph)} ${outcome.title}`;
  if (outcome.state === 'passed') return fold(title, view.width);
  if (outcome.state !== 'failed') {
    const flag = FLAGS[outcome.lacks ?? ''];
    const why = `${outcome.state === 'skipped' ? 'skipped' : 'not run'}: ${outcome.reason ?? ''}${flag ? `: ${flag}` : ''}`;
    return fold(`${title}  ${colors.dim(why)}`, view.width);
  }
  const rows = [
    `    ${outcome.reason ?? ''}`,
    `    ${colors.dim('→')} ${outcome.advice ?? ''}`,
    `    ${colors.dim(`the rule: ${outcome.section}`)}`,
    ...callLines(outcome.calls ?? [], view),
  ];
  return [title, ...rows].flatMap((line) => fold(line, view.width));
}

/** The last calls in order, each with its request and answer. */
function callLines(calls: readonly Exchange[], view: View): string[] {
  const colors = paint(view.color);
  const left = calls.length - SHOWN_CALLS;
  const earlier = left > 0 ? [`    ${colors.dim(`${plural(left, 'earlier call')}: see --json`)}`] : [];
  const shown = calls
    .slice(-SHOWN_CALLS)
    .flatMap(({ method, key, sent, status, answer }) => [
      `    ${colors.dim('POST')} ${method}  ${key === null ? '' : `Idempotency-Key: ${key}  `}${JSON.stringify(sent)}`,
      `      ${colors.dim('=')} ${status ?? 'no answer'}  ${answer}`,
    ]);
  return [...earlier, ...shown];
}

function verdict({ kind, passed, failed, skipped, notRun }: ConformReport, view: View): string[] {
  const colors = paint(view.color);
  const counts = [
    `${passed} passed`,
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(skipped > 0 ? [`${skipped} skipped`] : []),
    ...(notRun > 0 ? [`${notRun} not run`] : []),
  ].join(', ');
  const article = /^[aeiou]/.test(kind) ? 'an' : 'a';
  const good = passed > 0 ? colors.green(`It conforms to the protocol of ${article} ${kind}`) : 'Nothing was tried';
  const bad = notRun > 0 ? 'The service could not be tested to the end' : `This is not ${article} ${kind} yet`;
  const words = failed > 0 ? colors.red(bad) : good;
  return fold(`${words}: ${counts}.`, view.width);
}
