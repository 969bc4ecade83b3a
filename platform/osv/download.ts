import { ConveyorError, conveyorError } from '../../domain/errors';
import { BUG_LIMITS } from '../../domain/limits';
import { rootCause } from '../../domain/rootCause';
import { formatBytes } from '../../domain/size';
import { textUpTo } from '../../sdk/bodyLimit';
import type { Fetch } from '../../sdk/client';
import type { ExtensionRef } from '../extensions';

type SbomDownload = { readonly text: string } | { readonly refused: string } | 'missing';

/**
 * The text of an SBOM, at a path below the URL of its store, as far as it may be large. One request with a deadline, that follows no redirect; no retries.
 * @throws ConveyorError `extension-unavailable` (network, deadline, 408, 429, 5xx)
 */
export async function downloadSbom(send: Fetch | undefined, store: ExtensionRef, path: string): Promise<SbomDownload> {
  const { name: service, url, token, timeoutMs } = store;
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(), timeoutMs);
  const { signal } = deadline;
  const headers = { accept: 'application/json', ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) };
  const unavailable = (detail: string): ConveyorError =>
    conveyorError('extension-unavailable', { service, method: `GET ${path}`, detail });
  try {
    const response = await (send ?? fetch)(new Request(`${url}/${path}`, { redirect: 'manual', signal, headers }), {
      signal,
    });
    const { status, ok } = response;
    if (status === 404) return 'missing';
    if (status === 408 || status === 429 || status >= 500) throw unavailable(`it answers ${status}`);
    if (!ok) return { refused: `${service} answers ${status}` };
    const text = await textUpTo(response, BUG_LIMITS.sbom.max);
    return text === undefined ? { refused: `it is larger than ${formatBytes(BUG_LIMITS.sbom.max)}` } : { text };
  } catch (error) {
    if (error instanceof ConveyorError) throw error;
    throw unavailable(signal.aborted ? `no answer within ${timeoutMs} ms` : rootCause(error));
  } finally {
    clearTimeout(timer);
  }
}
