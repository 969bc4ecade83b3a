import type { DeployStatus, HealthRow } from '../../domain/views';
import { measurementText, revertWords, sortHealthRows } from '../../render/deploy';
import { computeTotals } from '../../domain/deploy/counts';
import { plural } from '../../domain/text';
import type { View } from '../../render/paint';
import { VERDICT_SYMBOLS } from '../../render/words';
import { More, Table } from './section';
import { CheckSeries } from './series';
import { StateMark, Prose } from './text';

const MOST_CHECKS = 40;

/** Checks, the worst first: each with its value, its limit, its last values and its reason. */
export function HealthTable({ rows }: { readonly rows: readonly HealthRow[] }) {
  const sorted = sortHealthRows(rows);
  const shown = sorted.slice(0, MOST_CHECKS);
  return (
    <>
      <Table
        caption="Health checks, the worst first"
        headings={['Check', 'Verdict', 'Value and reason', 'Last values']}
        rows={shown.map((row) => [
          <>
            <bdi>{row.check}</bdi>
            <span class="about">
              <bdi>{row.unit}</bdi>
            </span>
          </>,
          <StateMark sign={VERDICT_SYMBOLS[row.verdict]} word={row.verdict} />,
          <>
            {measurementText(row)}
            <span class="about">
              <Prose text={row.reason} />
            </span>
          </>,
          <CheckSeries row={row} />,
        ])}
        empty="No check has been evaluated."
      />
      <More count={sorted.length - shown.length} noun="checks" />
    </>
  );
}

const MOST_UNITS = 24;

/** The units that a revert brings back; nothing without one. */
export function Revert({ deploy, view }: { readonly deploy: DeployStatus; readonly view: View }) {
  const { revert } = deploy;
  if (revert === null) return null;
  const hidden = computeTotals(revert).units - Math.min(revert.units.length, MOST_UNITS);
  return (
    <>
      <p>
        <Prose text={revertWords(revert, view)} />
      </p>
      <Table
        caption="Units of the revert"
        headings={['Unit', 'Version', 'Tasks']}
        rows={revert.units
          .slice(0, MOST_UNITS)
          .map((unit) => [
            <bdi>{unit.id}</bdi>,
            <bdi>{`back to ${unit.toVersion}`}</bdi>,
            `${unit.live}/${unit.targeted} live`,
          ])}
      />
      {hidden > 0 ? <p class="note">{plural(hidden, 'more unit')}</p> : null}
      {(revert.leftOut ?? []).slice(0, MOST_UNITS).map(({ id, reason }) => (
        <p>
          <Prose text={`${id}: not brought back: ${reason}`} />
        </p>
      ))}
    </>
  );
}
