import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { Git } from '../../../config/repository/git';
import { ConfigRepository, copiesFolder } from '../../../config/repository/repository';
import { loadRegistry, type Registry } from '../../../platform/registry';
import type { Io } from '../../io';
import { chosenRepository, type RepositoryOptions } from './choice';

/** The repository that is meant, and what the configuration of this machine says of it. */
export function settingsOf({ env }: Pick<Io, 'env'>, options: RepositoryOptions) {
  const registry: Registry = loadRegistry(undefined, env);
  return { registry, settings: chosenRepository(registry.configRepositories, options) };
}

/** A copy of it on this machine. @throws ConveyorError `usage`, `config-invalid`, `unknown-extension` */
export const repositoryOf = (io: Pick<Io, 'env'>, options: RepositoryOptions): Promise<ConfigRepository> =>
  ConfigRepository.open(settingsOf(io, options).settings, copiesFolder(io.env));

/** On which commit a folder is based: the one that is given, else that of its own checkout, else the newest of the branch. */
export async function baseOf(
  repository: ConfigRepository,
  folder: string,
  given: string | undefined,
): Promise<string | null> {
  const head = await repository.head();
  if (given !== undefined) return repository.ancestor(given, head);
  const checkout = await checkoutOf(folder);
  return head !== null && checkout !== null && (await repository.isAncestor(checkout, head)) ? checkout : head;
}

/** The commit of a folder that is a checkout of its own; null for any other. */
export async function checkoutOf(folder: string): Promise<string | null> {
  const own = resolve(folder, '.git');
  if (!existsSync(own)) return null;
  const { code, out } = await new Git(own, folder).run(['rev-parse', '--verify', '--quiet', 'HEAD^{commit}']);
  return code === 0 ? out.toString().trim() : null;
}
