import { element, hint, rule, PANEL_GAP, PANELS_ACROSS, PANEL_WIDTH, shortName, svg, textAt } from './svg';

/** One measure: a bar for each category. */
export interface BarPanel {
  readonly title: string;
  readonly rows: readonly { readonly name: string; readonly value: number | null; readonly label: string }[];
}

const [HEAD, ROW, BOTTOM, NAMES, LABELS, BAR] = [26, 26, 18, 100, 66, 14] as const;
const LONGEST = 14;

/** Panels side by side with the same categories, each with its own scale. */
export function barPanels(says: string, panels: readonly BarPanel[]): string {
  const high = HEAD + (panels[0]?.rows.length ?? 0) * ROW + BOTTOM;
  const drawn = panels.map((panel, nth) => {
    const [x, y] = [(nth % PANELS_ACROSS) * (PANEL_WIDTH + PANEL_GAP), Math.floor(nth / PANELS_ACROSS) * high];
    return element('g', { transform: `translate(${x} ${y})` }, drawBarPanel(panel));
  });
  return svg(Math.ceil(panels.length / PANELS_ACROSS) * high, says, ...drawn);
}

function drawBarPanel({ title, rows }: BarPanel): string {
  const most = Math.max(...rows.map(({ value }) => value ?? 0), Number.MIN_VALUE);
  const room = PANEL_WIDTH - NAMES - LABELS;
  const bars = rows.map(({ name, value, label }, nth) => {
    const y = HEAD + nth * ROW;
    const width = ((value ?? 0) / most) * room;
    return element(
      'g',
      { class: 'part' },
      hint(`${name}: ${label}`),
      textAt(NAMES - 8, y + 15, shortName(name, LONGEST), { class: 'name' }),
      element('rect', { x: NAMES, y: y + 4, width, height: BAR, class: 'color0' }),
      textAt(NAMES + width + 6, y + 15, label, { class: 'size' }),
    );
  });
  const end = HEAD + rows.length * ROW;
  return textAt(0, 14, title, { class: 'panel' }) + rule(NAMES, HEAD, NAMES, end, 'axis') + bars.join('');
}
