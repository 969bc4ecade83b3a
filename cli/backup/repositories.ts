import { existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Git } from '../../configerator/repository/git';
import type { ConfigRepositorySettings } from '../../settings/configRepositories';
import type { Env } from '../../settings/env';
import { closeFolder } from '../../settings/ownFolder';
import { removeCopy } from '../stack/configuration';

/** The time limit of a command on a whole repository. */
const GIT_PATIENCE_MS = 3_600_000;

const bundleName = ({ name }: ConfigRepositorySettings): string => `${name}.bundle`;

/**
 * Copies all refs of each non-empty repository. @returns the names of the copies @throws ConveyorError
 * `config-repository-unusable`
 */
export async function copyRepositories(
  repositories: readonly ConfigRepositorySettings[],
  folder: string,
): Promise<readonly string[]> {
  const copied: string[] = [];
  for (const repository of repositories.filter(({ git }) => existsSync(git))) {
    const git = new Git(gitFolder(repository), repository.name, GIT_PATIENCE_MS);
    // Git makes no empty bundles.
    if ((await git.text(['for-each-ref', '--count=1'])) === '') continue;
    await git.text(['bundle', 'create', '--quiet', join(folder, bundleName(repository)), '--all']);
    copied.push(bundleName(repository));
  }
  return copied;
}

/** The size of their loose and packed objects, which the bundles contain again. */
export async function sizeOfRepositories(repositories: readonly ConfigRepositorySettings[]): Promise<number> {
  const sizes = repositories.map(async (repository) => {
    if (!existsSync(repository.git)) return 0;
    const git = new Git(gitFolder(repository), repository.name, GIT_PATIENCE_MS);
    const counts = await git.text(['count-objects', '-v']);
    return [...counts.matchAll(/^size(?:-pack)?: (\d+)$/gm)].reduce((sum, [, kib]) => sum + Number(kib) * 1024, 0);
  });
  return (await Promise.all(sizes)).reduce((sum, bytes) => sum + bytes, 0);
}

/** The bare repository, or that of a work tree. */
function gitFolder({ git }: ConfigRepositorySettings): string {
  const inside = join(git, '.git');
  return existsSync(inside) ? inside : git;
}

/** Creates a repository from its bundle. The copy of the previous repository on this machine is removed. */
export async function restoreRepository(repository: ConfigRepositorySettings, bundle: string, env: Env): Promise<void> {
  const part = `${repository.git}.part`;
  await rm(part, { recursive: true, force: true });
  closeFolder(part);
  const git = new Git(part, repository.name, GIT_PATIENCE_MS);
  await git.init(repository.branch);
  const args = ['fetch', '--quiet', bundle, '+refs/*:refs/*'];
  const { code, err } = await git.exchange(args);
  if (code !== 0) throw git.failure(args, err);
  await rename(part, repository.git);
  removeCopy({ repository }, env);
}
