import type { Query } from '../../sdk/health';
import type { JudgeResponse } from '../../sdk/health';
import { resolveSource } from '../../sdk/health/sources';
import type { ConfigState } from '../../settings/liveRegistry';
import { configFamilies, Counter, family, Histogram, row } from '../metricsText';

/** The label for names that no source has, so that invented names create no labels. */
const UNKNOWN = 'unknown';

/** The metrics of the Health Check Service itself. */
export class HealthMetrics {
  private readonly verdicts = new Counter('verdict', ['healthy', 'inconclusive', 'errored', 'unhealthy']);
  private readonly times = new Histogram();
  private readonly queries: Counter;
  private readonly failures: Counter;

  constructor(private readonly sources: () => readonly string[]) {
    this.queries = new Counter('source', [...sources(), UNKNOWN]);
    this.failures = new Counter('source', [...sources(), UNKNOWN]);
  }

  recordEvaluation({ units, deploy }: JudgeResponse, seconds: number): void {
    this.times.observe(seconds);
    for (const { verdict } of [...units.flatMap(({ checks }) => checks), ...deploy.checks]) this.verdicts.add(verdict);
  }

  /** Wraps a query to count it under its source; `fallback` is the source of checks that name none. */
  countQueries(query: Query, fallback: string | undefined): Query {
    return async (request, options) => {
      const known = this.sources();
      const name = resolveSource(options.source, fallback, known);
      const source = name !== undefined && known.includes(name) ? name : UNKNOWN;
      this.queries.add(source);
      try {
        return await query(request, options);
      } catch (error) {
        this.failures.add(source);
        throw error;
      }
    };
  }

  text(uptimeMs: number, config: ConfigState | undefined): string {
    return [
      family('conveyor_health_checks_total', 'counter', 'Verdicts of single checks.', this.verdicts.rows()),
      family(
        'conveyor_health_evaluation_duration_seconds',
        'histogram',
        'Duration of one evaluation.',
        this.times.rows(),
      ),
      family('conveyor_health_source_queries_total', 'counter', 'Queries to data sources.', this.queries.rows()),
      family(
        'conveyor_health_source_errors_total',
        'counter',
        'Queries without a complete answer.',
        this.failures.rows(),
      ),
      ...(config === undefined ? [] : configFamilies(config)),
      family('process_resident_memory_bytes', 'gauge', 'Memory of the process.', [row({}, process.memoryUsage.rss())]),
      family('process_uptime_seconds', 'gauge', 'How long the service has been running.', [row({}, uptimeMs / 1000)]),
    ].join('');
  }
}
