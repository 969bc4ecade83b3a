import { plural } from '../../domain/text';
import { ACTIONS, COMMITS, FATES, HAS_CANARY, PEOPLE, SHOWS_LATE } from './inputs';
import { CITED } from './cited';
import { CATEGORIES, CATEGORY_TITLES } from './paper';
import type { Line, Section } from './sections';

/** How a report came about. */
export interface Run {
  readonly seed: number;
  readonly pipelines: number;
  readonly weeks: number;
  readonly commits: number;
  /** Days of the year as `2026-11-24`. */
  readonly date: string;
  /** Such as `2 cores, Node 20.19.0`. */
  readonly machine: string;
  readonly minutes: number;
  /** Pipelines of which nothing is known, since the world that they shared came to no end. */
  readonly lost: number;
}

/** The report, as Markdown. */
export function render(run: Run, sections: readonly Section[]): string {
  return [...head(run), ...sections.flatMap(sectionText), ...inputs(), ...cited(), ''].join('\n');
}

const head = ({ seed, pipelines, weeks, commits, date, machine, minutes, lost }: Run): string[] => [
  '# Reproduction of published figures',
  '',
  `\`npm run reproduce -- --pipelines ${pipelines} --weeks ${weeks} --seed ${seed}\` wrote this page on ${date} (${machine}; ${plural(minutes, 'minute')}).`,
  '',
  `${pipelines} pipelines, as many of each category, were to live ${plural(weeks, 'week')} in virtual time, and ${commits} commits came: real workflows and activities, the simulated fleet, and people who are played. Rows are those of the archive, and the numbers those of [\`conveyor stats\`](guides/stats.md). In the paper 24.4% of the pipelines are regular services, 0.45% of all are large ones, 44.4% deploy models, and 6.7% are others with a deploy.`,
  '',
  '- **input**: it was put in, so that a match says only that it was put in correctly.',
  '- **outcome**: not an input. It results from the inputs and from Conveyor.',
  '',
  'The same seed draws the same pipelines, commits and fates. Outcomes may differ a little from run to run, since the time that this machine takes to compute is part of virtual time. With so few pipelines a category is a handful, of which each counts much.',
  ...(lost === 0
    ? []
    : [
        '',
        `${lost} of them are not counted: a world that they shared came to no end, such as when the test server stops its clock. The numbers are of the other ${pipelines - lost}.`,
      ]),
];

function sectionText({ title, says, unit, of, lines }: Section): string[] {
  const counts = { label: `of ${of.what}`, paper: {}, ours: of.counts };
  const rows = [...lines, counts].map((line) => [
    line === counts ? counts.label : `${line.label}`,
    ...CATEGORIES.map((category) => cell(line, category, line === counts ? '' : unit)),
    'is' in line ? line.is : '',
  ]);
  const head = ['paper / ours', ...CATEGORIES.map((category) => CATEGORY_TITLES[category]), 'is'];
  return ['', `## ${title}`, '', says, '', ...table(head, rows)];
}

function cell(
  { paper, ours }: Pick<Line, 'paper' | 'ours'>,
  category: (typeof CATEGORIES)[number],
  unit: string,
): string {
  const value = (one: number | string | undefined): string =>
    typeof one === 'number' ? digits(one, unit) : (one ?? '–');
  return unit === '' ? value(ours[category]) : `${value(paper[category])} / ${value(ours[category])}`;
}

/** As many digits as the paper has. */
function digits(value: number, unit: string): string {
  if (unit === '' || unit === 's') return Math.round(value).toLocaleString('en-US');
  return value !== 0 && value < 1 ? String(Number(value.toPrecision(2))) : value.toFixed(1);
}

function inputs(): string[] {
  const [from, to] = COMMITS.perBurst;
  const rows = [
    ...(['breaks build', 'breaks tests', 'bad', 'harmless', 'unseen'] as const).map((fate) => [
      `${fate}, % of commits`,
      ...CATEGORIES.map((category) => String(FATES[category][fate])),
    ]),
    ['actions, from and to', ...CATEGORIES.map((category) => ACTIONS[category].join(' to '))],
    ['has a canary, % of those with room', ...CATEGORIES.map((category) => String(HAS_CANARY[category]))],
  ];
  return [
    ...['', '## What was put in besides', ''],
    `Commits come in bursts of ${from} to ${to}, every ${COMMITS.burstsEveryHours} working hours on average, ${COMMITS.minutesApart.join(' to ')} minutes apart; builds take ${COMMITS.build.join(' to ')} minutes, tests ${COMMITS.test.join(' to ')}. People look every hour, take back a bad version, wait until a harmless anomaly is over, pick on workdays at ${PEOPLE.picksAtHour}, and roll back ${PEOPLE.rollsBackAfterHours} hours after a release what no check saw. Models revert by themselves. ${SHOWS_LATE}% of bad versions show only when four fifths of a job run them.`,
    '',
    ...table(['', ...CATEGORIES.map((category) => CATEGORY_TITLES[category])], rows),
  ];
}

const cited = (): string[] => [
  ...['', '## Measured elsewhere', ''],
  'These do not come of the pipelines above, and are not run again by `npm run reproduce`.',
  '',
  ...table(
    ['', 'paper', 'ours', 'is', 'from'],
    CITED.map(({ what, paper, ours, is, from }) => [what, paper, ours, is, from]),
  ),
];

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string[] =>
  [head, head.map(() => '-'), ...rows].map((cells) =>
    cells[0] === '-' ? `|${cells.join('|')}|` : `| ${cells.join(' | ')} |`,
  );
