import type { ReadinessPart } from '../api';
import { isJsonObject } from '../../domain/json';
import { ROUTES } from './routes';
import { attemptRequest, type HttpOptions } from './send';

/** A server gives Temporal two seconds. */
const SERVER_PROBE_TIMEOUT_MS = 4_000;

/** Whether the server is there, and what it needs itself; never throws. */
export async function serverReadiness(options: HttpOptions): Promise<readonly ReadinessPart[]> {
  const tried = await attemptRequest({ ...options, token: null }, ROUTES.readiness, {}, SERVER_PROBE_TIMEOUT_MS);
  if ('detail' in tried) return [{ name: 'server', ok: false, detail: tried.detail }];
  const checks: readonly unknown[] =
    isJsonObject(tried.body) && Array.isArray(tried.body['checks']) ? tried.body['checks'] : [];
  return checks.filter(isJsonObject).map(({ name, status, detail }) => ({
    name: name === 'temporal' || name === 'worker' ? name : 'server',
    ok: status === 'ok',
    detail: String(detail),
  }));
}
