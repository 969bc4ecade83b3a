import { conveyorError, unfitError } from '../../domain/errors';
import { over } from '../../domain/excess';
import { CONFIG_LIMITS } from '../../domain/limits';
import { LINES, whyNotPlain } from '../../domain/plainText';
import type { Excess } from '../../domain/unfit';
import { lastToChange, lookUp } from './commits';
import { GROUPS_TRAILER, hasGroupsTrailer } from './rights';
import type { ConfigRepository } from './repository';
import { blobId } from '../../sdk/blobId';
import { type Edits, type RevaluationResult } from './revalue';

/** The changes of a proposal: sources, and the values that they produce. */
export interface Draft extends RevaluationResult {
  readonly base: string | null;
  readonly edits: Edits;
}

/**
 * Rejects a draft that cannot be proposed. @throws its first problem; ConveyorError `config-unchanged`,
 * `config-conflict`, `over-limit`, `invalid-text`
 */
export async function requireProposable(repository: ConfigRepository, draft: Draft, message: string): Promise<void> {
  const [problem] = draft.problems;
  if (problem !== undefined) throw problem;
  if (draft.edits.size === 0 && draft.values.size === 0)
    throw conveyorError('config-unchanged', { repository: repository.ref.name });
  const excess = findExcess(draft) ?? over(CONFIG_LIMITS.message, Buffer.byteLength(message));
  if (excess !== undefined) throw unfitError(excess);
  const why = whyNotPlain(message, LINES);
  if (why !== undefined) throw unfitError({ what: CONFIG_LIMITS.message.of, why });
  if (hasGroupsTrailer(message))
    throw unfitError({ what: CONFIG_LIMITS.message.of, why: `only a server writes ${GROUPS_TRAILER}` });
  await refuseConflict(repository, draft);
}

/** The limit that the values of a draft exceed. */
export function findExcess({ values }: Pick<Draft, 'values'>): Excess | undefined {
  const bytes = [...values.values()].reduce((sum, text) => sum + Buffer.byteLength(text ?? '', 'utf8'), 0);
  return over(CONFIG_LIMITS.values, values.size) ?? over(CONFIG_LIMITS.change, bytes);
}

/** Refuses a draft that could never land: others have changed one of its files since the base, to something else. */
async function refuseConflict(repository: ConfigRepository, { base, edits }: Draft): Promise<void> {
  const head = await repository.head();
  if (head === null || head === base) return;
  const files = [...edits.keys()];
  const now = await lookUp(
    repository.git,
    files.map((file) => `${head}:${file}`),
  );
  const before =
    base === null
      ? []
      : await lookUp(
          repository.git,
          files.map((file) => `${base}:${file}`),
        );
  const file = files.find((path, index) => {
    const text = edits.get(path) ?? null;
    const blob = now[index]?.id ?? null;
    return blob !== (before[index]?.id ?? null) && blob !== (text === null ? null : blobId(text));
  });
  if (file === undefined) return;
  throw conveyorError('config-conflict', { change: null, file, by: await lastToChange(repository.git, file, head) });
}
