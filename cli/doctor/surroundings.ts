import { listPage } from '../../client/webUi';
import { ConveyorError } from '../../domain/errors';
import { formatDuration, plural } from '../../domain/text';
import { withoutScope } from '../../platform/access';
import type { Env } from '../../platform/env';
import { loadRegistry } from '../../platform/registry';
import { NoAnswer, sendRequest } from '../../sdk/request';
import { hostOf, isLocal, portOf, usualAddresses } from '../stack/addresses';
import { accepts } from '../../client/accepts';
import { ANSWERS_WITHIN_MS, type DoctorCheck } from './check';
import { lookAtTemporal } from './temporal';

/** The surroundings: configuration, and what runs or could run at our addresses. */

export function checkConfig(env: Env): DoctorCheck[] {
  const name = 'configuration';
  try {
    const { file, extensions, policy, warnings } = loadRegistry(undefined, env);
    const rules = policy === null ? 'owners alone decide (no platform section)' : 'with rules of the platform';
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

/** Secrets that open a door of the front end further than they need to. */
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

/** Each port of the development stack is free or held by the program that belongs there. */
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

/** The holder of a port: the program that belongs there, another, or one that says nothing and may be either. */
type PortHolder = 'ours' | 'stranger' | 'silent';

async function temporalHolder(address: string): Promise<PortHolder> {
  const { kind } = await lookAtTemporal(address);
  return kind === 'answers' ? 'ours' : kind === 'stranger' ? 'stranger' : 'silent';
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
  const port = portOf(address);
  const name = `port ${port}`;
  if (!(await accepts(hostOf(address), port, ANSWERS_WITHIN_MS)))
    return { name, state: 'ok', found: `free for ${who}`, how: null };
  const within = formatDuration(ANSWERS_WITHIN_MS);
  switch (await look()) {
    case 'ours':
      return { name, state: 'ok', found: `${who} answers${where}`, how: null };
    case 'stranger': {
      const how = `lsof -sTCP:LISTEN -i :${port} names what listens there: stop it, or use conveyor dev --ports auto`;
      return {
        name,
        state: 'warning',
        found: `taken by something that did not answer as ${who} within ${within}`,
        how,
      };
    }
    case 'silent': {
      const how = `lsof -sTCP:LISTEN -i :${port} names its process, and ps -o stat,args shows whether it is stopped (T) or busy`;
      return { name, state: 'warning', found: `${who}, or what has its port, said nothing within ${within}`, how };
    }
  }
}
