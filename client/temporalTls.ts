import { isIP } from 'node:net';
import { connect } from 'node:tls';
import type { TlsMismatch } from '../domain/temporalAway';

/** @param wantsTls whether the client uses TLS */
export async function tlsMismatch(
  host: string,
  port: number,
  wantsTls: boolean,
  withinMs: number,
): Promise<TlsMismatch | undefined> {
  const speaks = await speaksTls(host, port, withinMs);
  if (speaks === undefined || speaks === wantsTls) return undefined;
  return speaks ? 'tls' : 'plain';
}

/**
 * Whether the server there speaks TLS, by its answer to a handshake; undefined without an answer, for example if it is
 * frozen.
 */
function speaksTls(host: string, port: number, withinMs: number): Promise<boolean | undefined> {
  return new Promise((resolve) => {
    const name = isIP(host) === 0 ? { servername: host } : {};
    // Nothing is sent, so the server need not be trusted.
    const socket = connect({ host, port, ...name, ALPNProtocols: ['h2'], rejectUnauthorized: false });
    const settle = (answer: boolean | undefined): void => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(withinMs, () => settle(undefined));
    socket.once('secureConnect', () => settle(true));
    socket.once('close', () => settle(undefined));
    socket.once('error', ({ code = '' }: NodeJS.ErrnoException) =>
      settle(NO_TLS.test(code) ? false : TLS_ALERT.test(code) ? true : undefined),
    );
  });
}

/** The answer was not TLS. */
const NO_TLS = /^ERR_SSL_(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST)$/;
/** A TLS refusal, for example of a client without a certificate. */
const TLS_ALERT = /^ERR_SSL_\w*ALERT/;

/**
 * The settings of this process that decide whether its connections to Temporal use TLS; `temporal.toml` if no variable
 * does.
 */
export function tlsSettings(wantsTls: boolean, env: NodeJS.ProcessEnv = process.env): string[] {
  const names = Object.keys(env).filter((name) => env[name] !== undefined);
  const variables = wantsTls
    ? names.filter((name) => TURNS_ON.test(name)).sort()
    : names.filter((name) => name === 'TEMPORAL_TLS');
  if (variables.length > 0 || !wantsTls) return variables;
  return [`tls or api_key of ${env['TEMPORAL_CONFIG_FILE'] || 'temporal.toml'}`];
}

const TURNS_ON = /^TEMPORAL_(TLS(_.+)?|API_KEY)$/;
