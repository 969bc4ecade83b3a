import { conveyorError } from '../../domain/errors';
import {
  createDraftFromEdits,
  createDraftFromValues,
  propose,
  proposeWithNote,
  type Proposal,
  type Proposer,
} from './propose';
import type { Draft } from './fit';
import type { ConfigRepository } from './repository';
import { sha256 } from '../../sdk/digest';

/** The requested changes: values by path, or sources by path; null deletes. */
export type WantedChange =
  { readonly values: Readonly<Record<string, unknown>> } | { readonly files: Readonly<Record<string, string | null>> };

/** Only sources. */
export type WantedFiles = Extract<WantedChange, { readonly files: unknown }> & Pick<ChangeRequest, 'base'>;

export type ChangeRequest = WantedChange & {
  readonly message: string;
  /** Its base commit; null for the newest. */
  readonly base: string | null;
};

export type RequestResult = Proposal & {
  /** An earlier request with this key created it. */
  readonly duplicate: boolean;
};

/**
 * Creates a change from a request, at most once for each key. The repository stores the key, so that a repeated request gets the same change from any
 * machine at any time.
 * @throws ConveyorError errors of `propose`; `key-reused`, `usage` for a base that is not on the branch
 */
export async function requestChange(
  repository: ConfigRepository,
  wanted: ChangeRequest,
  by: Omit<Proposer, 'message'> & { readonly key: string | null },
): Promise<RequestResult> {
  const { key, ...who } = by;
  const { author } = who;
  const proposer = { ...who, message: wanted.message };
  if (key === null)
    return { ...(await propose(repository, await createDraft(repository, wanted), proposer)), duplicate: false };
  const ref = `refs/change-keys/${sha256(key)}`;
  const digest = sha256(JSON.stringify([author, wanted]));
  const known = await readKeptRequest(repository, ref);
  if (known !== null) return repeatRequest(repository, known, { digest, key });
  const note = {
    ref,
    text: (proposed: Proposal): string => JSON.stringify({ digest, proposed } satisfies KeptRequest),
  };
  const made = await proposeWithNote(repository, await createDraft(repository, wanted), proposer, note);
  if (made !== null) return { ...made, duplicate: false };
  const first = await readKeptRequest(repository, ref);
  if (first !== null) return repeatRequest(repository, first, { digest, key });
  throw conveyorError('config-repository-unreachable', { repository: repository.ref.name, detail: `${ref} is gone` });
}

/** @throws ConveyorError `usage` for a base that is not on the branch, `config-file-unusable` */
export async function createDraft(
  repository: ConfigRepository,
  wanted: WantedChange & Pick<ChangeRequest, 'base'>,
): Promise<Draft> {
  const head = await repository.head();
  const base = wanted.base === null ? head : await repository.ancestor(wanted.base, head);
  return 'values' in wanted
    ? createDraftFromValues(repository, base, wanted.values)
    : createDraftFromEdits(repository, base, new Map(Object.entries(wanted.files)));
}

/** The stored result of a key. */
interface KeptRequest {
  /** The digest of the request. */
  readonly digest: string;
  readonly proposed: Proposal;
}

async function readKeptRequest(repository: ConfigRepository, ref: string): Promise<KeptRequest | null> {
  const text = await repository.note(ref);
  return text === null ? null : (JSON.parse(text) as KeptRequest);
}

function repeatRequest(
  { ref }: ConfigRepository,
  { digest, proposed }: KeptRequest,
  asked: { readonly digest: string; readonly key: string },
): RequestResult {
  if (digest === asked.digest) return { ...proposed, duplicate: true };
  const was = `change ${proposed.change} of ${ref.name}`;
  throw conveyorError('key-reused', { key: asked.key, was, now: 'another request' });
}
