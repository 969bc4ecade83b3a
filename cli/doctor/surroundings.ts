import type { Connection } from '@temporalio/client';
import { listPage } from '../../client/webUi';
import { ConveyorError } from '../../domain/errors';
import { formatDuration } from '../../domain/text';
import type { FinderView } from '../../domain/views';
import { withoutScope } from '../../platform/access';
import type { Env } from '../../platform/env';
import { loadRegistry } from '../../platform/registry';
import { hostOf, isLocal, portOf, usualAddresses } from '../stack/addresses';
import { accepts, respondsOk } from '../stack/ports';
import { attributeChecks } from './attributes';
import type { DoctorCheck } from './check';

/** What is around: configuration, and what runs or could run at our addresses. */

export function checkConfig(env: Env): DoctorCheck[] {
  const name = 'configuration';
  try {
    const { file, extensions, policy, warnings } = loadRegistry(undefined, env);
    const rules = policy === null ? 'owners alone decide (no platform section)' : 'with rules of the platform';
    return [
      { name, state: 'ok', found: `${file}, ${extensions.length} extensions, ${rules}`, how: null },
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

export async function checkTemporal(env: Env): Promise<DoctorCheck> {
  const name = 'Temporal';
  const { temporal } = usualAddresses(env, {});
  const version = await serverVersion(temporal);
  if (version !== undefined) return { name, state: 'ok', found: `server ${version} answers at ${temporal}`, how: null };
  const how = isLocal(temporal)
    ? 'start one with ./temporal-dev.sh or conveyor dev'
    : 'check TEMPORAL_ADDRESS and the network, or unset it and use ./temporal-dev.sh';
  const found = (await accepts(hostOf(temporal), portOf(temporal)))
    ? `the program at ${temporal} did not answer as Temporal within ${formatDuration(WITHIN_MS)}: it is another, or too busy`
    : `nothing answers at ${temporal}`;
  return { name, state: 'warning', found, how };
}

export async function checkAttributes(env: Env): Promise<DoctorCheck[]> {
  const namespace = env.TEMPORAL_NAMESPACE || 'default';
  const listed = await askTemporal(usualAddresses(env, {}).temporal, ({ operatorService }) =>
    operatorService.listSearchAttributes({ namespace }),
  );
  return listed === undefined ? [] : attributeChecks(namespace, listed.customAttributes);
}

/** Whether the finders answer that the workers of this Temporal server ask. */
export async function checkFinders(env: Env): Promise<DoctorCheck[]> {
  const { temporal } = usualAddresses(env, {});
  if (!(await accepts(hostOf(temporal), portOf(temporal)))) return [];
  try {
    // As above.
    const { createClient } = await import('../../client');
    const client = await createClient({ address: temporal, namespace: env.TEMPORAL_NAMESPACE || undefined });
    try {
      return finderChecks(await client.listFinders());
    } finally {
      await client.close();
    }
  } catch {
    // Whatever else listens there is named by the check of Temporal.
    return [];
  }
}

export function finderChecks(finders: readonly FinderView[]): DoctorCheck[] {
  const name = 'finders';
  const bad = finders.filter(({ state }) => state === 'failing' || state === 'unasked');
  if (finders.length === 0) return [];
  if (bad.length === 0) return [{ name, state: 'ok', found: `${finders.length}, none fails`, how: null }];
  return bad.map(({ id, since, reason }) => ({
    name: `finder ${id}`,
    state: 'warning',
    found: `${since === null ? '' : `since ${since}: `}${reason}`,
    how: 'start its service, or correct its address in conveyor.config.yaml; nothing is lost meanwhile',
  }));
}

/** Each port of the development stack is free or held by the program that belongs there. */
export function checkPorts(env: Env): Promise<DoctorCheck[]> {
  const { temporal, webUi, simulator, server } = usualAddresses(env, {});
  const page = listPage(webUi, env.TEMPORAL_NAMESPACE || 'default');
  const ours: [string, string, () => Promise<boolean>][] = [
    ['Temporal', temporal, async () => (await serverVersion(temporal)) !== undefined],
    [WEB_UI, webUi, () => respondsOk(`${webUi}/api/v1/settings`, WITHIN_MS)],
    ['the simulator', simulator, () => respondsOk(`${simulator}/control/jobs`, WITHIN_MS)],
    ['the server', server, () => respondsOk(`${server}/livez`, WITHIN_MS)],
  ];
  return Promise.all(
    ours
      .filter(([, address]) => isLocal(address))
      .map(([who, address, isOurs]) => checkPort(who, address, isOurs, who === WEB_UI ? ` at ${page}` : '')),
  );
}

const WEB_UI = 'the Web UI';

async function checkPort(
  who: string,
  address: string,
  isOurs: () => Promise<boolean>,
  where: string,
): Promise<DoctorCheck> {
  const port = portOf(address);
  const name = `port ${port}`;
  if (!(await accepts(hostOf(address), port))) return { name, state: 'ok', found: `free for ${who}`, how: null };
  if (await isOurs()) return { name, state: 'ok', found: `${who} answers${where}`, how: null };
  const how = `lsof -i :${port} names what listens there: stop it, or use conveyor dev --ports auto`;
  const found = `taken by something that did not answer as ${who} within ${formatDuration(WITHIN_MS)}`;
  return { name, state: 'warning', found, how };
}

/** Enough even on a busy machine: machines are often busy when somebody examines them. */
const WITHIN_MS = 10_000;

const serverVersion = (address: string): Promise<string | undefined> =>
  askTemporal(address, async ({ workflowService }) => {
    const { serverVersion: version } = await workflowService.getSystemInfo({});
    return version || 'of an unknown version';
  });

/** Undefined where no Temporal server answers. */
async function askTemporal<T>(address: string, ask: (connection: Connection) => Promise<T>): Promise<T | undefined> {
  // A refused connection is reported at once; the client would keep trying.
  if (!(await accepts(hostOf(address), portOf(address)))) return undefined;
  try {
    // If this file loaded it, every other command would take half a second longer.
    const { Connection } = await import('@temporalio/client');
    const { loadClientConnectConfig } = await import('@temporalio/envconfig');
    const { connectionOptions } = loadClientConnectConfig();
    const connection = await Connection.connect({
      ...connectionOptions,
      address,
      connectTimeout: WITHIN_MS,
    });
    try {
      return await ask(connection);
    } finally {
      await connection.close();
    }
  } catch {
    return undefined;
  }
}
