import { hostname } from 'node:os';
import { parseArgs } from 'node:util';
import { isStoreOpenToOthers, whyNotStoreUrls } from '../domain/storeUrl';
import { conveyorError, type ConveyorError } from '../../domain/errors';
import { storeDoor, storeSigning } from '../../settings/configStores';
import type { Env } from '../../settings/env';
import { parsePeerPlace } from '../vessel/listen';

/** The command-line options of the proxy's process. */

const HINT =
  'conveyor config-proxy --repository NAME --cache DIR --etcd URL [--etcd-user NAME --etcd-password-env VARIABLE] [--etcd-ca FILE] [--etcd-cert FILE --etcd-key FILE] [--trust FILE …] [--host NAME] [--label KEY=VALUE …] [--port N] [--peers HOST:PORT] [--packages-mb N]';

const OPTIONS = {
  host: { type: 'string' },
  repository: { type: 'string' },
  cache: { type: 'string' },
  etcd: { type: 'string' },
  'etcd-user': { type: 'string' },
  'etcd-password-env': { type: 'string' },
  'etcd-ca': { type: 'string' },
  'etcd-cert': { type: 'string' },
  'etcd-key': { type: 'string' },
  trust: { type: 'string', multiple: true },
  label: { type: 'string', multiple: true },
  port: { type: 'string', default: '4700' },
  peers: { type: 'string' },
  'packages-mb': { type: 'string', default: '20480' },
} as const;

/** @throws ConveyorError `usage` */
export function readOptions(args: readonly string[], env: Env) {
  const { host = hostname(), repository, cache, etcd, label = [], trust, port: text, peers, ...rest } = parse(args);
  const port = Number(text);
  if (text.trim() === '' || !Number.isInteger(port) || port < 0 || port > 65_535)
    throw usage(`--port ${text} is not a port`);
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,252}$/.test(host)) throw usage(`--host ${host} is not a host name`);
  if (repository === undefined) throw usage('--repository is missing');
  if (cache === undefined) throw usage('--cache is missing');
  if (etcd === undefined) throw usage('--etcd is missing');
  const why = whyNotStoreUrls(etcd);
  if (why !== undefined) throw usage(`--etcd: ${why}`);
  const place = peers === undefined ? undefined : parsePeerPlace(peers);
  if (peers !== undefined && place === undefined) throw usage(`--peers ${peers} is not HOST:PORT`);
  if (place && /^(0\.0\.0\.0|\[[0:]+\])$/.test(place.host))
    throw usage(`--peers ${peers} is not an address by which other hosts reach this one`);
  const megabytes = Number(rest['packages-mb']);
  if (!Number.isSafeInteger(megabytes) || megabytes < 1)
    throw usage(`--packages-mb ${rest['packages-mb']} is not a number from 1`);
  const mostBytes = megabytes * 1024 * 1024;
  const signing = trust && storeSigning({ signing: { trusted: trust } });
  const store = { url: etcd, ...storeDoor(parseAccess(rest, etcd, env)), signing };
  return { host, repository, cache, store, port, place, mostBytes, labels: Object.fromEntries(label.map(parseLabel)) };
}

/** Undefined for a host that accepts only values signed by trusted keys. */
export const describeUnverified = ({ signing }: ReturnType<typeof readOptions>['store']): string | undefined =>
  signing === undefined
    ? 'without --trust this host accepts any value in the store unverified: --trust FILE names the public key of the configuration service (docs/guides/secure.md#8-sign-what-hosts-read)'
    : undefined;

function parseAccess(given: Readonly<Record<string, unknown>>, etcd: string, env: Env) {
  const [user, passwordEnv, ca, cert, key] = ['user', 'password-env', 'ca', 'cert', 'key'].map((name) => {
    const value = given[`etcd-${name}`];
    return typeof value === 'string' ? value : undefined;
  });
  if ((user === undefined) !== (passwordEnv === undefined))
    throw usage('--etcd-user and --etcd-password-env go together');
  if ((cert === undefined) !== (key === undefined)) throw usage('--etcd-cert and --etcd-key go together');
  if (user !== undefined && isStoreOpenToOthers(etcd))
    throw usage('--etcd-user: a password goes over https, or stays on this machine');
  const tls = { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) };
  return {
    etcd,
    ...(user === undefined || passwordEnv === undefined
      ? {}
      : { login: { user, passwordEnv, password: env[passwordEnv] } }),
    ...(Object.keys(tls).length === 0 ? {} : { tls }),
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS }).values;
  } catch (error) {
    throw usage((error as Error).message);
  }
}

function parseLabel(text: string): [string, string] {
  const at = text.indexOf('=');
  if (at < 1) throw usage(`--label ${text} is not KEY=VALUE`);
  return [text.slice(0, at), text.slice(at + 1)];
}

const usage = (text: string): ConveyorError => conveyorError('usage', { text, hint: HINT });
