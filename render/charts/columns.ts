import type { Breakdown } from '../../domain/stats/report';
import { percent } from '../words';
import { element, hint, rule, PANEL_GAP, PANELS_ACROSS, PANEL_WIDTH, svg, textAt } from './svg';

const [PANEL, TOP, PLOT] = [150, 24, 96] as const;

/** Panels side by side, one for each category, with a column for each word's share of the whole. */
export function columnPanels(says: string, rows: readonly Breakdown[], noteOf: (row: Breakdown) => string): string {
  const height = Math.ceil(rows.length / PANELS_ACROSS) * PANEL;
  const panels = rows.map((row, nth) => {
    const [x, y] = [(nth % PANELS_ACROSS) * (PANEL_WIDTH + PANEL_GAP), Math.floor(nth / PANELS_ACROSS) * PANEL];
    return element('g', { transform: `translate(${x} ${y})` }, columnPanel(row, noteOf(row)));
  });
  return svg(height, says, ...panels);
}

function columnPanel({ category, counts, whole }: Breakdown, note: string): string {
  const entries = Object.entries(counts);
  const shares = entries.map(([, count]) => (whole === 0 ? 0 : count / whole));
  const highest = Math.max(...shares, 0.01);
  const wide = PANEL_WIDTH / Math.max(1, entries.length);
  const columns = entries.map(([word], nth) => {
    const share = shares[nth] ?? 0;
    const height = (share / highest) * PLOT;
    const box = { x: nth * wide + 1, y: TOP + PLOT - height, width: Math.max(1, wide - 2), height, class: 'color0' };
    return element('g', { class: 'part' }, hint(`${category}: ${word}: ${percent(share)}`), element('rect', box));
  });
  const every = Math.ceil(entries.length / MOST_LABELS);
  const labels = entries.map(([word], nth) =>
    nth % every === 0 ? textAt((nth + 0.5) * wide, TOP + PLOT + 14, word.replace(/-.*$/, ''), { class: 'tick' }) : '',
  );
  return [
    textAt(0, 14, category, { class: 'panel' }),
    textAt(PANEL_WIDTH, 14, note, { class: 'note' }),
    rule(0, TOP + PLOT + 0.5, PANEL_WIDTH, TOP + PLOT + 0.5, 'axis'),
    ...columns,
    ...labels,
  ].join('');
}

const MOST_LABELS = 10;
