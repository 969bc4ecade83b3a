import { unfitError } from '../../domain/errors';
import { VALUES, valueFile } from '../compiler/tree';
import { readBlobs, lookUp } from './commits';
import { findExcess, type Draft } from './fit';
import { listDeleted } from './propose';
import type { ConfigRepository } from './repository';

/** The changes of a proposal, for people to read. */
export interface Difference {
  /** The commit that it is compared with; null for an empty branch. */
  readonly base: string | null;
  /** Sources, in order. */
  readonly files: readonly string[];
  /** The deleted ones among them. */
  readonly deleted: readonly string[];
  /** In order of their paths; null means no value. */
  readonly values: readonly { readonly path: string; readonly before: string | null; readonly after: string | null }[];
  /** The problems that prevent a proposal. */
  readonly problems: readonly { readonly code: string; readonly message: string; readonly hint: string }[];
}

/** @throws ConveyorError `over-limit` for a draft too large to propose */
export async function computeDifference({ git }: ConfigRepository, draft: Draft): Promise<Difference> {
  const excess = findExcess(draft);
  if (excess !== undefined) throw unfitError(excess);
  const { base, edits, problems } = draft;
  const values = [...draft.values].sort(([one], [other]) => (one < other ? -1 : 1));
  const found = await lookUp(git, base === null ? [] : values.map(([path]) => `${base}:${VALUES}/${valueFile(path)}`));
  const blobs = found.flatMap((it) => (it?.type === 'blob' ? it.id : []));
  const texts = await readBlobs(git, blobs);
  const before = new Map(blobs.map((id, index) => [id, texts[index]?.toString('utf8') ?? null]));
  return {
    base,
    files: [...edits.keys()].sort(),
    deleted: listDeleted(edits),
    values: values.map(([path, after], index) => ({ path, before: before.get(found[index]?.id ?? '') ?? null, after })),
    problems: problems.map(({ code, message, hint }) => ({ code, message, hint })),
  };
}
