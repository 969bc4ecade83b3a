import { sendRequest } from '../../sdk/request';
import type { ServerDeps } from '../deps';

const MAX_ANSWER_BYTES = 262_144;

export type SlackFetch = Pick<ServerDeps, 'slackFetch'>;

interface SlackCall {
  /** `users.info` */
  readonly method: string;
  readonly token: string;
  readonly query?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: object;
  readonly timeoutMs: number;
}

/** Calls a method of Slack's Web API. @returns the answer, if it came in time and Slack says that it is `ok` */
export async function callSlack(
  { slackFetch }: SlackFetch,
  { method, token, query, body, timeoutMs }: SlackCall,
): Promise<object | undefined> {
  const url = new URL(`https://slack.com/api/${method}`);
  if (query !== undefined) url.search = new URLSearchParams(query).toString();
  const request = new Request(url, {
    headers: {
      authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json; charset=utf-8' }),
    },
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
  });
  const options = { timeoutMs, maxBytes: MAX_ANSWER_BYTES, ...(slackFetch ? { fetch: slackFetch } : {}) };
  const answer = await sendRequest(request, {}, options).catch(() => undefined);
  return parseOk(answer?.text);
}

/** Slack answers with status 200, whatever has happened. */
function parseOk(text = ''): object | undefined {
  try {
    const answer = JSON.parse(text) as { readonly ok?: unknown } | null;
    return answer?.ok === true ? answer : undefined;
  } catch {
    return undefined;
  }
}
