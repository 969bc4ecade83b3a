import { measureWidth, truncate } from '../../render/paint';
import type { StatusSymbol } from '../../render/words';
import { getPagePath } from '../frame';
import { CLASS_BY_TONE } from '../tones';
import { layOutGraph, type GraphLayout, type GraphNode, type PlacedEdge } from './layout';

/** An action in a drawn graph. */
export interface DrawnAction extends GraphNode {
  readonly sign: StatusSymbol;
  readonly state: string;
  /** Its second line: type and duration, or its wait. */
  readonly note: string;
  /** The id of its deploy, whose page the action leads to. */
  readonly deploy: string | null;
}

const BOX = { width: 172, height: 46 };
const BOX_GAP = { x: 44, y: 14 };
const EDGE = 6;
const NAME_COLUMNS = 18;
const NOTE_COLUMNS = 24;

/** The actions of a release or pipeline as boxes, joined by lines. The table below it has the same as text. */
export function ActionGraph({ actions, label }: { readonly actions: readonly DrawnAction[]; readonly label: string }) {
  const layout = layOutGraph(actions);
  const [width, height] = [
    layout.columns * (BOX.width + BOX_GAP.x) - BOX_GAP.x + 2 * EDGE,
    layout.rows * (BOX.height + BOX_GAP.y) - BOX_GAP.y + 2 * EDGE,
  ];
  const boxes = new Map(actions.map((action) => [action.name, action]));
  return (
    <div class="scroll graph" role="group" aria-label={label} tabindex={0}>
      <svg viewBox={`0 0 ${width} ${height}`} width={width} height={height} role="group" aria-label={label}>
        <path class="edges" d={layout.edges.map((edge) => drawEdge(edge, layout)).join('')} />
        {layout.nodes.map((place) => {
          const action = boxes.get(place.name);
          return action === undefined ? null : <Box action={action} {...toCorner(place, layout)} />;
        })}
      </svg>
    </div>
  );
}

interface Corner {
  readonly x: number;
  readonly y: number;
}

/** Columns with fewer places are centred. */
function toCorner({ column, row }: { readonly column: number; readonly row: number }, layout: GraphLayout): Corner {
  const inColumn = Math.max(
    ...layout.nodes.filter((node) => node.column === column).map((node) => node.row),
    ...layout.edges.map(({ from, via }) => via[column - from.column - 1] ?? -1),
    0,
  );
  const shift = ((layout.rows - inColumn - 1) * (BOX.height + BOX_GAP.y)) / 2;
  return { x: EDGE + column * (BOX.width + BOX_GAP.x), y: EDGE + shift + row * (BOX.height + BOX_GAP.y) };
}

/** A line through the free places of the columns that it passes. */
function drawEdge({ from, to, via }: PlacedEdge, layout: GraphLayout): string {
  const [start, end] = [toCorner(from, layout), toCorner(to, layout)];
  const middle = (y: number): number => Math.round(y + BOX.height / 2);
  let path = `M${start.x + BOX.width} ${middle(start.y)}`;
  let at: Corner = { x: start.x + BOX.width, y: middle(start.y) };
  const curve = (x: number, y: number): void => {
    const half = Math.round((at.x + x) / 2);
    path += `C${half} ${at.y} ${half} ${y} ${x} ${y}`;
    at = { x, y };
  };
  via.forEach((row, nth) => {
    const { x, y } = toCorner({ column: from.column + nth + 1, row }, layout);
    curve(x, middle(y));
    path += `H${x + BOX.width}`;
    at = { x: x + BOX.width, y: middle(y) };
  });
  curve(end.x, middle(end.y));
  return path;
}

function Box({ action, x, y }: { readonly action: DrawnAction } & Corner) {
  const { name, sign, state, note, deploy } = action;
  const box = (
    <g class={`box ${CLASS_BY_TONE[sign.tone]}`} transform={`translate(${x} ${Math.round(y)})`}>
      <title>{[`${name}: ${state}`, note].filter((part) => part !== '').join(', ')}</title>
      <rect width={BOX.width} height={BOX.height} rx="5" />
      <text x="12" y="19" class="sign">
        {sign.glyph}
      </text>
      <text x="30" y="19" class="name">
        {fitText(name, NAME_COLUMNS)}
      </text>
      <text x="12" y="36" class="second">
        {fitText(note === '' ? state : note, NOTE_COLUMNS)}
      </text>
    </g>
  );
  return deploy === null ? box : <a href={getPagePath(deploy)}>{box}</a>;
}

/** Wide characters count twice, as on a terminal. */
const fitText = (text: string, columns: number): string =>
  measureWidth(text) <= columns ? text : truncate(text, columns);
