import type { Id } from '../../domain/ids';
import type { RequestParts, Route, RouteRow } from '../operations/row';

/** Method, path and query of a question. */
export interface RoutedRequest {
  readonly method: string;
  readonly path: string;
}

/**
 * A route filled with the parts of a request. The id of a run keeps its slashes; in any other part they would change
 * the path.
 */
export function routeRequest(row: Pick<RouteRow, 'route'>, { id, params, query = {} }: RequestParts): RoutedRequest {
  const route: Route = typeof row.route === 'string' ? row.route : row.route[id?.kind ?? 'pipeline'];
  const [method = '', pattern = ''] = route.split(' ');
  const values: RequestParts['params'] = { ...(id && idParams(id)), ...params };
  const path = pattern.replace(/\{(\w+)\}/g, (_all, name: string) => {
    const value = String(values[name]);
    return name === 'run' ? value.split('/').map(encodeURIComponent).join('/') : encodeURIComponent(value);
  });
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)] as [string, string]],
  );
  return { method, path: given.length === 0 ? path : `${path}?${new URLSearchParams(given).toString()}` };
}

/** A pipeline is `{name}` among pipelines and `{pipeline}` among releases. */
const idParams = (id: Id): NonNullable<RequestParts['params']> => ({
  ...{ name: id.pipeline, pipeline: id.pipeline },
  ...(id.kind === 'pipeline' ? {} : { n: id.number }),
  ...(id.kind === 'action' ? { action: id.action } : {}),
});
