import type { ConveyorClient } from '../api';
import { CLIENT_OPERATIONS } from '../operations';
import { SERVER_QUESTIONS, type ServerQuestions } from '../operations/questions';
import { clientFromRows, type Operations, type RequestParts, type RouteRow } from '../operations/row';
import { serverReadiness } from './readiness';
import { askServer, type HttpOptions } from './send';

export type { HttpOptions } from './send';

/**
 * All operations, through `conveyor server`. The actor is the owner of the token; a given `actor` is ignored. It
 * connects on its first request.
 */
export const createHttpClient = (options: HttpOptions): ConveyorClient => ({
  ...throughServer<Operations>(CLIENT_OPERATIONS, options),
  readiness: () => serverReadiness(options),
  close: () => Promise.resolve(),
});

/**
 * Sends questions that only a server answers. @throws ConveyorError `server-unreachable`, and errors from the server
 */
export const askAt = (options: HttpOptions): ServerQuestions =>
  throughServer<ServerQuestions>(SERVER_QUESTIONS, options);

/**
 * A client that sends each call to a server, according to its row. @param params parts of the path that all rows share
 */
export function throughServer<Client extends object>(
  rows: Readonly<Record<keyof Client, RouteRow>>,
  options: HttpOptions,
  params: RequestParts['params'] = {},
): Client {
  return clientFromRows<Client, RouteRow>(rows, (row) => async (...args) => {
    const parts = row.request?.(...args) ?? {};
    const body = await askServer(options, row, { ...parts, params: { ...params, ...parts.params } });
    return row.answer === undefined ? body : row.answer(body, ...args);
  });
}
