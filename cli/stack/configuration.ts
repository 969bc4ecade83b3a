import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Git } from '../../configerator/repository/git';
import { copiesFolder, locateCopy, type RepositoryRef } from '../../configerator/repository/repository';
import { conveyorError } from '../../domain/errors';
import type { ConfigRepositorySettings } from '../../settings/configRepositories';
import type { Env } from '../../settings/env';
import { closeFolder } from '../../settings/ownFolder';
import { ALL_MISSING } from '../../settings/programs';
import { installRoot, loadRegistry } from '../../settings/registry';
import { freePorts } from './ports';

/** The configuration part of a stack: `conveyor dev --config`. */
export interface ConfigStack {
  /** The repository, with its etcd. */
  readonly repository: ConfigRepositorySettings & { readonly etcd: string };
  /** The address of the configuration service. */
  readonly service: string;
  /** The address of this host's proxy. */
  readonly proxy: string;
  /** For members of etcd among themselves. */
  readonly peerPort: number;
  /** The files of etcd, the service and the proxy. */
  readonly folder: string;
  /** The environment variables through which other processes find these. */
  readonly env: Readonly<Record<string, string>>;
}

const ETCD_PEER_PORT = 2380;

/** The usual addresses, or those of the environment and the configuration. @throws ConveyorError `config-invalid` */
export function usualConfigStack(env: Env): ConfigStack {
  const folder = join(installRoot(), '.conveyor', 'config');
  const service = env.CONVEYOR_CONFIG_SERVICE_URL || 'http://localhost:4710';
  const proxy = env.CONVEYOR_CONFIG_PROXY || 'http://127.0.0.1:4700';
  return configStack(env, { folder, service, proxy, peerPort: ETCD_PEER_PORT }, {});
}

/** Uses free ports and its own folder. @throws ConveyorError `config-invalid` */
export async function freeConfigStack(env: Env, folder: string): Promise<ConfigStack> {
  const [etcd, peerPort = 0, service, proxy] = await freePorts(4);
  const at = (port: number | undefined): string => `http://127.0.0.1:${port}`;
  return configStack(
    env,
    { folder, service: at(service), proxy: at(proxy), peerPort },
    { CONVEYOR_ETCD_URL: at(etcd), CONVEYOR_CONFIG_GIT: join(folder, 'flags.git') },
  );
}

type Place = Pick<ConfigStack, 'folder' | 'service' | 'proxy' | 'peerPort'>;

function configStack(env: Env, place: Place, own: Readonly<Record<string, string>>): ConfigStack {
  const { configRepositories, file } = loadRegistry(undefined, { ...env, ...own });
  const repository = configRepositories.find((one): one is ConfigStack['repository'] => one.etcd !== null);
  if (repository === undefined) {
    const detail = 'config.repositories names no repository with an etcd, which docs/guides/configuration.md shows';
    throw conveyorError('config-invalid', { file, detail });
  }
  const urls = {
    CONVEYOR_CONFIG_SERVICE_URL: place.service,
    CONVEYOR_CONFIG_CHANGES_URL: `${place.service}/artifact-finders/config-changes`,
    CONVEYOR_CONFIG_PROXY: place.proxy,
    // Anyone who can propose to this stack already controls this machine.
    CONVEYOR_PROGRAMS_ALLOW_MISSING: env.CONVEYOR_PROGRAMS_ALLOW_MISSING ?? ALL_MISSING,
  };
  return { ...place, repository, env: { ...own, ...urls } };
}

/**
 * Creates the repository if its folder does not exist; then data of an earlier one is deleted, too.
 * @returns whether it did
 * @throws ConveyorError `config-repository-unusable`
 */
export async function makeRepository({ repository, folder }: ConfigStack, env: Env): Promise<boolean> {
  const { name, git, branch } = repository;
  const isElsewhere = /^[\w.@-]+:/.test(git);
  if (isElsewhere || existsSync(git)) return false;
  for (const it of ['etcd', 'proxy', 'service.json']) rmSync(join(folder, it), { recursive: true, force: true });
  removeCopy({ repository }, env);
  for (const it of [folder, git]) closeFolder(it);
  await new Git(git, name).init(branch);
  return true;
}

/** The copy of the repository that processes of this machine work with. */
export function removeCopy({ repository }: { readonly repository: RepositoryRef }, env: Env): void {
  rmSync(locateCopy(repository, copiesFolder(env)), { recursive: true, force: true });
}
