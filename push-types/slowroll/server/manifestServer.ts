import type { TLSSocket } from 'node:tls';
import { Hono, type Context } from 'hono';
import { z } from 'zod';
import { ExtensionError, limitBody, SLOWROLL_LIMITS } from '../../../sdk';
import {
  reportPackageSchema,
  hostReportSchema,
  SIGNATURE_HEADER,
  type Manifest,
  type PackageInstall,
} from '../protocol';
import type { HostLabels } from './fleetHosts';
import type { HostLog } from './hostLog';
import { REPORT_KIND } from './hostRecords';
import { HostPace } from './hostPace';
import type { HostTokens } from './hostTokens';
import { readTag, writeTag } from './manifestTag';
import type { PackageStore } from './packageStore';
import { RunningDownloads, sendPackage } from './sendPackage';
import type { ManifestSigner } from './signManifest';
import type { HostOffer, SlowrollFleet } from './slowrollFleet';

/** The routes that agents use: manifests, reports and packages. */

export interface ManifestServerOptions {
  readonly store: PackageStore;
  readonly log: Pick<HostLog, 'note'>;
  readonly signer: ManifestSigner;
  /** The tokens of now; undefined if hosts have certificates instead. */
  readonly tokens: () => HostTokens | undefined;
  readonly commands: (packageName: string) => PackageInstall | undefined;
  readonly pollAfterSeconds: number;
  /** A short word that changes with the settings. */
  readonly settingsTag: string;
}

const queryLabels = z.record(z.string().min(1).max(128), z.string().max(256));
const stateSchema = z.array(reportPackageSchema);
/** Seconds after which a host that was refused may ask again. */
const RETRY_BUSY = 10;
const RETRY_FULL = 3600;

export function addManifestRoutes(app: Hono, fleet: SlowrollFleet, options: ManifestServerOptions): void {
  const pace = new HostPace(fleet);
  let underWay = 0;
  app.use('/v1/*', async (c, next) => {
    if (underWay >= SLOWROLL_LIMITS.requests.max)
      return refuseHost(c, 503, 'too many requests are under way', RETRY_BUSY);
    underWay += 1;
    try {
      await next();
    } finally {
      underWay -= 1;
    }
  });
  const tooLarge = (c: Context) => refuseHost(c, 413, `a report has at most ${SLOWROLL_LIMITS.report.max} bytes`);
  app.use('/v1/*', limitBody({ maxSize: SLOWROLL_LIMITS.report.max, onError: tooLarge }));
  app.get('/v1/hosts/:host/manifest', async (c) => {
    const refusal = checkCaller(c, options) ?? refuseHaste(c, pace);
    return refusal ?? answerPoll(c, fleet, options);
  });
  app.post('/v1/hosts/:host/report', async (c) => {
    const refusal = checkCaller(c, options) ?? refuseHaste(c, pace);
    return refusal ?? acceptReport(c, fleet);
  });
  const downloads = new RunningDownloads();
  app.get('/v1/packages/:name/:digest', (c) => {
    const known = options.tokens();
    const isHost = known === undefined || known.match(readToken(c), '') !== 'none';
    const caller = known === undefined ? (readCertificateName(c)?.[0] ?? '') : readToken(c);
    if (!isHost) return refuseHost(c, 401, 'the token is missing or wrong');
    return sendPackage(c, { store: options.store, downloads, caller });
  });
}

async function answerPoll(c: Context, fleet: SlowrollFleet, options: ManifestServerOptions): Promise<Response> {
  const host = c.req.param('host') ?? '';
  const [labels, state] = [readQuery(c, 'labels', queryLabels), readQuery(c, 'state', stateSchema)];
  if (labels === 'wrong') return refuseHost(c, 400, 'labels: expected a JSON object of strings');
  if (state === 'wrong') return refuseHost(c, 400, 'state: expected a JSON list of packages');
  if ((c.req.query('state')?.length ?? 0) > SLOWROLL_LIMITS.state.max)
    return refuseHost(c, 413, `state: more than ${SLOWROLL_LIMITS.state.max} bytes; send a report`);
  const tag = c.req.header('if-none-match') ?? '';
  const written = readTag(tag, fleet.options.packages);
  let joined: { readonly index: number; readonly isNew: boolean };
  try {
    joined = fleet.noteCall(host, labels ?? recallLabels(fleet, host, written.labels));
  } catch (error) {
    return refuseJoin(c, error);
  }
  const { index, isNew } = joined;
  if (index === -1)
    return refuseHost(c, 409, `${host} never said its labels to this server: start its agent again`, RETRY_FULL);
  if (isNew) {
    try {
      await options.log.note(host, fleet.hosts.readLabels(index));
    } catch {
      return refuseHost(c, 503, 'the host cannot be stored', RETRY_BUSY);
    }
  }
  fleet.recall(index, written.past);
  if (state !== undefined) fleet.report(index, state, true);
  const offers = fleet.offer(index, written.past);
  const etag = writeTag(fleet, index, offers, options.settingsTag);
  if (etag === tag) return c.body(null, 304, { etag });
  const body = Buffer.from(JSON.stringify(buildManifest(fleet, index, offers, options)));
  const headers = { 'content-type': 'application/json', etag, [SIGNATURE_HEADER]: options.signer.sign(body) };
  return c.body(body as unknown as ArrayBuffer, 200, headers);
}

/** A server that has lost its folder reads the labels of a host from the tag that it wrote once. */
function recallLabels(fleet: SlowrollFleet, host: string, labels: unknown): HostLabels | undefined {
  if (fleet.hosts.table.find(host) !== -1) return undefined;
  const read = queryLabels.safeParse(labels);
  return read.success ? read.data : undefined;
}

function buildManifest(
  { state, hosts }: SlowrollFleet,
  index: number,
  offers: readonly HostOffer[],
  { store, commands, pollAfterSeconds }: ManifestServerOptions,
): Manifest {
  const packages = offers.flatMap(({ packageName: name, decision, held }): Manifest['packages'] => {
    if (decision === undefined || held !== undefined) return [];
    const { version, generation, revert, removes } = decision;
    // A host that does not report a package any more needs no sign.
    if (removes) {
      const { reported, trouble } = hosts.readRecords(name);
      const isGone = reported[index] === REPORT_KIND.absent && trouble[index] === 0;
      return isGone ? [] : [{ name, generation, remove: true }];
    }
    const known = store.find(name, version);
    if (known === undefined) return [];
    const install = commands(name);
    return [{ name, version, ...known, generation, revert, ...(install && { install }) }];
  });
  return { host: hosts.table.nameHost(index), serial: state.serial ?? 0, packages, pollAfterSeconds };
}

async function acceptReport(c: Context, fleet: SlowrollFleet): Promise<Response> {
  const body: unknown = await c.req.json().catch(() => undefined);
  const report = hostReportSchema.safeParse(body);
  if (!report.success) return refuseHost(c, 400, `the report: ${report.error.issues[0]?.message ?? 'it is no JSON'}`);
  const { index } = fleet.noteCall(c.req.param('host') ?? '', undefined);
  if (index === -1) return refuseHost(c, 409, 'a host polls before it reports');
  fleet.report(index, report.data.packages, false);
  return c.body(null, 204);
}

/** Undefined if the caller is the host of the path. */
function checkCaller(c: Context, { tokens }: ManifestServerOptions): Response | undefined {
  const host = c.req.param('host') ?? '';
  const known = tokens();
  const name = readCertificateName(c);
  if (known === undefined) {
    if (name === undefined) return refuseHost(c, 401, 'a certificate is needed');
    return name.includes(host) ? undefined : refuseHost(c, 403, `the certificate is not that of ${host}`);
  }
  if (name !== undefined && !name.includes(host)) return refuseHost(c, 403, `the certificate is not that of ${host}`);
  const match = known.match(readToken(c), host);
  if (match === 'own') return undefined;
  return match === 'none'
    ? refuseHost(c, 401, 'the token is missing or wrong')
    : refuseHost(c, 403, `the token is not that of ${host}`);
}

function refuseHaste(c: Context, pace: HostPace): Response | undefined {
  const host = c.req.param('host') ?? '';
  return pace.isHasty(host) ? refuseHost(c, 429, `${host} asks too often`, RETRY_BUSY) : undefined;
}

const readToken = (c: Context): string => /^Bearer (\S+)$/.exec(c.req.header('authorization') ?? '')?.[1] ?? '';

/** Node's server passes the connection on. */
interface CallerEnvironment {
  readonly incoming?: { readonly socket?: Partial<TLSSocket> };
}

/** The names in the certificate of a caller, which the authority of hosts has signed; undefined without one. */
function readCertificateName(c: Context): readonly string[] | undefined {
  const socket = (c.env as CallerEnvironment | undefined)?.incoming?.socket;
  if (socket?.authorized !== true || socket.getPeerCertificate === undefined) return undefined;
  const { subject, subjectaltname } = socket.getPeerCertificate();
  const others = (subjectaltname ?? '').split(', ').flatMap((one) => (one.startsWith('DNS:') ? [one.slice(4)] : []));
  const common: unknown = subject?.CN;
  return [...(typeof common === 'string' ? [common] : []), ...others];
}

function readQuery<T>(c: Context, name: string, schema: z.ZodType<T>): T | undefined | 'wrong' {
  const text = c.req.query(name);
  if (text === undefined) return undefined;
  try {
    return schema.parse(JSON.parse(text));
  } catch {
    return 'wrong';
  }
}

function refuseJoin(c: Context, error: unknown): Response {
  if (!(error instanceof ExtensionError)) throw error;
  return error.retryable
    ? refuseHost(c, 503, error.message, RETRY_FULL)
    : refuseHost(c, error.status as 400, error.message);
}

function refuseHost(
  c: Context,
  status: 400 | 401 | 403 | 409 | 413 | 429 | 503,
  message: string,
  retry?: number,
): Response {
  return c.json({ error: message }, status, retry === undefined ? {} : { 'retry-after': String(retry) });
}
