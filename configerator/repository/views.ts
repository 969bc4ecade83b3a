import { conveyorError } from '../../domain/errors';
import { VALUES } from '../compiler/tree';
import { readBlobs, lookUp } from './commits';
import { listTreeEntries } from './gitTree';
import type { ChangeInfo, ConfigRepository } from './repository';

/** A value at a commit. */
export interface ShownValue {
  readonly path: string;
  readonly commit: string | null;
  readonly value: string;
}

/** The value on the branch, or in a change. @throws ConveyorError `not-found`, `config-change-unknown` */
export async function readShownValue(
  repository: ConfigRepository,
  path: string,
  change: number | null,
): Promise<ShownValue> {
  const [ref] = change === null ? [] : await repository.changesOf([change]);
  const commit = ref?.commit ?? (await repository.head());
  const value = await repository.value(path, commit);
  if (value !== null) return { path, commit, value };
  const what = `${path} of ${commit === null ? 'a branch without commits' : commit.slice(0, 12)}`;
  throw conveyorError('not-found', { what });
}

/** One change. @throws ConveyorError `config-change-unknown` */
export async function lookAtChange(repository: ConfigRepository, change: number): Promise<ChangeInfo> {
  const [found] = await repository.changes(1, { only: change });
  if (found !== undefined) return found;
  throw conveyorError('config-change-unknown', { repository: repository.ref.name, change });
}

/** The sources of a commit by path, each with the git id of its text. */
export interface SourceList {
  readonly commit: string | null;
  readonly files: Readonly<Record<string, string>>;
}

/** @param base null for the newest commit of the branch @throws ConveyorError `usage` for a commit that is not on it */
export async function listSources(repository: ConfigRepository, base: string | null): Promise<SourceList> {
  const head = await repository.head();
  const commit = base === null ? head : await repository.ancestor(base, head);
  const entries = commit === null ? [] : await listTreeEntries(repository.git, commit);
  const sources = entries.filter(({ path }) => !path.startsWith(`${VALUES}/`));
  return { commit, files: Object.fromEntries(sources.map(({ path, blob }) => [path, blob])) };
}

/** The text of a version, which is a git blob id; null if this copy has no such blob. */
export async function readVersion({ git }: ConfigRepository, version: string): Promise<string | null> {
  const [found] = /^[0-9a-f]{40,64}$/.test(version) ? await lookUp(git, [version]) : [];
  if (found?.type !== 'blob') return null;
  const [text] = await readBlobs(git, [found.id]);
  return text?.toString('utf8') ?? null;
}
