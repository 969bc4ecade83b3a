/** What this process tells Prometheus about itself. Labels come from the code alone, so that their number stays bounded. */

export interface Answered {
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

const BUCKETS = [0.005, 0.025, 0.1, 0.5, 2.5, 10] as const;

type Labels = Readonly<Record<string, string | number>>;

export class Metrics {
  private readonly requests = new Map<string, { readonly labels: Labels; count: number }>();
  private readonly times = new Map<string, { readonly buckets: number[]; sum: number; count: number }>();
  private readonly submissions = new Map<string, number>();

  answered({ method, route, status, seconds }: Answered): void {
    const key = `${method} ${route} ${status}`;
    const counter = this.requests.get(key) ?? { labels: { method, route, status }, count: 0 };
    counter.count += 1;
    this.requests.set(key, counter);
    const time = this.times.get(route) ?? { buckets: BUCKETS.map(() => 0), sum: 0, count: 0 };
    time.sum += seconds;
    time.count += 1;
    BUCKETS.forEach((limit, index) => {
      if (seconds <= limit) time.buckets[index] = (time.buckets[index] ?? 0) + 1;
    });
    this.times.set(route, time);
  }

  /** What became of something that a webhook brought to a pipeline. */
  submitted(result: 'released' | 'duplicate' | 'incomplete' | 'refused'): void {
    this.submissions.set(result, (this.submissions.get(result) ?? 0) + 1);
  }

  text(lanes: readonly Lane[], uptimeMs: number): string {
    const submissions = [...this.submissions].map(([result, count]) => row({ result }, count));
    return [
      family('conveyor_http_requests_total', 'counter', 'Requests by route and status.', this.requestRows()),
      family(
        'conveyor_http_request_duration_seconds',
        'histogram',
        'From the first byte to the answer.',
        this.timeRows(),
      ),
      family('conveyor_http_requests_in_flight', 'gauge', 'Requests that are worked on.', laneRows(lanes, 'inFlight')),
      family('conveyor_http_requests_waiting', 'gauge', 'Requests in line.', laneRows(lanes, 'waiting')),
      family('conveyor_http_requests_rejected_total', 'counter', 'Requests sent away.', laneRows(lanes, 'rejected')),
      family('conveyor_webhook_submissions_total', 'counter', 'What webhooks brought to pipelines.', submissions),
      family('process_resident_memory_bytes', 'gauge', 'Memory that the process holds.', [
        row({}, process.memoryUsage.rss()),
      ]),
      family('process_uptime_seconds', 'gauge', 'How long the server has been running.', [row({}, uptimeMs / 1000)]),
    ].join('');
  }

  private requestRows(): Row[] {
    return [...this.requests.values()].map(({ labels, count }) => row(labels, count));
  }

  private timeRows(): Row[] {
    return [...this.times].flatMap(([route, { buckets, sum, count }]) => [
      ...BUCKETS.map((le, index) => row({ route, le }, buckets[index] ?? 0, '_bucket')),
      row({ route, le: '+Inf' }, count, '_bucket'),
      row({ route }, sum, '_sum'),
      row({ route }, count, '_count'),
    ]);
  }
}

interface Row {
  readonly labels: Labels;
  readonly value: number;
  readonly suffix: string;
}

const row = (labels: Labels, value: number, suffix = ''): Row => ({ labels, value, suffix });

const laneRows = (lanes: readonly Lane[], count: 'inFlight' | 'waiting' | 'rejected'): Row[] =>
  lanes.map((lane) => row({ lane: lane.name }, lane[count]));

/** One metric in the text format of Prometheus. */
function family(name: string, type: string, help: string, rows: readonly Row[]): string {
  const lines = rows.map(({ labels, value, suffix }) => `${name}${suffix}${labelText(labels)} ${value}`);
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...lines, ''].join('\n');
}

function labelText(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escape(String(value))}"`);
  return pairs.length > 0 ? `{${pairs.join(',')}}` : '';
}

const escape = (text: string): string => text.replace(/\\/g, '\\\\').replace(/"/g, '\\"').replace(/\n/g, '\\n');
