import { isIP } from 'node:net';
import { connect, type ConnectionOptions } from 'node:tls';
import { certificateState, type CertificateLook } from '../../domain/certificates';
import { formatDuration } from '../../domain/text';
import type { Env } from '../../settings/env';
import { certificatesForStores, certificatesForTemporal, readTemporalServerName } from '../../settings/certificates';
import { loadRegistry } from '../../settings/registry';
import { parseHost, parsePort } from '../stack/addresses';
import { ANSWERS_WITHIN_MS, type DoctorCheck } from './check';

/** Expired certificates make connections fail everywhere at once. */

/** It does not show whether Temporal works: a router in front of it may present another certificate. */
export const SHOWN_BY_TEMPORAL = 'certificate of Temporal';

/** Checks our certificates for Temporal, and the one that it presents; undefined without TLS. */
export async function checkTemporalCertificates(env: Env, address: string): Promise<DoctorCheck[] | undefined> {
  const own = await certificatesForTemporal(env);
  if (own === undefined) return undefined;
  const servername = await readTemporalServerName(env);
  const place = {
    host: parseHost(address),
    port: parsePort(address),
    ALPNProtocols: ['h2'],
    ...(servername && { servername }),
  };
  return certificateChecks([...own, ...(await peerCertificate(SHOWN_BY_TEMPORAL, place))], Date.now());
}

/**
 * Checks the certificates for configuration stores. A missing file may not be needed by any process: a wrong
 * configuration has its own check.
 */
export const checkStoreCertificates = (env: Env): DoctorCheck[] =>
  certificatesForStores(repositoriesIn(env)).flatMap((look) =>
    certificateChecks([look], Date.now()).map((check): DoctorCheck =>
      look.until === null ? { ...check, state: 'warning' } : check,
    ),
  );

/** Checks the certificate of the server, or of the proxy in front of it; nothing without TLS. */
export async function checkServerCertificate(url: string): Promise<DoctorCheck[]> {
  const { protocol, hostname, port } = new URL(url);
  if (protocol !== 'https:') return [];
  const place = { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || 443) };
  return certificateChecks(await peerCertificate('certificate of the server', place), Date.now());
}

function repositoriesIn(env: Env) {
  try {
    return loadRegistry(undefined, env).configRepositories;
  } catch {
    return [];
  }
}

/** Certificates with a long validity share one line. @param on their machine, if it is not this one */
export function certificateChecks(looks: readonly CertificateLook[], nowMs: number, on = ''): DoctorCheck[] {
  const unwell = looks.flatMap((look) => checkCertificate(look, nowMs, on));
  const [first, ...others] = looks.map(({ until }) => until ?? '').sort();
  if (unwell.length > 0 || first === undefined) return unwell;
  const count = others.length === 0 ? 'valid' : `${looks.length}, the first to expire is valid`;
  const name = others.length === 0 ? (looks[0]?.use ?? '') : 'certificates';
  return [{ name: `${name}${on}`, state: 'ok', found: `${count} until ${first}`, how: null }];
}

function checkCertificate(look: CertificateLook, nowMs: number, on: string): DoctorCheck[] {
  const { use, at, from, until } = look;
  const name = `${use}${on}`;
  const state = certificateState(look, nowMs);
  const left = formatDuration(Math.abs(Date.parse(until ?? '') - nowMs));
  switch (state.kind) {
    case 'valid':
      return [];
    case 'ending':
      return [{ name, state: 'warning', found: `${at} expires in ${left}, at ${until}`, how: RENEW }];
    case 'ended':
      return [
        {
          name,
          state: 'missing',
          found: `${at} expired ${left} ago, at ${until}: connections are refused`,
          how: RENEW,
        },
      ];
    case 'early':
      return [
        {
          name,
          state: 'missing',
          found: `${at} is valid only from ${from} on`,
          how: `${RENEW}; or set the clock of this machine`,
        },
      ];
    case 'unreadable':
      return [
        {
          name,
          state: 'missing',
          found: `${at} cannot be read: ${state.why}`,
          how: 'correct the path or the file',
        },
      ];
  }
}

const RENEW = 'put a new one there, then restart the processes that use it: they read certificates when they start';

/** The certificate of the other side of a TLS connection, whether or not it is trusted; nothing if it shows none in time. */
function peerCertificate(
  use: string,
  options: ConnectionOptions & { readonly host: string; readonly port: number },
): Promise<CertificateLook[]> {
  const at = `that of ${options.host}:${options.port}`;
  return new Promise((resolve) => {
    const socket = connect({
      ...(isIP(options.host) ? {} : { servername: options.host }),
      ...options,
      // Nothing is sent, so an expired certificate can be inspected, too.
      rejectUnauthorized: false,
    });
    const settle = (looks: CertificateLook[]): void => {
      socket.destroy();
      resolve(looks);
    };
    socket.setTimeout(ANSWERS_WITHIN_MS, () => settle([]));
    socket.once('error', () => settle([]));
    socket.once('secureConnect', () => {
      const { valid_from: from, valid_to: until } = socket.getPeerCertificate();
      settle(
        until
          ? [{ use, at, from: new Date(from).toISOString(), until: new Date(until).toISOString(), trouble: null }]
          : [],
      );
    });
  });
}
