import type { ReadinessPart } from '../api';
import { isJsonObject } from '../../domain/json';
import { attemptRequest, type HttpOptions, type UnansweredRequest } from './send';

/** A server gives Temporal two seconds. */
const SERVER_PROBE_TIMEOUT_MS = 4_000;

/** Whether the server answers, and the state of its dependencies; never throws. */
export async function serverReadiness(options: HttpOptions): Promise<readonly ReadinessPart[]> {
  const seen = await probeServer(options, SERVER_PROBE_TIMEOUT_MS);
  return 'why' in seen ? [{ name: 'server', ok: false, detail: seen.detail }] : seen.parts;
}

/** The same, with the reason if no server answered. */
export async function probeServer(
  options: HttpOptions,
  withinMs: number,
): Promise<{ readonly parts: readonly ReadinessPart[] } | UnansweredRequest> {
  const tried = await attemptRequest({ ...options, token: null }, READINESS, withinMs);
  if ('why' in tried) return tried;
  const checks: readonly unknown[] =
    isJsonObject(tried.body) && Array.isArray(tried.body['checks']) ? tried.body['checks'] : [];
  const parts = checks.filter(isJsonObject).map(({ name, status, detail }) => ({
    name: READINESS_NAMES.find((part) => part === name) ?? 'server',
    ok: status === 'ok',
    detail: String(detail),
  }));
  return { parts };
}

const READINESS = { method: 'GET', path: '/readyz' };

const READINESS_NAMES: readonly ReadinessPart['name'][] = ['temporal', 'worker', 'writes'];
