import { conveyorError } from '../../../domain/errors';

export interface RepositoryOptions {
  readonly repository?: string;
}

export const REPOSITORY = ['-r, --repository <name>', 'which repository, when the configuration has several'] as const;

/** Options of commands that show the contents of the store. */
export interface TrustOptions extends RepositoryOptions {
  readonly trust?: readonly string[];
}

export const TRUST = [
  '--trust <file>',
  'a file with public keys, as proxies have it: whether the store holds what one of them has signed; several times (default: the keys of the settings)',
  (value: string, before: readonly string[] = []): readonly string[] => [...before, value],
] as const;

/** The named repository, or the only one. @throws ConveyorError `usage`, `unknown-extension` */
export function chooseRepository<R extends { readonly name: string }>(
  all: readonly R[],
  { repository }: RepositoryOptions,
): R {
  const names = all.map(({ name }) => name);
  const found = repository === undefined && all.length === 1 ? all[0] : all.find(({ name }) => name === repository);
  if (found !== undefined) return found;
  if (repository !== undefined || all.length === 0)
    throw conveyorError('unknown-extension', {
      kind: 'repository of configuration',
      name: repository ?? null,
      known: names,
    });
  throw conveyorError('usage', {
    text: 'there are several repositories of configuration',
    hint: `choose one with --repository: ${names.join(', ')}`,
  });
}
