import { whyNotConfigPath } from '../domain/path';
import { conveyorError } from '../../domain/errors';
import { CONFIG_LIMITS } from '../../domain/limits';
import { utf8Bytes } from '../../domain/size';
import { plural } from '../../domain/text';
import { hasBlobId } from '../../sdk/blobId';
import { valueFile, VALUES } from '../compiler/tree';
import { readBlobs, lookUp, type Delta } from '../repository/commits';
import type { Git } from '../repository/git';
import { deltaBetween, firstParents } from '../repository/history';
import type { ConfigRepository } from '../repository/repository';
import { pathOfValue } from '../repository/revalue';
import type { ConfigStore, StoredCommit } from '../store/port';

/** The result of one look at the branch. */
export interface TailResult {
  readonly applied: number;
  /** The newest commit of the branch that the store holds; null for neither. */
  readonly commit: string | null;
}

/**
 * Copies the commits of a branch to a store, in order, each once. Only the store knows which were applied, so a new tailer continues there, and two
 * at once do no harm. A commit is taken as its changes against its first parent; its number is the number of first parents before it.
 * @param most the limit of one call; call again for more
 * @param log names pushed values that are omitted because no host could accept them
 * @throws ConveyorError `config-branch-rewritten`, and errors of the store and the repository
 */
export async function tail(
  repository: ConfigRepository,
  store: ConfigStore,
  most: number,
  log: (line: string) => void = () => undefined,
): Promise<TailResult> {
  const { name } = repository.ref;
  const [head, held] = [await repository.head(), await store.head(name)];
  if (head === null || held?.commit === head) return { applied: 0, commit: held?.commit ?? null };
  const line = await firstParents(repository.git, head, held?.commit ?? null);
  if (line === null) throw conveyorError('config-branch-rewritten', { repository: name, commit: held?.commit ?? '' });
  const sequence = held?.sequence ?? 0;
  const next = line.slice(0, most);
  for (const [index, commit] of next.entries()) {
    const { values, leftOut } = await readChangedValues(repository, line[index - 1] ?? held?.commit ?? null, commit);
    const applied = await store.apply(name, { commit, sequence: sequence + index + 1, values });
    if (applied === 'already') continue;
    const start = `${name}: commit ${commit.slice(0, 12)} leaves hosts with their present values of`;
    for (const { file, why } of leftOut.slice(0, SAID)) log(`${start} ${file}: ${why}`);
    if (leftOut.length > SAID) log(`${start} ${plural(leftOut.length - SAID, 'more file')}`);
  }
  return { applied: next.length, commit: next.at(-1) ?? null };
}

/** How many omitted files of a commit are named. */
const SAID = 20;

/** The values that a commit changes, and those of its files that no host could accept. Landing enforces the limits of a store; a push does not. */
async function readChangedValues({ git }: ConfigRepository, parent: string | null, commit: string) {
  const deltas = (await deltaBetween(git, parent, commit)).filter(({ path }) => path.startsWith(`${VALUES}/`));
  const texts = await readBlobTexts(git, deltas);
  const judged = deltas.map((delta) => ({ delta, why: whyLeftOut(delta, texts) }));
  return {
    values: judged.flatMap(({ delta, why }) => (why === undefined ? [toStoredValue(delta, texts)] : [])),
    leftOut: judged.flatMap(({ delta, why }) => (why === undefined ? [] : [{ file: delta.path, why }])),
  };
}

/** Texts by blob. Oversized ones are not read. */
async function readBlobTexts(git: Git, deltas: readonly Delta[]): Promise<ReadonlyMap<string, string>> {
  const blobs = [...new Set(deltas.flatMap(({ after, isLink }) => (after === null || isLink ? [] : [after])))];
  const sizes = await lookUp(git, blobs);
  const read = blobs.filter((_, index) => (sizes[index]?.bytes ?? 0) <= CONFIG_LIMITS.value.max);
  const contents = await readBlobs(git, read);
  return new Map(read.map((blob, index) => [blob, contents[index]?.toString('utf8') ?? '']));
}

function whyLeftOut({ path: file, after, isLink }: Delta, texts: ReadonlyMap<string, string>): string | undefined {
  const path = pathOfValue(file);
  if (file !== `${VALUES}/${valueFile(path)}`) return `a value of this path lies in ${VALUES}/${valueFile(path)}`;
  if (isLink) return 'it is a link';
  const { max } = CONFIG_LIMITS.value;
  const text = after === null ? '' : texts.get(after);
  // Invalid bytes grow when decoded as text.
  if (text === undefined || utf8Bytes(text) > max) return `it is larger than ${max / 1024} kB`;
  if (after !== null && !hasBlobId(text, after)) return 'it is not UTF-8 text';
  return whyNotConfigPath(path);
}

const toStoredValue = ({ path, after }: Delta, texts: ReadonlyMap<string, string>): StoredCommit['values'][number] => ({
  path: pathOfValue(path),
  value: after === null ? null : (texts.get(after) ?? ''),
  version: after ?? '',
});
