import { loadRegistry, type Registry } from '../../../settings/registry';
import type { Io } from '../../io';
import { chooseRepository, type RepositoryOptions } from './choice';

/** The chosen repository, with its settings on this machine. */
export function getRepositorySettings({ env }: Pick<Io, 'env'>, options: RepositoryOptions) {
  const registry: Registry = loadRegistry(undefined, env);
  return { registry, settings: chooseRepository(registry.configRepositories, options) };
}
