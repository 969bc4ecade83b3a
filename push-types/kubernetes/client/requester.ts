import type { IncomingMessage } from 'node:http';
import { isKubernetesError, KubernetesError, readFailure, type RequestWords } from './errors';
import { CLIENT_LIMITS, type ClientSettings } from './limits';
import type { RequestPace, RequestUrgency } from './limiter';
import { statusSchema } from './objects';
import type { Outgoing, Transport } from './transport';

/** Requests of Kubernetes: at the pace of the client, with the waits that the server wants, and failures as KubernetesError. */
export interface KubernetesRequester {
  readonly cluster: string;
  /** The JSON of the answer. Repeats what the server postponed (429, 503 with `Retry-After`), and once after refused credentials. */
  send(words: RequestWords, outgoing: Outgoing, options?: SendOptions): Promise<unknown>;
  /** The body of an answer that does not end, such as a watch. */
  open(words: RequestWords, outgoing: Outgoing): Promise<IncomingMessage>;
}

interface SendOptions {
  readonly repeats?: boolean;
  /** Default: what changes the cluster overtakes what only looks. */
  readonly urgency?: RequestUrgency;
}

interface RequesterOptions {
  readonly transport: Transport;
  readonly pace: RequestPace;
  readonly settings: ClientSettings;
  readonly cluster: string;
  readonly sleep: (ms: number) => Promise<void>;
  readonly random: () => number;
}

/** Answers that are no JSON, such as the page of a proxy, are quoted so far. */
const EXCERPT = 200;

export function createRequester(options: RequesterOptions): KubernetesRequester {
  const { transport, pace, settings, cluster, sleep, random } = options;
  const sendOnce = async (words: RequestWords, outgoing: Outgoing): Promise<unknown> => {
    const limits = { timeoutMs: settings.requestMs, mostBytes: settings.answerBytes };
    const { status, retryAfter, text } = await transport.send(outgoing, limits).catch(failWithoutAnswer(words));
    return readKubernetesAnswer(words, { status, header: retryAfter, text });
  };
  return {
    cluster,
    send: async (
      words,
      outgoing,
      { repeats = true, urgency = outgoing.method === 'GET' ? 'normal' : 'urgent' } = {},
    ) => {
      for (let tries = 1; ; tries += 1)
        try {
          return await pace.run(() => sendOnce(words, outgoing), urgency);
        } catch (error) {
          const waitMs = countWait(error, { tries, repeats, settings });
          if (waitMs === undefined) throw error;
          if (isKubernetesError(error, 'Unauthorized')) transport.forgetCredentials();
          // Clients that were refused together come back apart.
          else await sleep(waitMs * (1 + random() / 4));
        }
    },
    open: (words, outgoing) =>
      pace.run(async () => {
        const message = await transport.open(outgoing, settings.requestMs).catch(failWithoutAnswer(words));
        if (message.statusCode === 200) return message;
        if (message.statusCode === 401) transport.forgetCredentials();
        const text = await readBodyStart(message);
        const header = message.headers['retry-after'];
        return readKubernetesAnswer(words, { status: message.statusCode ?? 0, header, text }) as never;
      }, 'normal'),
  };
}

/** The wait before the next try; undefined if there is none. */
function countWait(
  error: unknown,
  {
    tries,
    repeats,
    settings,
  }: { readonly tries: number; readonly repeats: boolean; readonly settings: ClientSettings },
): number | undefined {
  if (!isKubernetesError(error) || tries >= CLIENT_LIMITS.tries) return undefined;
  // Rotated credentials are read again; those that are refused twice are wrong.
  if (error.kind === 'Unauthorized') return tries === 1 ? 0 : undefined;
  const { retryAfterMs, status } = error;
  if (!repeats || retryAfterMs === undefined || (status !== 429 && status !== 503)) return undefined;
  return retryAfterMs <= settings.retryAfterMs ? retryAfterMs : undefined;
}

const failWithoutAnswer =
  (words: RequestWords) =>
  (cause: Error): never => {
    throw new KubernetesError(words, { kind: 'Unavailable', status: null, message: cause.message }, { cause });
  };

function readKubernetesAnswer(
  words: RequestWords,
  { status, header, text }: { readonly status: number; readonly header: string | undefined; readonly text: string },
): unknown {
  const body = parseJsonAnswer(text);
  if (status >= 200 && status < 300 && body !== undefined) return body;
  const parsed = statusSchema.safeParse(body);
  const excerpt = text.trim().slice(0, EXCERPT);
  if (status >= 200 && status < 300)
    throw new KubernetesError(words, { kind: 'Unavailable', status, message: `its answer is no JSON: ${excerpt}` });
  if (status >= 300 && status < 400)
    throw new KubernetesError(words, {
      kind: 'Refused',
      status,
      message: 'it redirects elsewhere, which no API server does',
    });
  throw readFailure(words, status, parsed.success ? parsed.data : undefined, { header, excerpt });
}

function parseJsonAnswer(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const MOST_REFUSAL_BYTES = 64 * 1024;

/** The beginning of a refusal. */
async function readBodyStart(message: IncomingMessage): Promise<string> {
  let text = '';
  try {
    for await (const part of message) {
      text += String(part);
      if (text.length > MOST_REFUSAL_BYTES) break;
    }
  } catch {
    // The status is known, and that is the refusal.
  }
  message.destroy();
  return text;
}
