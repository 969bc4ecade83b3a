import { OWN_PROGRAMS } from '../../../config/compiler/walls';
import { ConfigRepository, copiesFolder } from '../../../config/repository/repository';
import { loadRegistry, type Registry } from '../../../platform/registry';
import type { Io } from '../../io';
import { chooseRepository, type RepositoryOptions } from './choice';

/** The repository that is meant, and what the configuration of this machine says of it. */
export function getRepositorySettings({ env }: Pick<Io, 'env'>, options: RepositoryOptions) {
  const registry: Registry = loadRegistry(undefined, env);
  return { registry, settings: chooseRepository(registry.configRepositories, options) };
}

/** A copy of it on this machine. @throws ConveyorError `usage`, `config-invalid`, `unknown-extension` */
export const openNamedRepository = (io: Pick<Io, 'env'>, options: RepositoryOptions): Promise<ConfigRepository> =>
  ConfigRepository.open(
    { ...getRepositorySettings(io, options).settings, programs: OWN_PROGRAMS },
    copiesFolder(io.env),
  );
