import { conveyorError, type ConveyorError } from '../../../domain/errors';
import { BUG_LIMITS } from '../../../domain/limits';
import { formatBytes } from '../../../domain/size';
import { NoAnswer, sendRequest, type Fetch } from '../../../sdk/request';
import type { ExtensionRef } from '../../../settings/extensions';

type SbomDownload = { readonly text: string } | { readonly refused: string } | 'missing';

/**
 * The text of an SBOM at a path below the URL of its store, up to a maximum size. One request with a deadline, without
 * redirects or retries.
 * @throws ConveyorError `extension-unavailable` (network, deadline, 408, 429, 5xx)
 */
export async function downloadSbom(send: Fetch | undefined, store: ExtensionRef, path: string): Promise<SbomDownload> {
  const { name: service, url, token, timeoutMs } = store;
  const headers = { accept: 'application/json', ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) };
  const maxBytes = BUG_LIMITS.sbom.max;
  const unavailable = (detail: string): ConveyorError =>
    conveyorError('extension-unavailable', { service, method: `GET ${path}`, detail });
  const answer = await sendRequest(`${url}/${path}`, { headers }, { fetch: send, timeoutMs, maxBytes }).catch(
    (error: unknown) => {
      throw error instanceof NoAnswer ? unavailable(error.message) : error;
    },
  );
  const { status, ok, text } = answer;
  if (status === 404) return 'missing';
  if (status === 408 || status === 429 || status >= 500) throw unavailable(`it answers ${status}`);
  if (!ok) return { refused: `${service} answers ${status}` };
  return text === undefined ? { refused: `it is larger than ${formatBytes(maxBytes)}` } : { text };
}
