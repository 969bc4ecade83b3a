import type { Context, Hono } from 'hono';
import { SLOWROLL_LIMITS } from '../../../sdk';
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
  app.get('/metrics', (c) =>
    c.text(writeFigures(fleet, figures), 200, { 'content-type': 'text/plain; version=0.0.4' }),
  );
  app.get('/hosts', (c) => answerHosts(c, fleet));
}

const COHORT_FAMILIES: readonly [name: string, help: string, value: (cohort: Cohort) => number][] = [
  ['conveyor_slowroll_hosts', 'hosts whose last decision is this one', ({ hosts }) => hosts],
  ['conveyor_slowroll_hosts_live', 'hosts that run its version', ({ live }) => live],
  ['conveyor_slowroll_hosts_failed', 'hosts on which its version did not come up', ({ failed }) => failed],
  ['conveyor_slowroll_hosts_unreachable', 'hosts that are silent', ({ unreachable }) => unreachable],
  ['conveyor_slowroll_hosts_unknown', 'hosts that have not polled since the server began', ({ unknown }) => unknown],
];

function writeFigures(fleet: SlowrollFleet, { counts }: SlowrollFigures): string {
  const cohorts = [...fleet.units.values()].flatMap((place) => countCohorts(fleet, place));
  const families = COHORT_FAMILIES.flatMap(([name, help, value]) => [
    ...describeFamily(name, help, 'gauge'),
    ...cohorts.map((cohort) => `${name}${writeCohortLabels(cohort)} ${value(cohort)}`),
  ]);
  const starts = cohorts.flatMap((cohort) =>
    cohort.decision === undefined
      ? []
      : [`conveyor_slowroll_restarts_total${writeCohortLabels(cohort)} ${fleet.countStarts(cohort.decision)}`],
  );
  return `${[
    ...families,
    ...describeFamily('conveyor_slowroll_hosts_troubled', 'hosts that try again, by cause', 'gauge'),
    ...cohorts.flatMap((cohort) =>
      Object.entries(cohort.causes).map(
        ([cause, count]) => `conveyor_slowroll_hosts_troubled${writeCohortLabels(cohort, { cause })} ${count}`,
      ),
    ),
    ...describeFamily('conveyor_slowroll_restarts_total', 'starts of its version that no decision caused', 'counter'),
    ...starts,
    ...describeFamily('conveyor_slowroll_answers_total', 'answers to hosts', 'counter'),
    ...Object.entries(counts).map(([kind, count]) => `conveyor_slowroll_answers_total{kind="${kind}"} ${count}`),
    ...describeFamily('conveyor_slowroll_record_bytes', 'the memory of the records of all hosts', 'gauge'),
    `conveyor_slowroll_record_bytes ${fleet.hosts.bytes}`,
  ].join('\n')}\n`;
}

const describeFamily = (name: string, help: string, type: string): string[] => [
  `# HELP ${name} ${help}`,
  `# TYPE ${name} ${type}`,
];

const writeCohortLabels = ({ task, unit, version }: Cohort, more: Readonly<Record<string, string>> = {}): string =>
  `{${Object.entries({ task, unit, version, ...more })
    .map(([key, value]) => `${key}="${value.replace(/[\\"]/g, '\\$&').replaceAll('\n', ' ')}"`)
    .join(',')}}`;

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
