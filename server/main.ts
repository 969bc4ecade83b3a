import type { AddressInfo } from 'node:net';
import { createClient } from '../client';
import { audited } from '../client/audited';
import { connect } from '../client/connection';
import { guarded } from '../client/guard';
import { frontIndex } from '../client/pipelineIndex';
import type { Door } from '../domain/access/operations';
import { withoutScope } from '../sdk/access';
import { joined, type Policy } from '../domain/principals';
import { localOnly } from '../sdk/localOnly';
import { LiveRegistry } from '../sdk/liveRegistry';
import type { Registry } from '../sdk/registry';
import { requireKeys } from '../sdk/seal';
import { offersOf } from '../sdk/signIn';
import { createApp } from './app';
import { startAudit } from './audit/start';
import { DEFAULT_LIMITS } from './deps';
import { Identities } from './identity';
import { giveUp, isClosed, isDevLogin, listen, placeOf } from './listening';

const DEFAULT_URL = 'http://localhost:4500';
const DRAIN_MS = 10_000;
/**
 * In ms. Whoever takes longer to send a request keeps a connection from others. An idle connection outlives the minute
 * that proxies and load balancers keep theirs, so that none is closed just as it is used again.
 */
const TIMEOUTS = { headersTimeout: 10_000, requestTimeout: 30_000, keepAliveTimeout: 75_000 };

async function main(): Promise<void> {
  const url = process.env.CONVEYOR_SERVER_URL || DEFAULT_URL;
  const place = placeOf(process.argv.slice(2), process.env, url, DEFAULT_URL);
  const devLogin = isDevLogin(process.argv.slice(2), place);
  let draining = false;
  const note = (line: string): void => void process.stderr.write(`note: ${line}\n`);
  const live = new LiveRegistry(process.env, note);
  // As it is now, in place: whoever holds its parts sees them change.
  const registry = { ...live.current(), groups: { ...live.current().groups }, access: { ...live.current().access } };
  live.onChange((next) => followed(registry, next));
  const seal = requireKeys(registry.seal, registry.file);
  const client = await createClient({ platform: registry });
  const audit = startAudit(live);
  const through = (door: Door, groups: (now: Policy['groups']) => Policy['groups'] = (now) => now) => {
    const facts = () => ({ ...live.current(), groups: groups(live.current().groups) });
    const permitted = guarded(client, facts, door);
    return audit === undefined ? permitted : audited(permitted, audit, door);
  };
  const temporal = await connect({ seal });
  const reads = registry.access.reads ?? (isClosed(place) ? 'open' : 'authenticated');
  const app = createApp({
    client: through('api'),
    deliveries: through('webhook'),
    identities: new Identities(registry.issuers, () => Date.now()),
    offers: offersOf(registry.issuers),
    as: ({ principal, groups }) => through('api', (now) => joined(now, principal, groups)),
    index: frontIndex(temporal),
    access: registry.access,
    reads,
    devLogin,
    callbacks: registry.callbacks,
    groups: registry.groups,
    policy: registry.policy,
    ...(audit === undefined ? {} : { audit }),
    limits: DEFAULT_LIMITS,
    now: () => Date.now(),
    log: note,
    isDraining: () => draining,
  });
  const server = await listen(
    { fetch: devLogin ? localOnly(app.fetch) : app.fetch, serverOptions: TIMEOUTS },
    place,
    'the server',
  );
  if (devLogin) note('development login: whoever reaches it says who they are, with conveyor login --as');
  if (!isClosed(place))
    process.stderr.write(
      `note: it is open to other machines, at ${place.host}; whoever only reads needs ${reads === 'open' ? 'no' : 'a'} token\n`,
    );
  for (const name of registry.access.unset)
    process.stderr.write(`note: ${name} is not set, so nobody can come in with it (${registry.file})\n`);
  for (const source of withoutScope(registry.access))
    note(`${source} has no scope, so its secret speaks for every repository (${registry.file})`);
  for (const warning of registry.warnings) note(`${warning} (${registry.file})`);
  if (registry.callbacks === null)
    process.stderr.write(`note: without callbacks, action services are only asked now and then (${registry.file})\n`);
  process.stdout.write(`Conveyor server ready at http://localhost:${(server.address() as AddressInfo).port}\n`);
  const end = (): void => {
    if (draining) return;
    draining = true;
    // Requests that were accepted are answered; only then are the connections to Temporal given up.
    server.close(() => void Promise.all([client.close(), temporal.connection.close(), audit?.close()]));
    setTimeout(() => process.exit(0), DRAIN_MS).unref();
  };
  process.on('SIGTERM', end);
  process.on('SIGINT', end);
}

/** What of a configuration counts from one request to the next: who is in which group, and tokens. */
function followed(
  { groups, access }: { groups: Record<string, readonly string[]>; access: Registry['access'] },
  next: Registry,
) {
  for (const name of Object.keys(groups)) delete groups[name];
  Object.assign(groups, next.groups);
  Object.assign(access, next.access);
}

main().catch(giveUp);
