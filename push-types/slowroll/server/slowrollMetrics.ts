import type { Context, Hono } from 'hono';
import { SLOWROLL_LIMITS } from '../../../sdk';
import { listMetricLines, METRIC_HEADERS, type MetricFamily } from '../../metricText';
import { countCohorts, nameCohort, type Cohort } from './cohorts';
import { passHosts } from './countHosts';
import type { HostTrouble } from './hostTroubles';
import type { SlowrollFleet, UnitPlace } from './slowrollFleet';

/**
 * The hosts for Prometheus, in cohorts: `/metrics`, with the label `task` that moving targets need. `/hosts` lists single hosts of a unit, so that a scrape of
 * applications can carry the same label.
 */

export interface SlowrollFigures {
  /** Counts since this process began. */
  readonly counts: {
    readonly manifests: number;
    readonly unchanged: number;
    readonly reports: number;
    readonly refused: number;
  };
}

export function addSlowrollMetrics(app: Hono, fleet: SlowrollFleet, figures: SlowrollFigures): void {
  app.get('/metrics', (c) => c.text(writeFigures(fleet, figures), 200, METRIC_HEADERS));
  app.get('/hosts', (c) => answerHosts(c, fleet));
}

const COHORT_FAMILIES: readonly MetricFamily<Cohort>[] = [
  {
    name: 'conveyor_slowroll_hosts',
    type: 'gauge',
    help: 'hosts whose last decision is this one',
    read: ({ hosts }) => hosts,
  },
  { name: 'conveyor_slowroll_hosts_live', type: 'gauge', help: 'hosts that run its version', read: ({ live }) => live },
  {
    ...{ name: 'conveyor_slowroll_hosts_failed', type: 'gauge', read: ({ failed }) => failed },
    help: 'hosts on which its version did not come up',
  },
  {
    ...{ name: 'conveyor_slowroll_hosts_unreachable', type: 'gauge', read: ({ unreachable }) => unreachable },
    help: 'hosts that are silent',
  },
  {
    ...{ name: 'conveyor_slowroll_hosts_unknown', type: 'gauge', read: ({ unknown }) => unknown },
    help: 'hosts that have not polled since the server began',
  },
];

const TROUBLED: MetricFamily<{ readonly count: number }> = {
  ...{ name: 'conveyor_slowroll_hosts_troubled', type: 'gauge', read: ({ count }) => count },
  help: 'hosts that try again, by cause',
};
const ANSWERS: MetricFamily<readonly [kind: string, count: number]> = {
  ...{ name: 'conveyor_slowroll_answers_total', type: 'counter', read: ([, count]) => count },
  help: 'answers to hosts',
};
const RECORD_BYTES: MetricFamily<number> = {
  ...{ name: 'conveyor_slowroll_record_bytes', type: 'gauge', read: (bytes) => bytes },
  help: 'the memory of the records of all hosts',
};

function writeFigures(fleet: SlowrollFleet, { counts }: SlowrollFigures): string {
  const cohorts = [...fleet.units.values()].flatMap((place) => countCohorts(fleet, place));
  const labelCohort = ({ task, unit, version }: Cohort) => ({ task, unit, version });
  const causes = cohorts.flatMap((cohort) =>
    Object.entries(cohort.causes).map(([cause, count]) => ({ cohort, cause, count })),
  );
  const restarts: MetricFamily<Cohort> = {
    ...{ name: 'conveyor_slowroll_restarts_total', type: 'counter' },
    help: 'starts of its version that no decision caused',
    read: ({ decision }) => decision && fleet.countStarts(decision),
  };
  return `${[
    ...listMetricLines(COHORT_FAMILIES, cohorts, labelCohort),
    ...listMetricLines([TROUBLED], causes, ({ cohort, cause }) => ({ ...labelCohort(cohort), cause })),
    ...listMetricLines([restarts], cohorts, labelCohort),
    ...listMetricLines([ANSWERS], Object.entries(counts), ([kind]) => ({ kind })),
    ...listMetricLines([RECORD_BYTES], [fleet.hosts.bytes], () => ({})),
  ].join('\n')}\n`;
}

/** `GET /hosts?unit=agent/eu&from=0&limit=100[&failed=1|&troubled=1|&silent=1]`: a page of hosts, and where the next one begins. */
function answerHosts(c: Context, fleet: SlowrollFleet): Response {
  const place = fleet.units.get(c.req.query('unit') ?? '');
  if (place === undefined) return c.json({ error: `unit: expected one of ${[...fleet.units.keys()].join(', ')}` }, 400);
  const [from, limit] = [readCount(c.req.query('from'), 0), readCount(c.req.query('limit'), 100)];
  if (from === undefined || limit === undefined || limit < 1 || limit > SLOWROLL_LIMITS.listed.max)
    return c.json({ error: `from, limit: expected numbers, and at most ${SLOWROLL_LIMITS.listed.max} hosts` }, 400);
  return c.json(listHostPage(fleet, place, { from, limit, isWanted: chooseHosts(c) }));
}

const readCount = (text: string | undefined, usual: number): number | undefined =>
  text === undefined ? usual : /^\d{1,9}$/.test(text) ? Number(text) : undefined;

interface HostPage {
  readonly from: number;
  readonly limit: number;
  readonly isWanted: HostChoice;
}

type HostChoice = (failed: number, trouble: HostTrouble | undefined, isSilent: boolean) => boolean;

function chooseHosts(c: Context): HostChoice {
  if (c.req.query('failed') !== undefined) return (failed) => failed !== 0;
  if (c.req.query('troubled') !== undefined) return (_, trouble) => trouble !== undefined;
  if (c.req.query('silent') !== undefined) return (_, __, isSilent) => isSilent;
  return () => true;
}

function listHostPage(fleet: SlowrollFleet, place: UnitPlace, { from, limit, isWanted }: HostPage) {
  const hosts: object[] = [];
  let next: number | null = null;
  passHosts(fleet, place, ({ index, records, current, isSilent }) => {
    const failed = records.failed[index] ?? 0;
    const trouble = fleet.troubles.find(place.packageName, index, records);
    if (index < from || !isWanted(failed, trouble, isSilent)) return;
    if (hosts.length >= limit) {
      next ??= index;
      return;
    }
    hosts.push({
      ...{ host: fleet.hosts.table.nameHost(index), task: nameCohort(place.unit, current) },
      version: fleet.versions.name(records.version[index] ?? 0) || null,
      wanted: current?.version ?? null,
      ...(failed !== 0 && { failed: fleet.versions.name(failed) }),
      ...(trouble && { trouble: { ...trouble, since: new Date(trouble.since).toISOString() } }),
      ...{ silentSeconds: fleet.measureSilence(index) ?? null, labels: fleet.hosts.readLabels(index) },
    });
  });
  return { hosts, next };
}
