import { basename } from 'node:path';
import { textUpTo } from './bodyLimit';
import { sendRequest } from './request';

const DEFAULT_URL = 'http://127.0.0.1:4700';

/** The URL of this host's proxy, without a slash at the end. */
export const proxyUrl = (url?: string): string =>
  (url ?? (process.env['CONVEYOR_CONFIG_PROXY'] || DEFAULT_URL)).replace(/\/+$/, '');

/** The name of this program at its proxy. */
export const appName = (app?: string): string =>
  ((app ?? basename(process.argv[1] ?? '')) || 'node').slice(0, MOST_APP);

/** Sends a report to the proxy; no caller waits for it. A report that fails now is sent again later. */
export function reportTo(fetchIt: typeof fetch, address: string, body: object): void {
  const init = { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
  sendRequest(address, init, { fetch: fetchIt, timeoutMs: REPORT_MS, maxBytes: 0 }).catch(() => undefined);
}

/** Why an answer is unusable, cut to a readable length. */
export const badAnswer = async (response: Response): Promise<string> =>
  `HTTP status ${response.status}: ${(await textUpTo(response, MOST_WORDS)) ?? 'a long text'}`;

const MOST_WORDS = 10_000;
const REPORT_MS = 5000;

/** The longest name of an application. */
const MOST_APP = 128;

/** The longest reason of a refusal. */
export const MOST_REASON = 1000;
