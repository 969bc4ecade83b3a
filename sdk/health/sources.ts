import { callExtension, type ServiceEndpoint } from '../client';
import type { Fetch } from '../request';
import type { CallContext } from '../protocol/common';
import { dataSourceProtocol } from '../protocol/dataSource';
import { prometheusQuery } from './prometheus';
import type { Query } from './sides';

/** A data source of the platform's settings: it speaks the protocol, or is a Prometheus. */
export interface SourceRef extends ServiceEndpoint {
  /** Set if it is a Prometheus, which does not speak the protocol itself: its labels for tasks and units. */
  readonly prometheus?: { readonly taskLabel?: string | undefined; readonly unitLabel?: string | undefined };
}

/** A query on behalf of a caller. Checks that name no source use `fallback`, or the only source. */
export type SourcesQuery = (context: CallContext, fallback: string | undefined) => Query;

/** Queries each check's data source by its name. An unknown name rejects with the list of known ones. */
export function sourcesQuery(sources: readonly SourceRef[], viaFetch?: Fetch): SourcesQuery {
  const asks = new Map(sources.map((source) => [source.name, queryOfSource(source, viaFetch)]));
  const known = sources.map(({ name }) => name);
  const names = known.join(', ') || 'none';
  return (context, fallback) => (request, options) => {
    const name = resolveSource(options.source, fallback, known);
    if (name === undefined) return Promise.reject(new Error(`the check names no data source; there are ${names}`));
    const ask = asks.get(name);
    if (ask === undefined) return Promise.reject(new Error(`there is no data source ${name}; there are ${names}`));
    return ask(context)(request, options);
  };
}

/** The source of a check: the one that it names, else `fallback`, else the only one. */
export const resolveSource = (
  named: string | undefined,
  fallback: string | undefined,
  known: readonly string[],
): string | undefined => named ?? fallback ?? (known.length === 1 ? known[0] : undefined);

function queryOfSource(source: SourceRef, viaFetch: Fetch | undefined): (context: CallContext) => Query {
  if (source.prometheus) {
    const { taskLabel, unitLabel } = source.prometheus;
    const query = prometheusQuery({
      ...{ url: source.url, timeoutMs: source.timeoutMs },
      ...(source.token === undefined ? {} : { token: source.token }),
      ...(taskLabel === undefined ? {} : { taskLabel }),
      ...(unitLabel === undefined ? {} : { unitLabel }),
    });
    return () => query;
  }
  const call = { service: source, protocol: dataSourceProtocol, method: 'query' } as const;
  const via = viaFetch === undefined ? {} : { fetch: viaFetch };
  return (context) =>
    (request, { signal }) =>
      callExtension({ ...call, ...via, request, context, signal });
}
