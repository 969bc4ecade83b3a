import type { Tailer } from '../../configerator/tailer/tailer';
import type { ConfigState } from '../../settings/liveRegistry';
import { configFamilies, Counter, family, row, type MetricRow } from '../metricsText';

/** The result of an attempt to land; `failed` is retried. */
export type LandingResult = 'landed' | 'refused' | 'failed';

export interface ConfigServiceParts {
  readonly tailers: readonly Pick<Tailer, 'repository' | 'state'>[];
  readonly services: readonly string[];
  /** Why services make no progress. */
  readonly troubles: ReadonlyMap<string, string>;
  /** The number of changes in the landing queue, by repository. */
  readonly waiting: ReadonlyMap<string, number>;
}

/** The metrics of the configuration service. */
export class ConfigServiceMetrics {
  private readonly landings = new Counter('result', ['landed', 'refused', 'failed'] satisfies LandingResult[]);

  countLanding(result: LandingResult): void {
    this.landings.add(result);
  }

  text(
    { tailers, services, troubles, waiting }: ConfigServiceParts,
    nowMs: number,
    uptimeMs: number,
    config?: ConfigState,
  ) {
    const each = (value: (state: Tailer['state']) => number): MetricRow[] =>
      tailers.map(({ repository, state }) => row({ repository }, value(state)));
    const age = ({ caughtUpAtMs: at }: Tailer['state']): number => (at === null ? -1 : (nowMs - at) / 1000);
    return [
      family('conveyor_config_tailer_up', 'gauge', '1 while the store follows the branch.', each(isUp)),
      family(
        'conveyor_config_tailer_age_seconds',
        'gauge',
        'Time since the store was last seen to have all of the branch; -1 if it never was.',
        each(age),
      ),
      family(
        'conveyor_config_tailer_commits_total',
        'counter',
        'Commits written to the store.',
        each(({ applied }) => applied),
      ),
      family(
        'conveyor_config_tailer_failures_total',
        'counter',
        'Failed looks at the branch.',
        each(({ failures }) => failures),
      ),
      family(
        'conveyor_config_store_mended_total',
        'counter',
        'Records of the store that differed from git and the deploys, and were restored.',
        each(({ mended }) => mended),
      ),
      family('conveyor_config_landings_total', 'counter', 'Attempts to land a change.', this.landings.rows()),
      family(
        'conveyor_config_landings_waiting',
        'gauge',
        'Changes in the landing queue.',
        tailers.map(({ repository }) => row({ repository }, waiting.get(repository) ?? 0)),
      ),
      family('conveyor_config_services', 'gauge', 'Services with a deploy.', [row({}, services.length)]),
      family('conveyor_config_services_waiting', 'gauge', 'Services without progress, because something is missing.', [
        row({}, troubles.size),
      ]),
      ...(config === undefined ? [] : configFamilies(config)),
      family('process_resident_memory_bytes', 'gauge', 'Memory of the process.', [row({}, process.memoryUsage.rss())]),
      family('process_uptime_seconds', 'gauge', 'How long the service has been running.', [row({}, uptimeMs / 1000)]),
    ].join('');
  }
}

const isUp = ({ trouble, caughtUpAtMs }: Tailer['state']): number =>
  trouble === null && caughtUpAtMs !== null ? 1 : 0;
