import { listPage } from '../../client/webUi';
import { ConveyorError } from '../../domain/errors';
import { formatDuration, plural } from '../../domain/text';
import { withoutScope } from '../../settings/access';
import type { Env } from '../../settings/env';
import { loadRegistry } from '../../settings/registry';
import { NoAnswer, sendRequest } from '../../sdk/request';
import { parseHost, isLocal, parsePort, usualAddresses } from '../stack/addresses';
import { accepts } from '../../client/accepts';
import { ANSWERS_WITHIN_MS, type DoctorCheck } from './check';
import { lookAtTemporal, mismatchWords } from './temporal';

/** Checks of the configuration, and of the programs at our addresses. */

export function checkConfig(env: Env): DoctorCheck[] {
  const name = 'configuration';
  try {
    const { file, extensions, policy, warnings } = loadRegistry(undefined, env);
    const rules = policy === null ? 'only owners decide (no platform section)' : 'with platform rules';
    return [
      { name, state: 'ok', found: `${file}, ${plural(extensions.length, 'extension')}, ${rules}`, how: null },
      ...warnings.map((found): DoctorCheck => ({
        name: 'rules',
        state: 'warning',
        found,
        how: `correct it in ${file}`,
      })),
    ];
  } catch (error) {
    if (!(error instanceof ConveyorError)) throw error;
    return [{ name, state: 'missing', found: error.message, how: error.hint }];
  }
}

/** Webhook secrets without a scope. */
export function checkWebhooks(env: Env): DoctorCheck[] {
  const sources = scopelessSources(env);
  if (sources.length === 0) return [];
  const how =
    'list what it may say: repositories, finders, with, pipelines (docs/reference/pipelines.md#what-a-source-may-say)';
  return [{ name: 'webhooks', state: 'warning', found: `${sources.join(', ')} without a scope`, how }];
}

function scopelessSources(env: Env): readonly string[] {
  try {
    return withoutScope(loadRegistry(undefined, env).access);
  } catch {
    // The check of the configuration says why.
    return [];
  }
}

/** Each port of the development stack is free, or held by the expected program. */
export function checkPorts(env: Env): Promise<DoctorCheck[]> {
  const { temporal, webUi, simulator, server } = usualAddresses(env, {});
  const page = listPage(webUi, env.TEMPORAL_NAMESPACE || 'default');
  const ours: [string, string, () => Promise<PortHolder>][] = [
    ['Temporal', temporal, () => temporalHolder(temporal)],
    [WEB_UI, webUi, () => holderAt(`${webUi}/api/v1/settings`)],
    ['the simulator', simulator, () => holderAt(`${simulator}/control/jobs`)],
    ['the server', server, () => holderAt(`${server}/livez`)],
  ];
  return Promise.all(
    ours
      .filter(([, address]) => isLocal(address))
      .map(([who, address, look]) => checkPort(who, address, look, who === WEB_UI ? ` at ${page}` : '')),
  );
}

const WEB_UI = 'the Web UI';

/**
 * The holder of a port: the expected program, another one, a silent one that may be either, or one that reports a
 * problem.
 */
type PortHolder = 'ours' | 'stranger' | 'silent' | Pick<DoctorCheck, 'found' | 'how'>;

async function temporalHolder(address: string): Promise<PortHolder> {
  const look = await lookAtTemporal(address);
  switch (look.kind) {
    case 'answers':
      return 'ours';
    case 'plain':
    case 'tls':
      return mismatchWords(address, look);
    default:
      return look.kind === 'stranger' ? 'stranger' : 'silent';
  }
}

async function holderAt(url: string): Promise<PortHolder> {
  try {
    const { ok } = await sendRequest(url, { redirect: 'follow' }, { timeoutMs: ANSWERS_WITHIN_MS, maxBytes: 0 });
    return ok ? 'ours' : 'stranger';
  } catch (error) {
    return error instanceof NoAnswer && error.isLate ? 'silent' : 'stranger';
  }
}

async function checkPort(
  who: string,
  address: string,
  look: () => Promise<PortHolder>,
  where: string,
): Promise<DoctorCheck> {
  const port = parsePort(address);
  const name = `port ${port}`;
  if (!(await accepts(parseHost(address), port, ANSWERS_WITHIN_MS)))
    return { name, state: 'ok', found: `free for ${who}`, how: null };
  const within = formatDuration(ANSWERS_WITHIN_MS);
  const holder = await look();
  if (typeof holder === 'object') return { name, state: 'warning', ...holder };
  switch (holder) {
    case 'ours':
      return { name, state: 'ok', found: `${who} answers${where}`, how: null };
    case 'stranger': {
      const how = `lsof -sTCP:LISTEN -i :${port} names the program: stop it, or use conveyor dev --ports auto`;
      return {
        name,
        state: 'warning',
        found: `taken by something that did not answer as ${who} within ${within}`,
        how,
      };
    }
    case 'silent': {
      const how = `lsof -sTCP:LISTEN -i :${port} names its process, and ps -o stat,args shows whether it is stopped (T) or busy`;
      return {
        name,
        state: 'warning',
        found: `${who}, or another program on its port, did not answer within ${within}`,
        how,
      };
    }
  }
}
