import { askAt, throughServer } from '../../../client/http/client';
import type { HttpOptions } from '../../../client/http/send';
import { CONFIG_OPERATIONS, type ConfigRepositoryClient } from '../../../client/operations/configuration';
import { folderTree } from '../../../configerator/compiler/tree';
import type { SourceList } from '../../../configerator/repository/views';
import { blobId } from '../../../sdk/blobId';
import { conveyorError } from '../../../domain/errors';
import { findBasis } from './basis';
import { chooseRepository, type TrustOptions } from './choice';
import type { FolderClient } from './folderClient';

/** A client that uses a server, which has the repository, its store and the rules. */
export async function createServerClient(server: HttpOptions, options: TrustOptions): Promise<FolderClient> {
  if (options.trust !== undefined) throw createTrustError();
  const { name } = chooseRepository(await askAt(server).configRepositories(), options);
  const repository = throughServer<ConfigRepositoryClient>(CONFIG_OPERATIONS, server, { repository: name });
  const editsOf = async (folder: string, given: string | undefined) => {
    const basis = await findBasis(folder, { repository: name, given }, repository.sources);
    const known = basis ?? (await repository.sources(null));
    if (basis === undefined && known.commit !== null)
      throw conveyorError('config-base-unknown', { folder, name, git: null });
    const files = basis === null ? filesWithoutBase(folder, known) : listDiffering(folder, known.files);
    return { wanted: { files, base: known.commit }, basis: basis?.commit ?? null };
  };
  return {
    name,
    ...repository,
    signatures: () => Promise.reject(createTrustError()),
    diff: async (folder, base) => repository.diff((await editsOf(folder, base)).wanted),
    propose: async (folder, message, base) => {
      const { wanted, basis } = await editsOf(folder, base);
      return { ...(await repository.propose({ message, ...wanted }, null)), basis };
    },
    proposeValues: (values, message) => repository.propose({ message, values, base: null }, null),
  };
}

const createTrustError = () =>
  conveyorError('usage', {
    text: '--trust reads the store itself, but this command goes through a server',
    hint: 'leave it out: the server verifies by etcd.signingKey and etcd.trusted of its own settings (docs/guides/secure.md)',
  });

/** For a folder that began before the branch had a commit: all its files, unless others have created the same files since. */
function filesWithoutBase(folder: string, { files, commit }: SourceList): Readonly<Record<string, string | null>> {
  const edits = Object.entries(listDiffering(folder, files)).filter(([, text]) => text !== null);
  const [taken] = edits.find(([path]) => path in files) ?? [];
  if (taken === undefined) return Object.fromEntries(edits);
  throw conveyorError('config-conflict', {
    change: null,
    file: taken,
    by: `the branch, up to ${commit?.slice(0, 12)}`,
  });
}

/** Only differing files are sent. */
function listDiffering(folder: string, known: SourceList['files']): Readonly<Record<string, string | null>> {
  const tree = folderTree(folder);
  const edits: [string, string | null][] = [];
  for (const path of tree.paths) {
    const text = tree.read(path);
    if (known[path] !== blobId(text)) edits.push([path, text]);
  }
  const kept = new Set(tree.paths);
  for (const path of Object.keys(known)) if (!kept.has(path)) edits.push([path, null]);
  return Object.fromEntries(edits);
}
