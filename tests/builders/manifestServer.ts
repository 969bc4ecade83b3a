import { createHash, generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import {
  manifestPackageSchema,
  hostManifestSchema,
  reportPackageSchema,
  hostReportSchema,
  SIGNATURE_HEADER,
  type Manifest,
  type ManifestEntry,
  type ManifestPackage,
  type PackageInstall,
  type ReportPackage,
} from '../../push-types/slowroll/protocol';
import { packTar } from './fakeHosts';

/** A request as the server saw it. */
export interface SeenRequest {
  readonly kind: 'manifest' | 'report' | 'package';
  readonly host: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  readonly status: number;
}

/** Answers instead of the server; false if it does not want this request. */
export type Fault = (request: IncomingMessage, response: ServerResponse) => boolean;

export const TOKEN = 'token-of-a-test-host';

/** A manifest server in memory: it signs, answers 304, serves packages with Range, and can lie in every way. */
export class FakeManifestServer {
  readonly seen: SeenRequest[] = [];
  /** The last report of each package, by host. */
  readonly states = new Map<string, Map<string, ReportPackage>>();
  /** Answers manifests instead of the server. */
  manifestFault: Fault | undefined;
  packageFault: Fault | undefined;
  reportFault: Fault | undefined;
  serial = 1;
  pollAfterSeconds = 1;
  /** Changes the ETags, as after a loss of memory. */
  incarnation = 1;
  /** Requests that are open now, and the most at once. */
  private open = 0;
  mostOpen = 0;
  private readonly keys = generateKeyPairSync('ed25519');
  private readonly packages = new Map<string, Buffer>();
  private readonly wanted = new Map<string, readonly ManifestEntry[]>();
  private server: Server | undefined;
  url = '';

  get publicKey(): string {
    return this.keys.publicKey.export({ type: 'spki', format: 'pem' }).toString();
  }

  async start(port = 0): Promise<void> {
    const server = createServer((request, response) => {
      this.open += 1;
      this.mostOpen = Math.max(this.mostOpen, this.open);
      response.on('close', () => (this.open -= 1));
      void this.answer(request, response);
    });
    this.server = server;
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    const { server } = this;
    if (server === undefined) return;
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    this.server = undefined;
  }

  /** Offers a package; the returned value goes into a manifest. */
  offer(
    version: string,
    generation: number,
    {
      name = 'shop',
      revert = false,
      install,
      files = [],
      bytes = gzipSync(packTar([{ path: 'VERSION', text: version }, ...files])),
    }: {
      readonly name?: string;
      readonly revert?: boolean;
      readonly install?: PackageInstall;
      readonly files?: Parameters<typeof packTar>[0];
      readonly bytes?: Buffer;
    } = {},
  ): ManifestPackage {
    const hex = createHash('sha256').update(bytes).digest('hex');
    this.packages.set(hex, bytes);
    const place = { uri: `packages/${hex}`, digest: `sha256:${hex}`, size: bytes.length };
    return manifestPackageSchema.parse({ name, version, ...place, generation, revert, ...(install && { install }) });
  }

  /** The packages of a host from now on; a new decision. */
  want(packages: readonly ManifestEntry[], host = 'web-1'): void {
    this.serial += 1;
    this.wanted.set(host, packages);
  }

  /** The content of an offered package. */
  bytes(digest: string): Buffer {
    return this.packages.get(digest.replace('sha256:', '')) ?? Buffer.alloc(0);
  }

  manifest(host: string): Manifest {
    const packages = [...(this.wanted.get(host) ?? [])];
    return hostManifestSchema.parse({ host, serial: this.serial, packages, pollAfterSeconds: this.pollAfterSeconds });
  }

  /** Answers with any body, signed as it is. */
  sendSigned(response: ServerResponse, body: string, key: KeyObject = this.keys.privateKey): void {
    const bytes = Buffer.from(body);
    const signature = sign(null, bytes, key).toString('base64');
    response.writeHead(200, { [SIGNATURE_HEADER]: `test:${signature}`, etag: this.tag(body) });
    response.end(bytes);
  }

  count(kind: SeenRequest['kind'], status?: number): number {
    return this.seen.filter((one) => one.kind === kind && (status === undefined || one.status === status)).length;
  }

  state(name = 'shop', host = 'web-1'): ReportPackage | undefined {
    return this.states.get(host)?.get(name);
  }

  private tag(body: string): string {
    return `"${this.incarnation}-${createHash('sha256').update(body).digest('hex').slice(0, 16)}"`;
  }

  /** Answers one request, also for a server of another kind in front. */
  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams: query } = new URL(request.url ?? '', 'http://localhost');
    const [, host = '', what = ''] = /^\/v1\/hosts\/([^/]+)\/(manifest|report)$/.exec(pathname) ?? [];
    const kind = what === '' ? 'package' : (what as 'manifest' | 'report');
    response.on('close', () => {
      this.seen.push({ kind, host, query, headers: request.headers, status: response.statusCode });
    });
    const fault = { manifest: this.manifestFault, report: this.reportFault, package: this.packageFault }[kind];
    if (fault?.(request, response) === true) return;
    if (kind === 'package') return this.sendPackage(request, response, pathname.replace(/.*\//, ''));
    if (request.headers.authorization !== `Bearer ${TOKEN}`) return void response.writeHead(401).end();
    if (kind === 'manifest') return this.sendManifest(request, response, { host, query });
    this.keep(host, hostReportSchema.parse(JSON.parse(await readText(request))).packages);
    response.writeHead(204).end();
  }

  private sendManifest(
    request: IncomingMessage,
    response: ServerResponse,
    { host, query }: { readonly host: string; readonly query: URLSearchParams },
  ): void {
    const state = query.get('state');
    if (state !== null) this.keep(host, reportPackageSchema.array().parse(JSON.parse(state)));
    const body = JSON.stringify(this.manifest(host));
    if (request.headers['if-none-match'] === this.tag(body)) return void response.writeHead(304).end();
    this.sendSigned(response, body);
  }

  private sendPackage(request: IncomingMessage, response: ServerResponse, hex: string): void {
    const bytes = this.packages.get(hex);
    if (bytes === undefined) return void response.writeHead(404).end();
    const from = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0);
    if (from === 0) return void response.writeHead(200, { 'content-length': bytes.length }).end(bytes);
    if (from >= bytes.length) return void response.writeHead(416).end();
    const range = `bytes ${from}-${bytes.length - 1}/${bytes.length}`;
    response.writeHead(206, { 'content-range': range, 'content-length': bytes.length - from });
    response.end(bytes.subarray(from));
  }

  private keep(host: string, packages: readonly ReportPackage[]): void {
    this.states.set(host, new Map(packages.map((one) => [one.name, one])));
  }
}

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
