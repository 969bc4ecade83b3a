import type { ConfigState } from '../settings/liveRegistry';

/** Numbers in the text format of Prometheus. Labels come from the code and the configuration, so that their number stays bounded. */

export type Labels = Readonly<Record<string, string | number>>;

export interface MetricRow {
  readonly labels: Labels;
  readonly value: number;
  readonly suffix: string;
}

export const row = (labels: Labels, value: number, suffix = ''): MetricRow => ({ labels, value, suffix });

/** One metric. */
export function family(name: string, type: string, help: string, rows: readonly MetricRow[]): string {
  const lines = rows.map(({ labels, value, suffix }) => `${name}${suffix}${labelText(labels)} ${value}`);
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...lines, ''].join('\n');
}

/** Metrics of the configuration file, for every process that follows it. */
export const configFamilies = ({ problem, readAtMs }: ConfigState): string[] => [
  family('conveyor_config_invalid', 'gauge', 'Whether the present conveyor.config.yaml is invalid and not in use.', [
    row({}, problem === null ? 0 : 1),
  ]),
  family('conveyor_config_read_timestamp_seconds', 'gauge', 'When the configuration in use was read.', [
    row({}, readAtMs / 1000),
  ]),
];

export const METRICS_TYPE = { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' } as const;

/** Counts events by one label. */
export class Counter {
  private readonly counts: Map<string, number>;

  /** `known` values exist from the start, so that a rate includes the first event. */
  constructor(
    private readonly label: string,
    known: readonly string[] = [],
  ) {
    this.counts = new Map(known.map((value) => [value, 0]));
  }

  add(value: string): void {
    this.counts.set(value, (this.counts.get(value) ?? 0) + 1);
  }

  rows(): MetricRow[] {
    return [...this.counts].map(([value, count]) => row({ [this.label]: value }, count));
  }
}

const BUCKETS = [0.005, 0.025, 0.1, 0.5, 2.5, 10] as const;

/** A histogram of durations in seconds. */
export class Histogram {
  private readonly buckets = BUCKETS.map(() => 0);
  private sum = 0;
  private count = 0;

  observe(seconds: number): void {
    this.sum += seconds;
    this.count += 1;
    BUCKETS.forEach((limit, index) => {
      if (seconds <= limit) this.buckets[index] = (this.buckets[index] ?? 0) + 1;
    });
  }

  rows(labels: Labels = {}): MetricRow[] {
    return [
      ...BUCKETS.map((le, index) => row({ ...labels, le }, this.buckets[index] ?? 0, '_bucket')),
      row({ ...labels, le: '+Inf' }, this.count, '_bucket'),
      row(labels, this.sum, '_sum'),
      row(labels, this.count, '_count'),
    ];
  }
}

function labelText(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escape(String(value))}"`);
  return pairs.length > 0 ? `{${pairs.join(',')}}` : '';
}

const escape = (text: string): string => text.replace(/\\/g, '\\\\').replace(/"/g, '\\"').replace(/\n/g, '\\n');
