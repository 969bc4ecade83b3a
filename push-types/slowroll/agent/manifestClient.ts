import type { KeyObject } from 'node:crypto';
import { hostManifestSchema, SIGNATURE_HEADER, type Manifest, type HostReport, type ReportPackage } from '../protocol';
import { AGENT_LIMITS } from './limits';
import { requestAnswer, readRetryAfter, type SmallAnswer, type TlsFiles } from './request';
import { isManifestSigned } from './signature';

/** The files of the agent, read again for each request, so that keys and tokens can be replaced while it runs. */
export interface AgentSecrets {
  /** Undefined if a certificate stands for the host. */
  readonly token: string | undefined;
  readonly keys: readonly KeyObject[];
  readonly tls: TlsFiles;
}

export interface ManifestClientOptions {
  readonly server: URL;
  readonly host: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  /** @throws Error if a file is missing, or others can read it */
  readonly readSecrets: () => AgentSecrets;
}

/** The server refused, or its answer is no manifest. */
export class ManifestError extends Error {
  override readonly name = 'ManifestError';

  constructor(
    message: string,
    /** Seconds; the server wants no request before. */
    readonly retryAfter?: number | undefined,
  ) {
    super(message);
  }
}

/** A manifest with the right signature, or none because it is the one of before. */
export type PollAnswer =
  | { readonly kind: 'same' }
  | { readonly kind: 'manifest'; readonly manifest: Manifest; readonly tag: string | undefined };

/** Polls one server. It remembers the parts that the server knows already, and sends only the others. */
export class ManifestClient {
  private known: { readonly tag: string | undefined; readonly serial: number } | undefined;
  private areLabelsSent = false;
  private sentState: string | undefined;

  constructor(private readonly options: ManifestClientOptions) {}

  /** Asks for the manifest. The state is sent along if it has changed and fits into a query. @throws ManifestError, or the error of the network */
  async poll(packages: readonly ReportPackage[]): Promise<PollAnswer> {
    const url = this.locate('manifest');
    if (!this.areLabelsSent) url.searchParams.set('labels', JSON.stringify(this.options.labels));
    const state = JSON.stringify(packages);
    const isStateSent = state !== this.sentState && encodeURIComponent(state).length <= AGENT_LIMITS.queryBytes;
    if (isStateSent) url.searchParams.set('state', state);
    const tag = this.known?.tag;
    const { answer, keys } = await this.send(
      'GET',
      url,
      tag === undefined ? {} : { headers: { 'if-none-match': tag } },
    );
    if (answer.status !== 200 && (answer.status !== 304 || tag === undefined)) throw refuseAnswer(url, answer);
    const manifest = answer.status === 200 ? parseManifest(answer, keys) : undefined;
    this.areLabelsSent = true;
    if (isStateSent) this.sentState = state;
    if (manifest === undefined) return { kind: 'same' };
    // The same decisions under another tag: the server may have lost its memory, and with it a report that came since the last poll.
    if (tag !== undefined && manifest.serial === this.known?.serial) this.forget();
    return { kind: 'manifest', manifest, tag: answer.headers.etag };
  }

  /** The manifest is accepted: the next poll may be answered without a body. A refused one is sent again. */
  accept(tag: string | undefined, serial: number): void {
    this.known = { tag, serial };
  }

  /** Sends the state if the server does not have it. @throws ManifestError, or the error of the network */
  async report(packages: readonly ReportPackage[]): Promise<void> {
    const state = JSON.stringify(packages);
    if (state === this.sentState) return;
    const url = this.locate('report');
    const body = JSON.stringify({ packages: [...packages] } satisfies HostReport);
    const { answer } = await this.send('POST', url, { body, headers: { 'content-type': 'application/json' } });
    if (answer.status !== 204) throw refuseAnswer(url, answer);
    this.sentState = state;
  }

  private forget(): void {
    this.known = undefined;
    this.areLabelsSent = false;
    this.sentState = undefined;
  }

  private locate(what: 'manifest' | 'report'): URL {
    const { server, host } = this.options;
    return new URL(`v1/hosts/${encodeURIComponent(host)}/${what}`, server);
  }

  private async send(
    method: 'GET' | 'POST',
    url: URL,
    { headers = {}, body }: { readonly headers?: Readonly<Record<string, string>>; readonly body?: string },
  ): Promise<{ readonly answer: SmallAnswer; readonly keys: readonly KeyObject[] }> {
    const { token, keys, tls } = this.options.readSecrets();
    const request = {
      ...{ method, url, tls, headers: { ...headers, ...writeBearer(token) } },
      ...(body !== undefined && { body }),
    };
    const { timeoutMs } = this.options;
    const answer = await requestAnswer(request, { timeoutMs, mostBytes: AGENT_LIMITS.answerBytes });
    if (answer.status !== UNKNOWN_HOST) return { answer, keys };
    // The next poll introduces the host again, and does not wait for it.
    this.forget();
    throw new ManifestError(`${url.host} does not know this host any more`);
  }
}

/** The header with a token. */
export const writeBearer = (token: string | undefined): Record<string, string> =>
  token === undefined ? {} : { authorization: `Bearer ${token}` };

/** The server has never seen the labels of this host, or forgot them. */
const UNKNOWN_HOST = 409;

function parseManifest({ headers, body }: SmallAnswer, keys: readonly KeyObject[]): Manifest {
  const header = headers[SIGNATURE_HEADER];
  if (!isManifestSigned(body, typeof header === 'string' ? header : undefined, keys))
    throw new ManifestError('the manifest is not signed by a key that this host trusts');
  const manifest = hostManifestSchema.safeParse(parseBody(body));
  if (manifest.success) return manifest.data;
  const [issue] = manifest.error.issues;
  throw new ManifestError(`the answer is no manifest: ${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}`);
}

function parseBody(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}

const STATUS_HINTS: Readonly<Record<number, string>> = {
  401: 'the token of this host is wrong',
  403: 'the token belongs to another host',
  404: 'it knows no such host, or is no manifest server',
};

function refuseAnswer({ host }: URL, { status, headers }: SmallAnswer): ManifestError {
  const hint = STATUS_HINTS[status];
  return new ManifestError(
    `${host} answered ${status}${hint === undefined ? '' : `: ${hint}`}`,
    readRetryAfter(headers),
  );
}
