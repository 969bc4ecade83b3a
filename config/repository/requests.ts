import { createHash } from 'node:crypto';
import { conveyorError } from '../../domain/errors';
import { draftOfEdits, draftOfValues, propose, proposeWithNote, type Proposed, type Proposer } from './propose';
import type { Draft } from './fit';
import type { ConfigRepository } from './repository';

/** What somebody asks to be changed: values by their paths, or sources by theirs; null: gone. */
export type Wanted =
  { readonly values: Readonly<Record<string, unknown>> } | { readonly files: Readonly<Record<string, string | null>> };

/** Sources alone. */
export type FilesWanted = Extract<Wanted, { readonly files: unknown }> & Pick<ChangeRequest, 'base'>;

export type ChangeRequest = Wanted & {
  readonly message: string;
  /** The commit that it was made on; null: the newest. */
  readonly base: string | null;
};

export type Requested = Proposed & {
  /** Another request with this key made it. */
  readonly duplicate: boolean;
};

/**
 * Makes a change of a request, once for a key: the repository itself keeps it, so that whoever asks again gets the same change from any
 * machine and at any time.
 * @throws ConveyorError what `propose` throws; `key-reused`, `usage` for a base that is not on the branch
 */
export async function requestChange(
  repository: ConfigRepository,
  wanted: ChangeRequest,
  by: Omit<Proposer, 'message'> & { readonly key: string | null },
): Promise<Requested> {
  const { key, ...who } = by;
  const { author } = who;
  const proposer = { ...who, message: wanted.message };
  if (key === null)
    return { ...(await propose(repository, await draftOf(repository, wanted), proposer)), duplicate: false };
  const ref = `refs/change-keys/${sha256(key)}`;
  const digest = sha256(JSON.stringify([author, wanted]));
  const known = await keptAt(repository, ref);
  if (known !== null) return again(repository, known, { digest, key });
  const note = {
    ref,
    text: (proposed: Proposed): string => JSON.stringify({ digest, proposed } satisfies KeptRequest),
  };
  const made = await proposeWithNote(repository, await draftOf(repository, wanted), proposer, note);
  if (made !== null) return { ...made, duplicate: false };
  const first = await keptAt(repository, ref);
  if (first !== null) return again(repository, first, { digest, key });
  throw conveyorError('config-repository-unreachable', { repository: repository.ref.name, detail: `${ref} is gone` });
}

/** @throws ConveyorError `usage` for a base that is not on the branch, `config-file-unusable` */
export async function draftOf(
  repository: ConfigRepository,
  wanted: Wanted & Pick<ChangeRequest, 'base'>,
): Promise<Draft> {
  const head = await repository.head();
  const base = wanted.base === null ? head : await repository.ancestor(wanted.base, head);
  return 'values' in wanted
    ? draftOfValues(repository, base, wanted.values)
    : draftOfEdits(repository, base, new Map(Object.entries(wanted.files)));
}

/** What a key has made. */
interface KeptRequest {
  /** Of the request. */
  readonly digest: string;
  readonly proposed: Proposed;
}

async function keptAt(repository: ConfigRepository, ref: string): Promise<KeptRequest | null> {
  const text = await repository.note(ref);
  return text === null ? null : (JSON.parse(text) as KeptRequest);
}

function again(
  { ref }: ConfigRepository,
  { digest, proposed }: KeptRequest,
  asked: { readonly digest: string; readonly key: string },
): Requested {
  if (digest === asked.digest) return { ...proposed, duplicate: true };
  const was = `change ${proposed.change} of ${ref.name}`;
  throw conveyorError('key-reused', { key: asked.key, was, now: 'another request' });
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
