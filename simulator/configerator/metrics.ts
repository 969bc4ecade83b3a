import type { Series } from '../../sdk/protocol/dataSource';
import { ExtensionError } from '../../sdk/server';
import type { MetricWorld, MetricName } from '../metrics/series';
import type { BehaviourContext } from './behaviours';
import type { Configerator } from './configerator';
import { formatHostName } from './lookups';
import { identifierAt } from './subscribers';

/** ms since the epoch; a point at each multiple of the step. */
interface Grid {
  readonly start: number;
  readonly end: number;
  readonly step: number;
}

export type MeasuredValue = (metric: MetricName, acted: Omit<BehaviourContext, 'version'>) => number | undefined;

/** Units of the push type `config` have a colon; no job has one. */
export const isSubscriberUnit = (unit: string): boolean => unit.includes(':');

/**
 * Series of subscribers, each named by its host and the version that it had. A series has points only while its host had that version.
 *
 * @param valueOf of a host at a time; undefined while its application does not run
 */
export function subscriberSeries(
  { configerator: it }: Pick<MetricWorld, 'configerator'>,
  metric: MetricName,
  identifiers: readonly string[] | undefined,
  grid: Grid,
  valueOf: MeasuredValue,
): Series[] {
  if (identifiers === undefined)
    throw new ExtensionError('invalid-request', 'selector.tasks: expected the subscribers, by host and revision');
  const byPrefix = prefixes(it);
  return identifiers.flatMap((task) => {
    const points = hostsCalled(it, byPrefix, task).flatMap((host) =>
      sampleHostPoints(it, { host, task, metric }, grid, valueOf),
    );
    return points.length > 0 ? [{ labels: { task }, points: points.sort((a, b) => a[0] - b[0]) }] : [];
  });
}

function sampleHostPoints(
  it: Configerator,
  { host, task, metric }: { readonly host: number; readonly task: string; readonly metric: MetricName },
  { start, end, step }: Grid,
  valueOf: MeasuredValue,
): [number, number][] {
  const points: [number, number][] = [];
  for (let k = Math.floor(start / step) + 1; k <= Math.floor(end / step); k += 1) {
    const at = k * step;
    const value = identifierAt(it, host, at - 1) === task ? valueOf(metric, { host, at }) : undefined;
    if (value !== undefined) points.push([at, value]);
  }
  return points;
}

type Prefixes = ReadonlyMap<string, readonly (readonly number[])[]>;

/** Hosts by slot, by the prefix of their names. */
function prefixes({ state }: Configerator): Prefixes {
  const found = new Map<string, (readonly number[])[]>();
  for (const { name, job, hosts } of state.groups) {
    const prefix = job === null ? `${name}-` : `${job}/`;
    found.set(prefix, [...(found.get(prefix) ?? []), hosts]);
  }
  return found;
}

function hostsCalled(it: Configerator, byPrefix: Prefixes, identifier: string): number[] {
  const name = identifier.slice(0, Math.max(0, identifier.indexOf('@')));
  const [, prefix = '', slot = ''] = /^(.*[-/])(\d+)$/.exec(name) ?? [];
  return (byPrefix.get(prefix) ?? []).flatMap((hosts) => {
    const host = hosts[Number(slot)];
    return host !== undefined && formatHostName(it, host) === name ? [host] : [];
  });
}
