import type { AddressInfo } from 'node:net';
import { createClient } from '../client';
import { answerPage, type PageAcknowledgement } from '../client/answerPage';
import { resolveTaskQueue } from '../client/apply';
import { auditClient } from '../client/auditClient';
import { queueBacklogs } from '../client/backlogs';
import { connectTemporal, type Temporal } from '../client/connection';
import { examine } from '../client/examination';
import { guardClient } from '../client/guard';
import { whyNothingIsStored } from '../client/writes';
import type { PermitListener } from '../client/permissionGate';
import { openCounts } from '../client/openCounts';
import { frontIndex } from '../client/pipelineIndex';
import { temporalSignOuts } from '../client/signOuts';
import { readPipelinePage } from '../client/pipelinePages';
import { createWallsProbe } from '../configerator/compiler/walls';
import { copiesFolder } from '../configerator/repository/repository';
import type { Door } from '../domain/access/operations';
import type { PlatformFacts } from '../domain/access/platform';
import { withoutScope } from '../settings/access';
import { withMember } from '../domain/principals';
import { localFront } from './localFront';
import { isInRange } from '../sdk/versions';
import { openArchive } from '../archive/open';
import { certificatesForStores, certificatesForTemporal } from '../settings/certificates';
import { configChecker } from '../settings/configCheck';
import { LiveRegistry } from '../settings/liveRegistry';
import type { Registry } from '../settings/registry';
import { requireKeys } from '../settings/seal';
import { readLinkSignIn } from '../settings/signInLink';
import { createApp } from './app';
import { startAudit } from './audit/start';
import { DEFAULT_LIMITS, getReadPolicy, type ServerDeps } from './deps';
import { Identities, type CallerIdentity } from './identity';
import { DRAIN_TIMEOUT_MS, exitWithError, isClosed, isDevLogin, listen, readPlace } from './listener';

const DEFAULT_SERVER_URL = 'http://localhost:4500';
/**
 * In ms. A sender slower than this would occupy a connection. An idle connection outlives the minute for which proxies and load balancers keep
 * theirs, so that none is closed just as it is reused.
 */
const TIMEOUTS = { headersTimeout: 10_000, requestTimeout: 30_000, keepAliveTimeout: 75_000 };

async function startServer(): Promise<void> {
  const url = process.env.CONVEYOR_SERVER_URL || DEFAULT_SERVER_URL;
  const place = readPlace(process.argv.slice(2), process.env, url, DEFAULT_SERVER_URL);
  const devLogin = isDevLogin(process.argv.slice(2), place);
  let draining = false;
  const note = (line: string): void => void process.stderr.write(`note: ${line}\n`);
  const live = new LiveRegistry(process.env, note, { atStart: ['seal', 'audit', 'archive'] });
  const registry = live.view();
  const seal = requireKeys(registry.seal, registry.file);
  const client = await createClient({
    platform: registry,
    checkConfigs: configChecker(registry),
    isInRange,
  });
  const audit = startAudit(live);
  const through = (door: Door, who?: IdentifiedCaller) => {
    const permitting = (decided?: PermitListener) => guardClient(client, () => factsFor(registry, who), door, decided);
    return audit === undefined ? permitting() : auditClient(permitting, audit, door);
  };
  const temporal = await connectTemporal({ seal });
  const reads = isClosed(place) ? 'open' : 'authenticated';
  const app = createApp({
    client: through('api'),
    deliveries: through('webhook'),
    config: registry,
    configState: () => live.getState(),
    identities: new Identities(
      () => registry.issuers,
      () => Date.now(),
    ),
    clientAs: (who) => through('api', who),
    ...temporalDeps(temporal, registry),
    reads,
    devLogin,
    ...(isClosed(place) ? { linkSignIn: readLinkSignIn(process.env) } : {}),
    ...(audit === undefined ? {} : { audit }),
    ...(registry.archive === null ? {} : { archive: (await openArchive(registry.archive, process.env)).archive }),
    copies: copiesFolder(process.env),
    programs: createWallsProbe(registry),
    limits: DEFAULT_LIMITS,
    now: () => Date.now(),
    log: note,
    isDraining: () => draining,
  });
  const server = await listen(
    { fetch: devLogin ? localFront(app.fetch) : app.fetch, serverOptions: TIMEOUTS },
    place,
    'the server',
  );
  if (devLogin) note('development login: callers choose their own identity, with conveyor login --as');
  if (!isClosed(place))
    note(
      `it is open to other machines, at ${place.host}; reading needs ${getReadPolicy({ config: registry, reads }) === 'open' ? 'no' : 'a'} token`,
    );
  noteOpenDoors(registry, note);
  live.onChange((next) => noteOpenDoors(next, note));
  for (const warning of registry.warnings) note(`${warning} (${registry.file})`);
  if (registry.callbacks === null)
    process.stderr.write(`note: without callbacks, action services are only polled (${registry.file})\n`);
  process.stdout.write(`Conveyor server ready at http://localhost:${(server.address() as AddressInfo).port}\n`);
  const end = (): void => {
    if (draining) return;
    draining = true;
    // Accepted requests are answered before the connections to Temporal are closed.
    server.close(() => void Promise.all([client.close(), temporal.connection.close(), audit?.close()]));
    setTimeout(() => process.exit(0), DRAIN_TIMEOUT_MS).unref();
  };
  process.on('SIGTERM', end);
  process.on('SIGINT', end);
}

/** The parts of the front end that query Temporal directly. */
function temporalDeps(temporal: Temporal, registry: Pick<Registry, 'configRepositories'>) {
  const taskQueue = resolveTaskQueue({});
  return {
    index: frontIndex(temporal),
    signOuts: temporalSignOuts(temporal, taskQueue),
    pipelinePage: (query) => readPipelinePage(temporal, query),
    openCounts: () => openCounts(temporal),
    answerPage: (answer: PageAcknowledgement) => answerPage(temporal, answer),
    backlogs: () => queueBacklogs(temporal, taskQueue),
    whyNothingIsStored: () => whyNothingIsStored(temporal, taskQueue, Date.now()),
    certificates: () => listCertificates(registry),
    examine: async () => ({
      ...(await examine(temporal, taskQueue)),
      certificates: await listCertificates(registry),
    }),
  } satisfies Partial<ServerDeps>;
}

/**
 * The certificates with which this process connects to Temporal and to configuration stores, as their files are now.
 */
const listCertificates = async ({ configRepositories }: Pick<Registry, 'configRepositories'>) => [
  ...((await certificatesForTemporal(process.env)) ?? []),
  ...certificatesForStores(configRepositories),
];

/** Notes entry points that the configuration leaves closed, or perhaps more open than intended. */
function noteOpenDoors(
  { access, issuers, sessions, file }: Pick<Registry, 'access' | 'issuers' | 'sessions' | 'file'>,
  note: (line: string) => void,
): void {
  for (const { issuer, pages } of issuers)
    if (pages !== null && pages.unset.length > 0)
      note(`${pages.unset.join(' and ')} is not set, so no one signs in to pages with ${issuer} (${file})`);
  for (const name of sessions.unset)
    note(`${name} is not set, so sessions of pages end with this process, and no other server knows them (${file})`);
  for (const name of access.unset) note(`${name} is not set, so this token admits no caller (${file})`);
  for (const source of withoutScope(access))
    note(`${source} has no scope, so its secret speaks for every repository (${file})`);
}

type IdentifiedCaller = Pick<CallerIdentity, 'principal' | 'groups'>;

/** Adds the groups that an identity provider lists for the caller. */
function factsFor(
  { policy, signers, groups: configured }: PlatformFacts,
  who: IdentifiedCaller | undefined,
): PlatformFacts {
  const now = { policy, ...(signers && { signers }), groups: configured };
  if (who === undefined) return now;
  const vouched = who.groups.map((name) => `group:${name}`);
  return { ...now, groups: withMember(configured, who.principal, who.groups), configured, vouched };
}

startServer().catch(exitWithError);
