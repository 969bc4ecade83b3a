import type { Connection } from '@temporalio/client';
import { describeTlsMismatch, tlsRemedy, type TlsMismatch } from '../../domain/temporalAway';
import { formatDuration } from '../../domain/text';
import { rootCause } from '../../domain/rootCause';
import type { Env } from '../../settings/env';
import { loadRegistry } from '../../settings/registry';
import { NoAnswer, sendRequest } from '../../sdk/request';
import { parseHost, isLocal, parsePort, usualAddresses } from '../stack/addresses';
import { accepts } from '../../client/accepts';
import { tlsMismatch, tlsSettings } from '../../client/temporalTls';
import { checkTemporalCertificates, SHOWN_BY_TEMPORAL } from './certificates';
import { ANSWERS_WITHIN_MS, notSeen, SEE_TO_TEMPORAL, type DoctorCheck } from './check';
import { examinationChecks } from './examination';
import { finderChecks } from './finders';
import { WORKERS_CHECK } from './workers';

/** Checks Temporal and, if it answers, everything behind it. */

/**
 * `mute` accepts connections but does not answer, `stranger` is another program; the settings decide whether we use
 * TLS.
 */
type TemporalLook =
  | { readonly kind: 'answers'; readonly version: string }
  | { readonly kind: 'absent' | 'mute' | 'stranger' }
  | { readonly kind: TlsMismatch; readonly settings: readonly string[] };

export async function checkBehindTemporal(env: Env): Promise<DoctorCheck[]> {
  const { temporal } = usualAddresses(env, {});
  const certificates = (await checkTemporalCertificates(env, temporal)) ?? [];
  if (certificates.some(({ name, state }) => state === 'missing' && name !== SHOWN_BY_TEMPORAL))
    return [
      ...certificates,
      notSeen('Temporal', 'no connection without that certificate', 'repair the certificate first'),
    ];
  const look = await lookAtTemporal(temporal);
  const own = [...certificates, temporalCheck(temporal, look)];
  if (look.kind === 'absent') return own;
  if (look.kind !== 'answers') return [...own, notSeen(WORKERS_CHECK, 'Temporal does not answer', SEE_TO_TEMPORAL)];
  const behind = await Promise.all([checkWork(env), checkFinders(env)]);
  return [...own, ...behind.flat()];
}

/** If nothing listens on this machine, perhaps nothing was started yet, which is no fault. */
export function temporalCheck(address: string, look: TemporalLook): DoctorCheck {
  const name = 'Temporal';
  const within = formatDuration(ANSWERS_WITHIN_MS);
  const port = parsePort(address);
  switch (look.kind) {
    case 'answers':
      return { name, state: 'ok', found: `server ${look.version} answers at ${address}`, how: null };
    case 'absent':
      return isLocal(address)
        ? { name, state: 'warning', found: `nothing answers at ${address}`, how: START_ONE }
        : { name, state: 'missing', found: `nothing answers at ${address}`, how: MIND_ADDRESS };
    case 'mute':
      return {
        ...{ name, state: 'missing' },
        found: `the server at ${address} accepts connections, but did not answer within ${within}: it is frozen or too busy`,
        how: `check its log and its machine${isLocal(address) ? `; lsof -sTCP:LISTEN -i :${port} names its process: if ps -o stat says T, it is stopped, and kill -CONT continues it` : ''}; workflows continue once it answers, and nothing is lost`,
      };
    case 'plain':
    case 'tls':
      return { name, state: 'missing', ...mismatchWords(address, look) };
    case 'stranger':
      return {
        ...{ name, state: 'missing' },
        found: `the program at ${address} is not Temporal: it answers HTTP, but not as Temporal within ${within}`,
        how: isLocal(address)
          ? `lsof -sTCP:LISTEN -i :${port} names it: stop it, or use conveyor dev --ports auto`
          : MIND_ADDRESS,
      };
  }
}

type Mismatch = Extract<TemporalLook, { readonly kind: TlsMismatch }>;

export const mismatchWords = (address: string, { kind, settings }: Mismatch): Pick<DoctorCheck, 'found' | 'how'> => ({
  found: `no Temporal server answers at ${address}: ${describeTlsMismatch(kind)}`,
  how: tlsRemedy(kind, settings),
});

const START_ONE = 'start one with ./temporal-dev.sh or conveyor dev';
const MIND_ADDRESS = 'check TEMPORAL_ADDRESS and the network, or unset it and use ./temporal-dev.sh';

const namespaceIn = (env: Env): string | undefined => env.TEMPORAL_NAMESPACE || undefined;

async function checkWork(env: Env): Promise<DoctorCheck[]> {
  const { temporal: address, taskQueue } = usualAddresses(env, {});
  // Loaded here, because loading it with this file would slow every other command by half a second.
  const { examineWork } = await import('../../client/examination');
  try {
    const view = await examineWork(taskQueue, { address, namespace: namespaceIn(env), seal: sealIn(env) });
    return examinationChecks(view, 'this machine');
  } catch (error) {
    const why = `Temporal no longer answers: ${rootCause(error)}`;
    return [{ ...notSeen(WORKERS_CHECK, why, SEE_TO_TEMPORAL), state: 'missing' }];
  }
}

/** Without the key of the workers an examination is refused, which still shows that they answer. */
function sealIn(env: Env) {
  try {
    return loadRegistry(undefined, env).seal;
  } catch {
    // The check of the configuration says why.
    return null;
  }
}

/** Whether the finders of this Temporal server's workers answer. */
async function checkFinders(env: Env): Promise<DoctorCheck[]> {
  const { temporal } = usualAddresses(env, {});
  try {
    // As above.
    const { createClient } = await import('../../client');
    const client = await createClient({ address: temporal, namespace: namespaceIn(env) });
    try {
      return finderChecks(await client.listFinders());
    } finally {
      await client.close();
    }
  } catch (error) {
    return [notSeen('finders', rootCause(error), SEE_TO_TEMPORAL)];
  }
}

const HTTP_WITHIN_MS = 2_000;

export async function lookAtTemporal(address: string): Promise<TemporalLook> {
  // A refused connection is reported at once; the client would keep trying.
  if (!(await accepts(parseHost(address), parsePort(address), ANSWERS_WITHIN_MS))) return { kind: 'absent' };
  try {
    return await askTemporal(address, async ({ workflowService }) => {
      const { serverVersion } = await workflowService.getSystemInfo({});
      return { kind: 'answers', version: serverVersion || 'of an unknown version' };
    });
  } catch {
    return lookAtMute(address);
  }
}

async function lookAtMute(address: string): Promise<TemporalLook> {
  const wantsTls = await usesTls();
  const mismatch = await tlsMismatch(parseHost(address), parsePort(address), wantsTls, HTTP_WITHIN_MS);
  // A TLS server may answer plain HTTP like this.
  if (mismatch !== 'tls' && (await speaksHttp(address))) return { kind: 'stranger' };
  return mismatch === undefined ? { kind: 'mute' } : { kind: mismatch, settings: tlsSettings(wantsTls) };
}

async function speaksHttp(address: string): Promise<boolean> {
  try {
    await sendRequest(`http://${address}/`, {}, { timeoutMs: HTTP_WITHIN_MS, maxBytes: 0 });
    return true;
  } catch (error) {
    if (error instanceof NoAnswer) return false;
    throw error;
  }
}

async function askTemporal<T>(address: string, ask: (connection: Connection) => Promise<T>): Promise<T> {
  // As above.
  const { Connection } = await import('@temporalio/client');
  const connectionOptions = await loadConnectionOptions();
  const connection = await Connection.connect({ ...connectionOptions, address, connectTimeout: ANSWERS_WITHIN_MS });
  try {
    return await connection.withDeadline(Date.now() + ANSWERS_WITHIN_MS, () => ask(connection));
  } finally {
    await connection.close();
  }
}

async function loadConnectionOptions() {
  const { loadClientConnectConfig } = await import('@temporalio/envconfig');
  return loadClientConnectConfig().connectionOptions;
}

/** If the settings cannot be read, their own check says why. */
const usesTls = (): Promise<boolean> =>
  loadConnectionOptions().then(
    ({ tls }) => Boolean(tls),
    () => false,
  );
