import type { Part } from '../api';
import { isRecord } from './failure';
import { ROUTES } from './routes';
import { attempt, type HttpOptions } from './send';

/** A server gives Temporal two seconds. */
const ANSWER_MS = 4_000;

/** Whether the server is there, and what it needs itself; never throws. */
export async function readiness(options: HttpOptions): Promise<readonly Part[]> {
  const tried = await attempt({ ...options, token: null }, ROUTES.readiness, {}, ANSWER_MS);
  if ('detail' in tried) return [{ name: 'server', ok: false, detail: tried.detail }];
  const checks: readonly unknown[] =
    isRecord(tried.body) && Array.isArray(tried.body['checks']) ? tried.body['checks'] : [];
  return checks.filter(isRecord).map(({ name, status, detail }) => ({
    name: name === 'temporal' || name === 'worker' ? name : 'server',
    ok: status === 'ok',
    detail: String(detail),
  }));
}
