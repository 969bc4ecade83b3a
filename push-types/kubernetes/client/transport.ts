import { Agent as HttpAgent, request as requestHttp, type IncomingMessage, type RequestOptions } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { openCredentials, readPemSource, type Credential, type CredentialMemory } from './credentials';
import type { ClusterAccess } from './access';
import { CLIENT_LIMITS } from './limits';

/** Requests by node:https with the credentials of a cluster; knows nothing of Kubernetes beyond them. */

export interface Outgoing {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** With the query. */
  readonly path: string;
  readonly body?: unknown;
  readonly contentType?: string;
  readonly signal?: AbortSignal;
}

export interface TransportAnswer {
  readonly status: number;
  readonly retryAfter: string | undefined;
  readonly text: string;
}

export interface Transport {
  /** @throws Error if no whole answer came within `timeoutMs`, or if it is larger than `mostBytes` */
  send(
    outgoing: Outgoing,
    limits: { readonly timeoutMs: number; readonly mostBytes: number },
  ): Promise<TransportAnswer>;
  /** The answer once its head is there; the caller reads its body. @throws Error if no head came within `timeoutMs` */
  open(outgoing: Outgoing, timeoutMs: number): Promise<IncomingMessage>;
  forgetCredentials(): void;
  close(): void;
}

type Agent = HttpAgent | HttpsAgent;

interface TransportOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly now: () => number;
}

export function openTransport(access: ClusterAccess, options: TransportOptions): Transport {
  const credentials = openCredentials(access.credentials, options);
  const isPlain = access.server.protocol === 'http:';
  let agent: Agent | undefined;
  let agentKey = '';
  /** A connection is made with one certificate and one authority: others need other connections. */
  const takeAgent = (ca: string | undefined, { certificate, key }: Credential): Agent => {
    const wanted = JSON.stringify([ca, certificate, key]);
    if (agent !== undefined && agentKey === wanted) return agent;
    if (agent !== undefined) retireAgent(agent);
    agentKey = wanted;
    const tls = { ca, cert: certificate, key, servername: access.serverName };
    const keeping = { keepAlive: true, timeout: CLIENT_LIMITS.idleConnectionMs };
    agent = isPlain ? new HttpAgent(keeping) : new HttpsAgent({ ...keeping, ...omitMissing(tls) });
    return agent;
  };
  const open = async (outgoing: Outgoing, timeoutMs: number): Promise<IncomingMessage> => {
    const { credential, ca } = await readIdentity(access, credentials);
    const body = outgoing.body === undefined ? undefined : JSON.stringify(outgoing.body);
    const { hostname, port, pathname } = access.server;
    const request: RequestOptions = {
      ...{ hostname: hostname.replace(/^\[|\]$/g, ''), port: port || (isPlain ? 80 : 443), method: outgoing.method },
      ...{ path: pathname.replace(/\/$/, '') + outgoing.path, agent: takeAgent(ca, credential) },
      headers: buildHeaders(outgoing, body, credential),
    };
    return awaitHead(isPlain, request, { body, timeoutMs, signal: outgoing.signal });
  };
  return {
    open,
    send: async (outgoing, { timeoutMs, mostBytes }) => {
      const began = options.now();
      const message = await open(outgoing, timeoutMs);
      const left = Math.max(1, timeoutMs - (options.now() - began));
      const text = await readBodyText(message, { timeoutMs: left, mostBytes, signal: outgoing.signal });
      return { status: message.statusCode ?? 0, retryAfter: message.headers['retry-after'], text };
    },
    forgetCredentials: () => credentials.forget(),
    close: () => agent?.destroy(),
  };
}

/** Requests under way end on their connections; no other begins on them. */
function retireAgent(agent: Agent): void {
  agent.maxFreeSockets = 0;
  for (const sockets of Object.values(agent.freeSockets)) for (const socket of sockets ?? []) socket.destroy();
}

async function readIdentity(
  { authority }: ClusterAccess,
  credentials: CredentialMemory,
): Promise<{ credential: Credential; ca: string | undefined }> {
  return {
    credential: await credentials.read(),
    ca: authority === undefined ? undefined : await readPemSource(authority),
  };
}

const omitMissing = (fields: Readonly<Record<string, unknown>>): object =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

const buildHeaders = (
  { contentType = 'application/json' }: Outgoing,
  body: string | undefined,
  { token }: Credential,
): Record<string, string | number> => ({
  accept: 'application/json',
  'user-agent': 'conveyor',
  ...(token !== undefined && { authorization: `Bearer ${token}` }),
  ...(body !== undefined && { 'content-type': contentType, 'content-length': Buffer.byteLength(body) }),
});

interface Sending {
  readonly body: string | undefined;
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
}

/** A connection that was kept open may end just when it is used again; only a read is repeated then, because a write may have been executed. */
async function awaitHead(isPlain: boolean, options: RequestOptions, sending: Sending): Promise<IncomingMessage> {
  const reuse = { happened: false };
  try {
    return await awaitHeadOnce(isPlain, options, sending, reuse);
  } catch (error) {
    if (!reuse.happened || options.method !== 'GET' || sending.signal?.aborted) throw error;
    return awaitHeadOnce(isPlain, options, sending, { happened: false });
  }
}

/** No redirection is followed: credentials go to the server of the kubeconfig alone. */
function awaitHeadOnce(
  isPlain: boolean,
  options: RequestOptions,
  sending: Sending,
  reuse: { happened: boolean },
): Promise<IncomingMessage> {
  const { body, timeoutMs, signal } = sending;
  return new Promise((resolve, reject) => {
    const request = (isPlain ? requestHttp : requestHttps)({ ...options, ...(signal && { signal }) });
    const timer = setTimeout(() => request.destroy(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
    request
      .on('response', (message) => {
        clearTimeout(timer);
        resolve(message);
      })
      .on('error', (error: NodeJS.ErrnoException) => {
        clearTimeout(timer);
        reuse.happened = request.reusedSocket && error.code === 'ECONNRESET';
        reject(error);
      });
    request.end(body);
  });
}

interface BodyTimes {
  readonly timeoutMs: number;
  readonly mostBytes: number;
  readonly signal: AbortSignal | undefined;
}

function readBodyText(message: IncomingMessage, { timeoutMs, mostBytes, signal }: BodyTimes): Promise<string> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    let size = 0;
    const fail = (error: Error): void => {
      clearTimeout(timer);
      message.destroy();
      reject(error);
    };
    const timer = setTimeout(() => fail(new Error(`the answer did not end within ${timeoutMs} ms`)), timeoutMs);
    message
      .on('data', (part: Buffer) => {
        size += part.length;
        if (size > mostBytes) fail(new Error(`the answer has more than ${mostBytes} bytes`));
        else parts.push(part);
      })
      .on('end', () => {
        clearTimeout(timer);
        resolve(Buffer.concat(parts).toString('utf8'));
      })
      .on('error', fail)
      .on('close', () => fail(signal?.aborted ? asError(signal.reason) : new Error('the connection was cut')));
  });
}

const asError = (reason: unknown): Error => (reason instanceof Error ? reason : new Error(String(reason)));
