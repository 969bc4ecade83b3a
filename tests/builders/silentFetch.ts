import type { Fetch } from '../../sdk/request';

/** A service that never answers, and is left as a real one is: by the signal beside the request (sdk/request.ts). */
export const silentFetch: Fetch = (_request, init) =>
  new Promise((_, reject) => init?.signal.addEventListener('abort', () => reject(new Error('aborted'))));
