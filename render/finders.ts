import type { FinderView } from '../domain/views';
import { alignRows, listTable } from './columns';
import { paint, tint, measureWidth, type Colors, type View } from './paint';
import { ago, until } from './times';
import { type StatusSymbol } from './words';

export const FINDER_SYMBOLS: Readonly<Record<FinderView['state'], StatusSymbol>> = {
  answers: { glyph: '✔', tone: 'good' },
  failing: { glyph: '✖', tone: 'bad' },
  idle: { glyph: '·', tone: 'quiet' },
  paused: { glyph: '‖', tone: 'warn' },
  unasked: { glyph: '⚠', tone: 'warn' },
};

/** `list finders`: a cause too long for its row is printed in full below the list; `wide` cuts no cell. */
export function finderTable(rows: readonly FinderView[], view: View, wide: boolean = false): string {
  const colors = paint(view.color);
  const cells = rows.map((finder) => [
    colors.bold(finder.id),
    finderStateText(finder, colors),
    finder.answeredAt === null ? '–' : ago(finder.answeredAt, view),
    finder.nextAt === null ? '–' : until(finder.nextAt, view),
  ]);
  const heading = ['FINDER', 'STATE', 'ANSWERED', 'NEXT'];
  const room = view.width - Math.max(...alignRows([heading, ...cells]).map(measureWidth)) - 2;
  const said = rows.map((finder) => {
    const remarks = finderRemarks(finder, view);
    const fits = wide || measureWidth(remarks) <= room;
    return { cell: fits ? remarks : '…', below: fits ? [] : [`${colors.bold(finder.id)}  ${remarks}`] };
  });
  const list = {
    heading: [...heading, 'SAID'],
    rows: cells.map((row, at) => [...row, said[at]?.cell ?? '']),
    below: said.flatMap(({ below }) => below),
  };
  return listTable({ ...list, wide, empty: 'no finders: no worker has asked one yet' }, view);
}

/** The finders in the status of a pipeline. */
export function finderRows(finders: readonly FinderView[], view: View, colors: Colors): string[] {
  return alignRows(
    finders.map((finder) => [`  ${finder.id}`, finderStateText(finder, colors), describeFinder(finder, view)]),
  );
}

/** Its last answer, its problem and its next sweep. */
export const describeFinder = (finder: FinderView, view: View): string =>
  [
    finder.answeredAt === null ? '' : `answered ${ago(finder.answeredAt, view)}`,
    finderRemarks(finder, view),
    finder.state === 'failing' && finder.nextAt !== null ? `next sweep ${until(finder.nextAt, view)}` : '',
  ]
    .filter((part) => part !== '')
    .join('; ');

const finderStateText = ({ state }: FinderView, colors: Colors): string =>
  tint(colors, FINDER_SYMBOLS[state].tone, `${FINDER_SYMBOLS[state].glyph} ${state}`);

const finderRemarks = ({ since, reason, refused }: FinderView, view: View): string =>
  [...(reason === null ? [] : [since === null ? reason : `since ${ago(since, view)}: ${reason}`]), ...refused].join(
    '; ',
  );
