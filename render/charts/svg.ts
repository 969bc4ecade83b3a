import { escapeXml } from '../../domain/markup';

/** Width of a chart in pixels; a page scales all charts alike. */
export const WIDTH = 640;
/** The x position at which the names of categories end and their bars begin. */
export const LEFT = 130;
/** Room at the right for the number of the whole. */
export const RIGHT = 70;
/** For panels side by side. */
export const PANELS_ACROSS = 2;
export const PANEL_GAP = 24;
export const PANEL_WIDTH = (WIDTH - PANEL_GAP) / PANELS_ACROSS;

type Attributes = Readonly<Record<string, string | number>>;

/** One element. Values are escaped, children are markup already. */
export function element(name: string, attributes: Attributes, ...children: readonly string[]): string {
  const written = Object.entries(attributes).map(([key, value]) => ` ${key}="${escapeXml(attributeText(value))}"`);
  return `<${name}${written.join('')}>${children.join('')}</${name}>`;
}

export const textAt = (x: number, y: number, content: string, attributes: Attributes = {}): string =>
  element('text', { x, y, ...attributes }, escapeXml(content));

/** The text shown under a pointer. */
export const hint = (content: string): string => element('title', {}, escapeXml(content));

/** A whole chart; `says` is its text for screen readers. */
export const svg = (height: number, says: string, ...children: readonly string[]): string =>
  element('svg', { viewBox: `0 0 ${WIDTH} ${height}`, role: 'img', 'aria-label': says }, ...children);

export const rule = (x1: number, y1: number, x2: number, y2: number, className: string): string =>
  element('line', { x1, y1, x2, y2, class: className });

/** A name, cut if it would run into the chart; the hint has all of it. */
export const nameAt = (y: number, name: string): string =>
  element('g', {}, hint(name), textAt(LEFT - 12, y, shortName(name, LONGEST_NAME), { class: 'name' }));

const LONGEST_NAME = 17;

export const shortName = (name: string, most: number): string =>
  name.length > most ? `${name.slice(0, most - 1)}…` : name;

const attributeText = (value: string | number): string =>
  typeof value === 'number' ? String(Math.round(value * 100) / 100) : value;
