import { conveyorError } from '../../domain/errors';

/** The paths of a repository that a pipeline releases; one that ends with a slash means all below. */
export interface OwnedPaths {
  readonly pipeline: string;
  readonly paths: readonly string[];
}

/** Whether a path is one of these, or below one of them that ends with a slash. */
export const isOwned = (paths: readonly string[], path: string): boolean =>
  paths.some((own) => (own === '' || own.endsWith('/') ? path.startsWith(own) : path === own));

/**
 * One pipeline releases a change, and owns all the paths that it changes. If several pipelines own parts of a change, or one owns a part and none
 * the rest, the change could never be deployed. If no pipeline owns any part, the change waits for one that does.
 * @throws ConveyorError `config-not-one-pipeline`
 */
export function refuseUnreleasable(paths: readonly string[], pipelines: readonly OwnedPaths[]): void {
  const concerned = pipelines.filter((one) => paths.some((path) => isOwned(one.paths, path)));
  if (concerned.length === 0) return;
  if (concerned.some((one) => paths.every((path) => isOwned(one.paths, path)))) return;
  const parts = concerned.map(({ pipeline, paths: own }) => ({
    pipeline,
    path: paths.find((path) => isOwned(own, path)) ?? '',
  }));
  const unowned = paths.find((path) => !concerned.some((one) => isOwned(one.paths, path)));
  throw conveyorError('config-not-one-pipeline', { parts, ...(unowned === undefined ? {} : { unowned }) });
}

/** The subscriptions of a pipeline to changes of configuration in this repository. */
export function listOwnedPaths(
  repository: string,
  {
    pipeline,
    subscriptions,
  }: { readonly pipeline: string; readonly subscriptions: readonly { readonly with: PathSubscription }[] },
): OwnedPaths[] {
  const own = subscriptions.filter(({ with: given }) =>
    [repository, undefined].includes(given['repository'] as string),
  );
  const paths = own.flatMap(({ with: given }) => [given['paths'] ?? given['path'] ?? []].flat());
  return paths.length === 0 ? [] : [{ pipeline, paths: paths.filter((path) => typeof path === 'string') }];
}

type PathSubscription = Readonly<Record<string, unknown>>;
