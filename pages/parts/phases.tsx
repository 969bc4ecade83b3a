import { computeTotals } from '../../domain/deploy/counts';
import { plural } from '../../domain/text';
import type { DeployStatus, PhaseView, UnitCounts } from '../../domain/views';
import type { View } from '../../render/paint';
import { formatDone, isPaused, phaseNote, unitNote } from '../../render/phases';
import { until } from '../../render/times';
import { isBaking, phaseWord } from '../../render/words';
import { CLASS_BY_TONE } from '../tones';
import { BakeClock, TaskBar } from './bars';
import { Table } from './section';
import { StateMark } from './text';

/** All phases as one bar of equal parts, and each as a row. */
export function Phases({ deploy, view }: { readonly deploy: DeployStatus; readonly view: View }) {
  if (deploy.phases.length === 0) return <p class="empty">It is not planned yet.</p>;
  return (
    <>
      <PhaseStrip phases={deploy.phases} />
      <Table
        caption={`Phases of ${deploy.id}`}
        headings={['Phase', 'Updates', 'State', 'Tasks', 'Progress', 'Time']}
        rows={deploy.phases.map((phase) => toPhaseRow(phase, deploy, view))}
      />
    </>
  );
}

function toPhaseRow(phase: PhaseView, deploy: DeployStatus, view: View) {
  const { word, sign } = phaseWord(phase);
  // Reverted units no longer run the version, even if they were updated once.
  const counts = computeTotals(phase.state === 'reverted' ? { units: [] } : phase);
  const tasks = counts.targeted === 0 ? '' : formatDone(counts, phase);
  return [
    <>
      <span class="nth">{phase.index + 1}</span> <bdi>{phase.name}</bdi>
    </>,
    <bdi>{`${phase.amount} of ${phase.scope}`}</bdi>,
    <StateMark sign={sign} word={word} />,
    <span class="number">{tasks}</span>,
    <TaskBar counts={counts} words={`${phase.name}: ${tasks}`} />,
    <>
      <Bake phase={phase} view={view} /> <bdi>{phaseNote(phase, deploy, view)}</bdi>
    </>,
  ];
}

function Bake({ phase, view }: { readonly phase: PhaseView; readonly view: View }) {
  const { updatedAt, bakeUntil } = phase;
  if (!isBaking(phase) || updatedAt === null || bakeUntil === null) return null;
  const [from, to] = [Date.parse(updatedAt), Date.parse(bakeUntil)];
  const share = to > from ? (view.now - from) / (to - from) : 1;
  return <BakeClock share={share} words={`bake of ${phase.name} ends ${until(bakeUntil, view)}`} />;
}

function PhaseStrip({ phases }: { readonly phases: readonly PhaseView[] }) {
  const width = 1_000 / phases.length;
  const gap = Math.min(4, width / 8);
  const words = phases.map((phase) => `${phase.name} ${phaseWord(phase).word}`).join(', ');
  return (
    <svg class="strip" viewBox="0 0 1000 10" preserveAspectRatio="none" role="img" aria-label={words}>
      {phases.map((phase, nth) => {
        const { word, sign } = phaseWord(phase);
        return (
          <rect
            class={CLASS_BY_TONE[sign.tone]}
            x={Math.round(nth * width * 10) / 10}
            width={Math.round((width - gap) * 10) / 10}
            height="10"
          >
            <title>{`${phase.name}: ${word}`}</title>
          </rect>
        );
      })}
    </svg>
  );
}

type UnitMark = 'live' | 'updating' | 'old' | 'failed' | 'paused' | 'unreachable';

/** In the order of a legend, with the shape of its square: filled, half, empty, crossed, barred, dotted. */
const UNIT_SHAPES: Readonly<Record<UnitMark, string>> = {
  live: 'h9v9h-9z',
  updating: 'h9l-9 9z',
  old: 'h9v9h-9zm1.5 1.5v6h6v-6z',
  failed: 'l2 0 2.5 2.5 2.5-2.5 2 0 0 2-2.5 2.5 2.5 2.5 0 2-2 0-2.5-2.5-2.5 2.5-2 0 0-2 2.5-2.5-2.5-2.5z',
  paused: 'h3v9h-3zm6 0h3v9h-3z',
  unreachable: 'm3 3h3v3h-3z',
};
const UNIT_STATES = Object.keys(UNIT_SHAPES) as UnitMark[];

/** More units than this are squares alone, without a row for each. */
const MOST_UNIT_ROWS = 24;
const SQUARES_ACROSS = 50;

/** Units of the present phase by state: counts, squares, and rows while they are few. */
export function UnitSquares({ deploy }: { readonly deploy: DeployStatus }) {
  const phase = pickPhase(deploy);
  if (phase === undefined) return <p class="empty">No phase has begun.</p>;
  const { skipped = [] } = deploy;
  const units = phase.units.map((unit) => ({ unit, state: judgeUnit(unit, phase, deploy) }));
  const states = [...units.map(({ state }) => state), ...skipped.map((): UnitMark => 'unreachable')];
  const totals = computeTotals(phase);
  const hidden = Math.max(0, totals.units - phase.units.length);
  return (
    <>
      <p>
        <bdi>{phase.name}</bdi>: {plural(totals.units, 'unit')}, {formatDone(totals, phase)}
        {hidden > 0 ? `; ${plural(hidden, 'more unit')} without a square` : ''}
      </p>
      <ul class="legend">
        {UNIT_STATES.filter((state) => states.includes(state)).map((state) => (
          <li>
            <svg class={`squares ${state}`} viewBox="0 0 10 10" width="10" height="10" aria-hidden="true">
              <path d={`M0 0${UNIT_SHAPES[state]}`} />
            </svg>{' '}
            {states.filter((one) => one === state).length} {state}
          </li>
        ))}
      </ul>
      {states.length > 1 ? <Squares states={states} /> : null}
      {units.length > MOST_UNIT_ROWS ? null : (
        <Table
          caption={`Units of phase ${phase.name}`}
          headings={['Unit', 'State', 'Tasks', 'Progress', 'Note']}
          rows={units.map(({ unit, state }) => unitCells(unit, state, phase))}
        />
      )}
      {skipped.length === 0 ? null : (
        <p class="note">
          Left out as unavailable: <bdi>{skipped.slice(0, MOST_UNIT_ROWS).join(', ')}</bdi>
          {skipped.length > MOST_UNIT_ROWS ? ` and ${skipped.length - MOST_UNIT_ROWS} more` : ''}
        </p>
      )}
    </>
  );
}

const unitCells = (unit: UnitCounts, state: UnitMark, phase: PhaseView) => [
  <bdi>{unit.id}</bdi>,
  state,
  <span class="number">{formatDone(unit, phase)}</span>,
  <TaskBar counts={{ units: 1, ...unit }} words={`${unit.id}: ${formatDone(unit, phase)}`} />,
  state === 'paused' ? 'paused by health' : unitNote(unit),
];

/** The running or failed phase, else the last one that began. */
const pickPhase = ({ phases }: DeployStatus): PhaseView | undefined =>
  phases.find(({ state }) => state === 'running' || state === 'failed') ??
  phases.findLast(({ startedAt }) => startedAt !== null);

function judgeUnit(unit: UnitCounts, phase: PhaseView, deploy: DeployStatus): UnitMark {
  if (isPaused(deploy, unit)) return 'paused';
  if (phase.state === 'reverted') return 'old';
  if (unit.live >= unit.targeted) return unit.targeted === 0 ? 'old' : 'live';
  if (phase.state === 'failed') return 'failed';
  return unit.updated + unit.live > 0 ? 'updating' : 'old';
}

/** One square a unit; one path a state keeps thousands of them small. */
function Squares({ states }: { readonly states: readonly UnitMark[] }) {
  const sorted = UNIT_STATES.flatMap((state) => states.filter((one) => one === state));
  const across = Math.min(SQUARES_ACROSS, sorted.length);
  const [width, height] = [across * 11 - 2, Math.ceil(sorted.length / across) * 11 - 2];
  const paths = UNIT_STATES.flatMap((state) => {
    const d = sorted.flatMap((one, nth) =>
      one === state ? [`M${(nth % across) * 11} ${Math.floor(nth / across) * 11}${UNIT_SHAPES[state]}`] : [],
    );
    return d.length === 0 ? [] : [<path class={state} d={d.join('')} />];
  });
  return (
    <svg
      class="squares"
      viewBox={`0 0 ${width} ${height}`}
      width={width}
      height={height}
      role="img"
      aria-label={`${plural(states.length, 'unit')} by state`}
    >
      {paths}
    </svg>
  );
}
