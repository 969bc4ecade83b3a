import { isOnLine, type CommitLine } from '../domain/storeTruth';
import { conveyorError } from '../../domain/errors';
import type { ConfigRepository } from '../repository/repository';
import type { InspectionResult } from '../store/inspection';
import type { Head } from '../store/port';

const NO_COMMIT: Head = { sequence: 0, commit: '' };

/**
 * The head that a store should have: its own, if that is on the branch, or the newest commit of the branch of which the
 * store has a value. The tailer continues from there, and applies again each commit that changed no value.
 * @param isSigned records are signed: a commit that the branch lacks was on it once
 * @throws ConveyorError `config-branch-rewritten` if hosts have commits that the branch no longer contains
 */
export async function findTrueHead(
  repository: ConfigRepository,
  line: CommitLine,
  { head: { it, fault }, values }: Pick<InspectionResult, 'head' | 'values'>,
  isSigned: boolean,
): Promise<Head> {
  if (it !== undefined && it.sequence > 0 && fault === undefined)
    await refuseRewritten(repository, line, it.commit, isSigned);
  const records = values.flatMap(({ it: record, fault: why }) => (record && why === undefined ? [record] : []));
  for (const { commit } of records) await refuseRewritten(repository, line, commit, isSigned);
  return [...(it ? [it] : []), ...records]
    .filter((place) => isOnLine(line, place) && place.commit !== it?.partly?.commit)
    .reduce<Head>(
      (newest, { sequence, commit }) => (sequence > newest.sequence ? { sequence, commit } : newest),
      NO_COMMIT,
    );
}

/** If records are not signed, a commit that git has never seen counts as forged. */
async function refuseRewritten({ git, ref }: ConfigRepository, line: CommitLine, commit: string, isSigned: boolean) {
  if (line.sequenceOf(commit) !== undefined) return;
  const isKnown =
    /^[0-9a-f]{40,64}$/.test(commit) && (await git.run(['cat-file', '-e', `${commit}^{commit}`])).code === 0;
  if (isKnown || isSigned) throw conveyorError('config-branch-rewritten', { repository: ref.name, commit });
}
