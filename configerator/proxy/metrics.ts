import type { ConfigProxy } from './proxy';

type Health = ReturnType<ConfigProxy['health']>;

/** In the text format of Prometheus. */
export function formatMetrics(health: Health, watchers: number): string {
  const { paths, unconfirmed, refused, verified, age, applied, store, diskTrouble, acknowledgeTrouble } = health;
  return [
    ...metric('paths', 'gauge', 'Paths that this host follows.', paths),
    ...metric('watchers', 'gauge', 'Applications that hold a stream open.', watchers),
    ...metric(
      'age_seconds',
      'gauge',
      'Seconds since the store confirmed the values last; -1 if it never did.',
      age ?? -1,
    ),
    ...metric('unconfirmed_paths', 'gauge', 'Paths not yet confirmed by the store since the start.', unconfirmed),
    ...metric('refused_paths', 'gauge', 'Paths whose value an application refuses.', refused),
    ...metric('changes_total', 'counter', 'Changes that applications could see.', applied),
    ...metric('store_up', 'gauge', 'Whether the store answers.', store === 'here' ? 1 : 0),
    ...metric('acknowledged', 'gauge', 'Whether the store accepts acknowledgements.', acknowledgeTrouble ? 0 : 1),
    ...metric('verified', 'gauge', 'Whether only values signed by a trusted key are accepted.', verified ? 1 : 0),
    ...metric('disk_up', 'gauge', 'Whether the cache can be written.', diskTrouble === undefined ? 1 : 0),
    '',
  ].join('\n');
}

const metric = (name: string, type: string, help: string, value: number): string[] => [
  `# HELP conveyor_config_proxy_${name} ${help}`,
  `# TYPE conveyor_config_proxy_${name} ${type}`,
  `conveyor_config_proxy_${name} ${value}`,
];
