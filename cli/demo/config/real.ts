import { join } from 'node:path';
import { OWN_PROGRAMS } from '../../../configerator/compiler/walls';
import { ConfigRepository, copiesFolder } from '../../../configerator/repository/repository';
import { createDraftFromTree, propose } from '../../../configerator/repository/propose';
import { EtcdStore } from '../../../configerator/store/etcd';
import { conveyorError } from '../../../domain/errors';
import { resolveActor } from '../../door';
import { stackEnvironment } from '../../stack/addresses';
import { startChild, awaitReady, type Child } from '../../stack/child';
import type { ConfigStack } from '../../stack/configuration';
import { entryPoint } from '../../stack/parts';
import type { Stage } from '../demo';
import { demoSources } from './sources';
import { HOSTS_EACH, PATH, REGIONS, type ConfigWorld } from './world';

/** A git repository, etcd, and ten hosts, each with a proxy and a server of the feed that follows its limits. */
export async function openReal(stage: Stage, { repository: settings, folder }: ConfigStack): Promise<ConfigWorld> {
  const { io } = stage;
  const repository = await ConfigRepository.open({ ...settings, programs: OWN_PROGRAMS }, copiesFolder(io.env));
  const store = new EtcdStore({ url: settings.etcd });
  const hosts = REGIONS.flatMap((region) =>
    Array.from({ length: HOSTS_EACH }, (_, index) => ({ host: `${region}-${index + 1}`, region })),
  );
  const urls = await Promise.all(hosts.map((one) => startProxy(stage, settings, folder, one)));
  await startServers(stage, urls);
  return {
    store: `a git repository, etcd at ${settings.etcd}, and ${hosts.length} hosts with a proxy each`,
    propose: async (limits) => {
      const draft = await createDraftFromTree(repository, await repository.head(), demoSources(limits));
      const by = { author: resolveActor(io), message: `Limit feeds to ${limits.hard}`, nowMs: io.now() };
      return (await propose(repository, draft, by)).version;
    },
    counts: async () => {
      const all = await store.subscribers(settings.name, PATH);
      const newest = (await store.read(settings.name, PATH))?.commit ?? null;
      const committed = all.filter(({ revision, commit }) => revision === null && commit === newest);
      const overridden = all.filter(({ revision }) => revision !== null);
      return { total: all.length, committed: committed.length, overridden: overridden.length };
    },
  };
}

const CHILD_READY_MS = 30_000;

async function startProxy(
  stage: Stage,
  { name, etcd }: ConfigStack['repository'],
  folder: string,
  { host, region }: { readonly host: string; readonly region: string },
): Promise<string> {
  const flags = { repository: name, etcd, host, label: `region=${region}`, port: '0', cache: join(folder, host) };
  const args = Object.entries(flags).flatMap(([flag, value]) => [`--${flag}`, value]);
  const ready = /ready at (\S+)/;
  const child = await startAndAwait(stage, `proxy of ${host}`, ['configerator/proxy/main.js', ...args], ready);
  return ready.exec(child.log())?.[1] ?? '';
}

/** One process plays all servers. */
const startServers = (stage: Stage, urls: readonly string[]): Promise<Child> =>
  startAndAwait(stage, 'servers of the feed', ['examples/config/app.js', ...urls], /^following/m);

async function startAndAwait(
  { io, stack, stop, children }: Stage,
  name: string,
  [path = '', ...args]: readonly string[],
  ready: RegExp,
): Promise<Child> {
  const logFile = join(stack.logFolder, `${name.replaceAll(' ', '-')}.log`);
  const [command, env] = [process.execPath, { ...io.env, ...stackEnvironment(stack) }];
  const spec = {
    name,
    command,
    args: [entryPoint(path), ...args],
    env,
    logFile,
    startedBy: stack.startedBy,
    isReady: (log: string) => ready.test(log),
  };
  const child = startChild(spec);
  children.push(child);
  await awaitReady(io, child, spec, CHILD_READY_MS, stop);
  if (stop.aborted)
    throw conveyorError('process-failed', {
      ...{ process: name, how: 'it was interrupted', tail: '', logFile },
      command: stack.startedBy,
    });
  return child;
}
