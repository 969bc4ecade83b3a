import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { ConfigRepository } from '../../../config/repository/repository';
import { conveyorError } from '../../../domain/errors';
import type { Io } from '../../io';

export interface RepositoryOptions {
  readonly repository?: string;
}

export const REPOSITORY = ['-r, --repository <name>', 'which repository, when the configuration has several'] as const;

/** The repository that is meant, and a copy of it on this machine. @throws ConveyorError `usage`, `config-invalid`, `unknown-extension` */
export async function repositoryOf(
  { env }: Pick<Io, 'env'>,
  { repository }: RepositoryOptions,
): Promise<ConfigRepository> {
  const [{ loadRegistry }, { ConfigRepository, copiesFolder }] = [
    await import('../../../platform/registry'),
    await import('../../../config/repository/repository'),
  ];
  const { configRepositories: all } = loadRegistry(undefined, env);
  const names = all.map(({ name }) => name);
  const found = repository === undefined && all.length === 1 ? all[0] : all.find(({ name }) => name === repository);
  if (found === undefined && (repository !== undefined || all.length === 0))
    throw conveyorError('unknown-extension', {
      kind: 'repository of configuration',
      name: repository ?? 'any',
      known: names,
    });
  if (found === undefined)
    throw conveyorError('usage', {
      text: 'there are several repositories of configuration',
      hint: `choose one with --repository: ${names.join(', ')}`,
    });
  return ConfigRepository.open(found, copiesFolder(env));
}

/** On which commit a folder is based: the one that is given, else that of its own checkout, else the newest of the branch. */
export async function baseOf(
  repository: ConfigRepository,
  folder: string,
  given: string | undefined,
): Promise<string | null> {
  const head = await repository.head();
  if (given !== undefined) return repository.ancestor(given, head);
  const own = resolve(folder, '.git');
  if (head === null || !existsSync(own)) return head;
  const { Git } = await import('../../../config/repository/git');
  const { code, out } = await new Git(own, folder).run(['rev-parse', '--verify', '--quiet', 'HEAD^{commit}']);
  const checkout = out.toString().trim();
  return code === 0 && (await repository.isAncestor(checkout, head)) ? checkout : head;
}
