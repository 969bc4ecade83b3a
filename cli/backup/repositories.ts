import { existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Git } from '../../config/repository/git';
import type { ConfigRepositorySettings } from '../../platform/configRepositories';
import type { Env } from '../../platform/env';
import { closeFolder } from '../../platform/ownFolder';
import { removeCopy } from '../stack/configuration';

/** A command on a whole repository. */
const GIT_PATIENCE_MS = 3_600_000;

const bundleName = ({ name }: ConfigRepositorySettings): string => `${name}.bundle`;

/** All refs of each repository that has any. @returns the names of the copies @throws ConveyorError `config-repository-unusable` */
export async function copyRepositories(
  repositories: readonly ConfigRepositorySettings[],
  folder: string,
): Promise<readonly string[]> {
  const copied: string[] = [];
  for (const repository of repositories.filter(({ git }) => existsSync(git))) {
    const git = new Git(gitFolder(repository), repository.name, GIT_PATIENCE_MS);
    // Git makes no bundle of nothing.
    if ((await git.text(['for-each-ref', '--count=1'])) === '') continue;
    await git.text(['bundle', 'create', '--quiet', join(folder, bundleName(repository)), '--all']);
    copied.push(bundleName(repository));
  }
  return copied;
}

/** The bare repository, or that of a work tree. */
function gitFolder({ git }: ConfigRepositorySettings): string {
  const inside = join(git, '.git');
  return existsSync(inside) ? inside : git;
}

/** Makes a repository anew from its bundle. The copy of the previous repository on this machine is forgotten. */
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
