import { whyNotPaths, type PathRights, type TouchedPath } from '../../domain/access/paths';
import { conveyorError } from '../../domain/errors';
import { getStem } from '../compiler/tree';

/** The author of changes that undo something; no principal has this name. */
export const TAKES_BACK = 'conveyor';

/** The rights of an author under the present settings. @param groups the author's groups at the identity provider */
export type RightsOf = (author: string, groups: readonly string[]) => PathRights | null;

/** The trailer of a change that lists its author's groups known only to an identity provider. */
export const GROUPS_TRAILER = 'Proposed-through:';

/** The end of the message of a change, as a server writes it. */
export const groupsTrailer = (groups: readonly string[]): string =>
  groups.length === 0 ? '' : `\n\n${GROUPS_TRAILER} ${groups.join(' ')}`;

export const hasGroupsTrailer = (message: string): boolean =>
  message.split('\n').some((line) => line.startsWith(GROUPS_TRAILER));

/** The groups of the author named in a change. */
export const groupsIn = (message: string): readonly string[] => {
  const line = message.split('\n').find((one) => one.startsWith(GROUPS_TRAILER)) ?? '';
  return line
    .slice(GROUPS_TRAILER.length)
    .split(' ')
    .filter((group) => group !== '');
};

export const listTouchedPaths = (files: Iterable<string>, values: Iterable<string>): readonly TouchedPath[] => [
  ...[...files].sort().map((path) => ({ path, stem: getStem(path) })),
  ...[...values].sort().map((path) => ({ path })),
];

/** @throws ConveyorError `not-permitted` with the path and the required right */
export function requirePaths(
  rights: PathRights | null,
  touched: readonly TouchedPath[],
  repository: string,
  change?: number,
): void {
  const why = rights === null ? undefined : whyNotPaths(rights, touched);
  if (rights === null || why === undefined) return;
  const text = change === undefined ? why : `change ${change} cannot land: ${why}`;
  const can = `${rights.author} propose ${repository}`;
  throw conveyorError('not-permitted', { actor: rights.author, pipeline: repository, why: text, can });
}
