import { isLoopback } from '../domain/loopback';

/** Answers a request, as `app.fetch` of Hono does. */
type FetchHandler<A extends readonly unknown[]> = (request: Request, ...rest: A) => Response | Promise<Response>;

/**
 * Protects a server without tokens that listens only on this machine: the web pages that a person visits can reach it too. It refuses host names that
 * do not belong to this machine (403; a page may resolve its own name to 127.0.0.1), pages of other origins (403), and bodies that are not
 * `application/json` (415), the only ones that a page may send without a preflight. `serve({ fetch: localOnly(app.fetch), … })`.
 */
export const localOnly =
  <A extends readonly unknown[]>(answer: FetchHandler<A>): FetchHandler<A> =>
  (request, ...rest) =>
    refuseForeignRequest(request) ?? refuseNonJsonBody(request) ?? answer(request, ...rest);

/** The same for a server that only answers questions, with bodies of any type: a page of another origin cannot read the answer. */
export const localNamesOnly =
  <A extends readonly unknown[]>(answer: FetchHandler<A>): FetchHandler<A> =>
  (request, ...rest) =>
    refuseForeignRequest(request) ?? answer(request, ...rest);

function refuseForeignRequest({ headers }: Request): Response | undefined {
  const host = headers.get('host') ?? '';
  if (!isLocalName(host)) return refusalResponse(403, 'not-local', `${host || 'it'} is not a name of this machine`);
  const origin = headers.get('origin');
  if (origin !== null && origin !== `http://${host}`)
    return refusalResponse(403, 'not-local', `pages of ${origin} may not call it`);
  return undefined;
}

function refuseNonJsonBody({ headers }: Request): Response | undefined {
  const hasBody = headers.has('transfer-encoding') || Number(headers.get('content-length') ?? 0) > 0;
  if (!hasBody || /^application\/json *(;|$)/i.test(headers.get('content-type') ?? '')) return undefined;
  return refusalResponse(415, 'not-json', 'the body has to be application/json');
}

/**
 * Whether a `Host`, with or without a port, means this machine: a page may resolve its own name to 127.0.0.1, but not
 * these. Browsers resolve every name below `localhost` to this machine.
 */
export function isLocalName(host: string): boolean {
  const name = host.replace(/:\d+$/, '');
  return isLoopback(name) || /^.+\.localhost$/i.test(name);
}

const refusalResponse = (status: number, code: string, message: string): Response =>
  Response.json({ error: { code, message, retryable: false } }, { status });
