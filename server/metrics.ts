import type { OpenCount, QueueBacklog } from '../domain/metrics';
import type { FinderView } from '../domain/views';
import type { ConfigState } from '../settings/liveRegistry';
import type { AuditState } from './audit/audit';
import { STREAM_ENDS, type StreamEnd } from './pages/streams';
import type { ServerPart } from './readiness';
import { configFamilies, Counter, family, Histogram, row, type Labels, type MetricRow } from './metricsText';

export interface AnsweredRequest {
  readonly method: string;
  /** The pattern, `/v1/pipelines/:name`, never the path. */
  readonly route: string;
  readonly status: number;
  readonly seconds: number;
}

export interface Lane {
  readonly name: string;
  readonly inFlight: number;
  readonly waiting: number;
  readonly rejected: number;
}

interface ServerFacts {
  /** The share of pipelines that deployed within a week; null if none ever did, or if unknown. */
  readonly weekly: number | null;
  /** Empty if unknown. */
  readonly open: readonly OpenCount[];
  /** Empty if unknown. */
  readonly backlogs: readonly QueueBacklog[];
  readonly ready: readonly ServerPart[];
  /** Certificates by purpose; empty if unknown. */
  readonly certificates: readonly { readonly use: string; readonly isEnding: boolean }[];
  /** Pages that are kept up to date in a browser. */
  readonly streams: number;
  readonly uptimeMs: number;
  /** Missing if there is none. */
  readonly audit?: AuditState;
  readonly config?: ConfigState;
}

/** `event`: an unsupported kind; `nothing`: nothing new, such as a tag; `nobody`: no pipeline subscribes to it; `unreadable`: refused. */
export type IgnoredWhy = 'event' | 'nothing' | 'nobody' | 'unreadable';

/** The metrics of this process, and whether the finders answer. */
export class Metrics {
  private readonly requests = new Map<string, { readonly labels: Labels; count: number }>();
  private readonly times = new Map<string, Histogram>();
  private readonly submissions = new Counter('result');
  private readonly beyond = new Counter('source');
  private readonly ignored = new Counter('why', ['event', 'nothing', 'nobody', 'unreadable']);
  private readonly streamEnds = new Counter('why', STREAM_ENDS);

  countAnswer({ method, route, status, seconds }: AnsweredRequest): void {
    const key = `${method} ${route} ${status}`;
    const counter = this.requests.get(key) ?? { labels: { method, route, status }, count: 0 };
    counter.count += 1;
    this.requests.set(key, counter);
    const time = this.times.get(route) ?? new Histogram();
    time.observe(seconds);
    this.times.set(route, time);
  }

  /** Counts the result of a webhook's submission to a pipeline. */
  countSubmission(result: 'released' | 'duplicate' | 'incomplete' | 'refused'): void {
    this.submissions.add(result);
  }

  /** Counts a delivery outside the scope of its webhook source. */
  countOutOfScope(source: string): void {
    this.beyond.add(source);
  }

  /** Counts a valid delivery that started nothing. Its source is at fault only for `unreadable`. */
  countIgnored(why: IgnoredWhy): void {
    this.ignored.add(why);
  }

  /** Counts a stream of a page that has ended. */
  countStreamEnd(why: StreamEnd): void {
    this.streamEnds.add(why);
  }

  text(
    lanes: readonly Lane[],
    finders: readonly FinderView[],
    { uptimeMs, audit, config, weekly, open, backlogs, ready, certificates, streams }: ServerFacts,
  ): string {
    return [
      family('conveyor_http_requests_total', 'counter', 'Requests by route and status.', this.requestRows()),
      family(
        'conveyor_http_request_duration_seconds',
        'histogram',
        'From the first byte to the answer.',
        this.timeRows(),
      ),
      family('conveyor_http_requests_in_flight', 'gauge', 'Requests in progress.', laneRows(lanes, 'inFlight')),
      family('conveyor_http_requests_waiting', 'gauge', 'Requests in line.', laneRows(lanes, 'waiting')),
      family('conveyor_http_requests_rejected_total', 'counter', 'Requests refused.', laneRows(lanes, 'rejected')),
      family(
        'conveyor_webhook_submissions_total',
        'counter',
        'Webhook deliveries, by their effect on pipelines.',
        this.submissions.rows(),
      ),
      family(
        'conveyor_webhook_out_of_scope_total',
        'counter',
        'Deliveries outside the scope of their source.',
        this.beyond.rows(),
      ),
      family(
        'conveyor_webhook_ignored_total',
        'counter',
        'Deliveries that reached no pipeline: another event, nothing new, no subscription, or unreadable.',
        this.ignored.rows(),
      ),
      ...streamFamilies(streams, this.streamEnds),
      family(
        'conveyor_ready',
        'gauge',
        'Whether all dependencies of requests are available, as in /readyz.',
        ready.map(({ name, ok }) => row({ check: name }, ok ? 1 : 0)),
      ),
      family(
        'conveyor_certificate_ending',
        'gauge',
        'Whether a certificate of this server ends soon, has ended, or cannot be used.',
        certificates.map(({ use, isEnding }) => row({ certificate: use }, isEnding ? 1 : 0)),
      ),
      ...openFamilies(open),
      ...backlogFamilies(backlogs),
      family(
        'conveyor_finder_failing',
        'gauge',
        'Whether a finder does not answer.',
        finders.map(({ id, state }) => row({ finder: id }, state === 'failing' ? 1 : 0)),
      ),
      family(
        'conveyor_pipelines_deployed_weekly_ratio',
        'gauge',
        'Share of the pipelines with a deploy whose last one is at most a week old.',
        weekly === null ? [] : [row({}, weekly)],
      ),
      ...(audit === undefined ? [] : auditFamilies(audit)),
      ...(config === undefined ? [] : configFamilies(config)),
      family('process_resident_memory_bytes', 'gauge', 'Memory of the process.', [row({}, process.memoryUsage.rss())]),
      family('process_uptime_seconds', 'gauge', 'How long the server has been running.', [row({}, uptimeMs / 1000)]),
    ].join('');
  }

  private requestRows(): MetricRow[] {
    return [...this.requests.values()].map(({ labels, count }) => row(labels, count));
  }

  private timeRows(): MetricRow[] {
    return [...this.times].flatMap(([route, time]) => time.rows({ route }));
  }
}

const streamFamilies = (open: number, ends: Counter): string[] => [
  family('conveyor_page_streams', 'gauge', 'Open pages that are kept up to date.', [row({}, open)]),
  family('conveyor_page_streams_ended_total', 'counter', 'Streams of pages that ended, by the reason.', ends.rows()),
];

const openFamilies = (open: readonly OpenCount[]): string[] => {
  const of = (kind: OpenCount['kind']): MetricRow[] =>
    open.filter((one) => one.kind === kind).map(({ state, count }) => row(kind === 'pipeline' ? {} : { state }, count));
  return [
    family('conveyor_pipelines', 'gauge', 'Applied pipelines.', of('pipeline')),
    family('conveyor_releases', 'gauge', 'Releases that run, by state.', of('release')),
    family('conveyor_deploys', 'gauge', 'Deploys that run, by state.', of('deploy')),
  ];
};

const backlogFamilies = (backlogs: readonly QueueBacklog[]): string[] => {
  const rows = (value: (one: QueueBacklog) => number): MetricRow[] =>
    backlogs.map((one) => {
      const { queue, kind, build } = one;
      return row({ queue, kind, ...(build === '' ? {} : { build }) }, value(one));
    });
  return [
    family(
      'conveyor_task_queue_backlog',
      'gauge',
      'Tasks that wait for a worker.',
      rows(({ tasks }) => tasks),
    ),
    family(
      'conveyor_task_queue_backlog_age_seconds',
      'gauge',
      'How long the oldest of them has waited.',
      rows(({ ageMs }) => ageMs / 1000),
    ),
  ];
};

const secondsRow = (ms: number): MetricRow[] => [row({}, ms / 1000)];

function auditFamilies({ unwritten, waiting, lagMs, lost, events }: AuditState): string[] {
  const one = (name: string, type: string, help: string, rows: readonly MetricRow[]) =>
    family(`conveyor_audit_${name}`, type, help, rows);
  return [
    one('unwritten_total', 'counter', 'Records that could not be written at once.', [row({}, unwritten)]),
    one('waiting', 'gauge', 'Records that wait for the disk.', [row({}, waiting)]),
    one('lag_seconds', 'gauge', 'How long the oldest of them has waited.', secondsRow(lagMs)),
    one('lost_total', 'counter', 'Records lost for lack of room.', [row({}, lost)]),
    ...(events === null
      ? []
      : [
          one(
            'events_lag_seconds',
            'gauge',
            'Age of the next record to deliver; 0 if all are delivered.',
            secondsRow(events.lagMs),
          ),
          one('events_failed_total', 'counter', 'Failed deliveries to the receiver.', [row({}, events.failures)]),
        ]),
  ];
}

const laneRows = (lanes: readonly Lane[], count: 'inFlight' | 'waiting' | 'rejected'): MetricRow[] =>
  lanes.map((lane) => row({ lane: lane.name }, lane[count]));
