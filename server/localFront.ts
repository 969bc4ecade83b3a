import { localNamesOnly, localOnly } from '../sdk/localOnly';

type FrontHandler = Parameters<typeof localOnly<readonly [unknown?]>>[0];

/**
 * Guards a server whose callers name themselves. Its API takes no body that a page could send; its own pages have forms,
 * which their sessions guard (server/sessions/viewer.ts).
 */
export function localFront(answer: FrontHandler): FrontHandler {
  const [api, pages] = [localOnly(answer), localNamesOnly(answer)];
  return (request, ...rest) => (new URL(request.url).pathname.startsWith('/v1/') ? api : pages)(request, ...rest);
}
