import { blobsOf, type Delta } from '../repository/commits';
import { deltaBetween, firstParents } from '../repository/history';
import type { ConfigRepository } from '../repository/repository';
import { pathOfValue } from '../repository/revalue';
import { VALUES } from '../compiler/tree';
import { conveyorError } from '../../domain/errors';
import type { ConfigStore, StoredCommit } from '../store/port';

/** What a look at the branch came to. */
export interface Tailed {
  readonly applied: number;
  /** The newest commit of the branch that the store holds; null for neither. */
  readonly commit: string | null;
}

/**
 * Brings the commits of a branch to a store, in their order, each once. The store alone knows which were applied, so whoever begins
 * anew continues where it was, and two at once do no harm. A commit counts as what it changes against its first parent; the number of a
 * commit is how many first parents are before it.
 * @param most after so many it comes back, and is to be called again
 * @throws ConveyorError `config-branch-rewritten`, and what the store and the repository throw
 */
export async function tail(repository: ConfigRepository, store: ConfigStore, most: number): Promise<Tailed> {
  const { name } = repository.ref;
  const [head, held] = [await repository.head(), await store.head(name)];
  if (head === null || held?.commit === head) return { applied: 0, commit: held?.commit ?? null };
  const line = await firstParents(repository.git, head, held?.commit ?? null);
  if (line === null) throw conveyorError('config-branch-rewritten', { repository: name, commit: held?.commit ?? '' });
  const sequence = held?.sequence ?? 0;
  const next = line.slice(0, most);
  for (const [index, commit] of next.entries())
    await store.apply(
      name,
      await storedCommit(repository, line[index - 1] ?? held?.commit ?? null, commit, sequence + index + 1),
    );
  return { applied: next.length, commit: next.at(-1) ?? null };
}

async function storedCommit(
  { git }: ConfigRepository,
  parent: string | null,
  commit: string,
  sequence: number,
): Promise<StoredCommit> {
  const deltas = (await deltaBetween(git, parent, commit)).filter(({ path }) => path.startsWith(`${VALUES}/`));
  const blobs = deltas.flatMap(({ after }) => (after === null ? [] : [after]));
  const contents = await blobsOf(git, blobs);
  const texts = new Map(blobs.map((blob, index) => [blob, contents[index]?.toString('utf8') ?? '']));
  return { commit, sequence, values: deltas.map((delta) => valueOf(delta, texts)) };
}

const valueOf = ({ path, after }: Delta, texts: ReadonlyMap<string, string>): StoredCommit['values'][number] => ({
  path: pathOfValue(path),
  value: after === null ? null : (texts.get(after) ?? ''),
  version: after ?? '',
});
