import type { ReadinessPart } from '../../client/api';
import { askAt, createHttpClient, type HttpOptions } from '../../client/http/client';
import { probeServer } from '../../client/http/readiness';
import type { UnansweredRequest } from '../../client/http/send';
import { ConveyorError } from '../../domain/errors';
import { rootCause } from '../../domain/rootCause';
import { formatDuration } from '../../domain/text';
import type { Env } from '../../settings/env';
import { toHttpOptions, type CommandDoor } from '../door';
import type { Io } from '../io';
import { checkServerCertificate } from './certificates';
import { ANSWERS_WITHIN_MS, DOOR_CHECK, notSeen, SEE_TO_TEMPORAL, type DoctorCheck } from './check';
import { examinationChecks } from './examination';
import { finderChecks } from './finders';
import { WORKERS_CHECK } from './workers';

/**
 * Checks the server through which commands go, and everything behind it: only the server can reach that, so the server
 * examines it.
 */

type ServerDoor = Extract<CommandDoor, { kind: 'server' }>;

export async function checkServer(
  door: ServerDoor,
  io: Pick<Io, 'askServer' | 'sleep'> & { readonly env: Env },
): Promise<DoctorCheck[]> {
  const found = `the server at ${door.url} (${door.from})`;
  const http = toHttpOptions({ ...io, now: () => Date.now() }, door);
  const broken = (why: string, how: string): DoctorCheck => ({
    ...{ name: DOOR_CHECK, state: 'missing', found: `${found}: ${why}`, how },
  });
  const [certificates, seen] = await Promise.all([checkServerCertificate(door.url), probeTwice(http, io)]);
  if ('why' in seen)
    return [
      ...certificates,
      broken(seen.detail, HOW_TO_REACH[seen.why]),
      notSeen(
        WORKERS_CHECK,
        'no server answers',
        'repair the server first; or bypass it where Temporal can be reached: --break-glass "why"',
      ),
    ];
  const unwell = seen.parts.find(({ name, ok }) => name === 'server' && !ok);
  if (unwell !== undefined) return [broken(unwell.detail, 'another server, or the next start of this one, takes over')];
  try {
    const { principal, expiresAt } = await askAt(http).whoAmI();
    return [
      { name: DOOR_CHECK, state: 'ok', found: `${found}, as ${principal}`, how: null },
      ...certificates,
      ...(door.kept?.renewal ? [] : tokenChecks(expiresAt, Date.now(), door.url)),
      ...(await checkBehind(http, seen.parts)),
    ];
  } catch (error) {
    if (!(error instanceof ConveyorError)) throw error;
    const login = `conveyor login ${door.url}`;
    return [
      broken(error.message, error.code === 'unauthorized' ? login : error.hint),
      ...certificates,
      ...seen.parts.map(partCheck),
      notSeen('extensions', 'the server answers this only to signed-in callers', login),
    ];
  }
}

/** A proxy may have no server for a moment, for example during a replacement. */
const PAUSE_MS = 1_000;

async function probeTwice(http: HttpOptions, { sleep }: Pick<Io, 'sleep'>) {
  const seen = await probeServer(http, ANSWERS_WITHIN_MS);
  if (!('why' in seen) || !seen.isWorthAnother) return seen;
  await sleep(PAUSE_MS);
  return probeServer(http, ANSWERS_WITHIN_MS);
}

const BESIDE =
  'deploys continue as long as Temporal and the workers run; --break-glass "why" bypasses it where Temporal can be reached';
/** A load balancer sends no requests to servers that are not ready. */
const OR_UNREADY = 'or no server is ready: ask one directly, for example by kubectl port-forward: its /readyz says why';

const HOW_TO_REACH: Readonly<Record<UnansweredRequest['why'], string>> = {
  away: `see whether conveyor server runs there, and whether address and network are right; ${OR_UNREADY}; ${BESIDE}`,
  silent: `on its machine, ps -o stat,args shows whether it is stopped (T: kill -CONT continues it) or busy; or the network loses packets; ${BESIDE}`,
  proxy: `the proxy there works, but the server behind it is gone, frozen or too slow: check the process and the log of conveyor server; ${OR_UNREADY}; ${BESIDE}`,
  stranger: 'another program has that address: correct it (conveyor login URL, CONVEYOR_SERVER or --server)',
};

/** A token that a command renews by itself needs no check. */
const TOKEN_ENDS_SOON_MS = 600_000;

export function tokenChecks(expiresAt: string | null, nowMs: number, url: string): DoctorCheck[] {
  const leftMs = expiresAt === null ? Infinity : Date.parse(expiresAt) - nowMs;
  if (leftMs > TOKEN_ENDS_SOON_MS) return [];
  const found =
    leftMs > 0
      ? `expires in ${formatDuration(leftMs)}, at ${expiresAt ?? ''}`
      : `expired ${formatDuration(-leftMs)} ago, at ${expiresAt ?? ''}: servers accept it for another minute, because clocks differ`;
  return [{ name: 'token', state: 'warning', found, how: `conveyor login ${url}, or another CONVEYOR_TOKEN` }];
}

/** An examination shows more than the polls of workers do; without Temporal there is none. */
async function checkBehind(http: HttpOptions, parts: readonly ReadinessPart[]): Promise<DoctorCheck[]> {
  const temporal = parts.filter(({ name }) => name === 'temporal').map(partCheck);
  if (temporal.some(({ state }) => state !== 'ok'))
    return [...temporal, notSeen(WORKERS_CHECK, 'the server does not reach Temporal', SEE_TO_TEMPORAL)];
  const [examined, finders] = await Promise.all([checkExamination(http, parts), checkFindersBehind(http)]);
  return [...temporal, ...examined, ...finders];
}

async function checkExamination(http: HttpOptions, parts: readonly ReadinessPart[]): Promise<DoctorCheck[]> {
  try {
    return examinationChecks(await askAt(http).examine(), 'the server');
  } catch (error) {
    if (!(error instanceof ConveyorError)) throw error;
    const seen = parts.filter(({ name }) => name !== 'temporal').map(partCheck);
    if (error.code === 'not-found')
      return [
        ...seen,
        notSeen(
          'extensions',
          'the server is older than this command line, and cannot run this check',
          'upgrade the server',
        ),
      ];
    return [...seen, { ...notSeen(WORKERS_CHECK, error.message, error.hint), state: 'missing' }];
  }
}

async function checkFindersBehind(http: HttpOptions): Promise<DoctorCheck[]> {
  try {
    return finderChecks(await createHttpClient(http).listFinders());
  } catch (error) {
    return [notSeen('finders', rootCause(error), SEE_TO_TEMPORAL)];
  }
}

const partCheck = ({ name, ok, detail }: ReadinessPart): DoctorCheck => ({
  ...{ name: `${name} of the server`, state: ok ? 'ok' : 'missing', found: detail },
  how: ok ? null : 'the operator of the server has to fix that; nothing is lost meanwhile',
});
