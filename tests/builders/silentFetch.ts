import type { Fetch } from '../../sdk/request';

/** A service that never answers; as with a real one, only the separate signal ends the call (sdk/request.ts). */
export const silentFetch: Fetch = (_request, init) =>
  new Promise((_, reject) => init?.signal.addEventListener('abort', () => reject(new Error('aborted'))));
