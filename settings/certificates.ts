import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { ConfigDataSource } from '@temporalio/envconfig';
import { validityOfAuthorities, validityOfChain, type CertificateLook } from '../domain/certificates';
import type { ConfigRepositorySettings } from './configRepositories';
import type { Env } from './env';

type StoreRepositories = readonly Pick<ConfigRepositorySettings, 'name' | 'tls'>[];

/** The certificates with which processes of this machine connect to Temporal; undefined without TLS. */
export async function certificatesForTemporal(env: Env): Promise<CertificateLook[] | undefined> {
  try {
    const { tls, apiKey } = await loadTemporalProfile(env);
    if (tls?.disabled || (tls === undefined && apiKey === undefined)) return undefined;
    return [
      ...lookAtFile('client certificate for Temporal', tls?.clientCert, 'chain'),
      ...lookAtFile('authority of Temporal', tls?.serverCACert, 'authorities'),
    ];
  } catch (error) {
    return [unreadable('settings for Temporal', 'temporal.toml, or TEMPORAL_*,', error)];
  }
}

/** The name for checking its certificate, if it differs from the address. */
export async function readTemporalServerName(env: Env): Promise<string | undefined> {
  try {
    return (await loadTemporalProfile(env)).tls?.serverName;
  } catch {
    return undefined;
  }
}

/** @throws Error if its settings file is invalid */
async function loadTemporalProfile(env: Env) {
  // Loaded here, because loading it with this file would slow every command.
  const { loadClientConfigProfile } = await import('@temporalio/envconfig');
  const set = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return loadClientConfigProfile({ overrideEnvVars: Object.fromEntries(set) });
}

/** The certificates for configuration stores. Signing keys have no expiry. */
export const certificatesForStores = (repositories: StoreRepositories): CertificateLook[] =>
  repositories.flatMap(certificatesForStore);

const certificatesForStore = ({ name, tls }: StoreRepositories[number]): CertificateLook[] => [
  ...lookAtFile(`client certificate for the store of ${name}`, pathSource(tls?.cert), 'chain'),
  ...lookAtFile(`authority of the store of ${name}`, pathSource(tls?.ca), 'authorities'),
];

const pathSource = (path: string | undefined): ConfigDataSource | undefined =>
  path === undefined ? undefined : { path };

function lookAtFile(
  use: string,
  source: ConfigDataSource | undefined,
  kind: 'chain' | 'authorities',
): CertificateLook[] {
  if (source === undefined) return [];
  const at = 'path' in source ? source.path : 'the environment or temporal.toml';
  try {
    const pem = 'path' in source ? readFileSync(source.path, 'utf8') : Buffer.from(source.data).toString();
    const all = (pem.match(CERTIFICATE) ?? []).map(parseValidity);
    if (all.length === 0) return [{ use, at, from: null, until: null, trouble: null }];
    const { fromMs, untilMs } = kind === 'chain' ? validityOfChain(all) : validityOfAuthorities(all);
    return [{ use, at, from: atTime(fromMs), until: atTime(untilMs), trouble: null }];
  } catch (error) {
    return [unreadable(use, at, error)];
  }
}

const unreadable = (use: string, at: string, error: unknown): CertificateLook => ({
  ...{ use, at, from: null, until: null },
  trouble: error instanceof Error ? error.message : String(error),
});

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

function parseValidity(pem: string) {
  const { validFrom, validTo } = new X509Certificate(pem);
  return { fromMs: Date.parse(validFrom), untilMs: Date.parse(validTo) };
}

const atTime = (ms: number): string => new Date(ms).toISOString();
