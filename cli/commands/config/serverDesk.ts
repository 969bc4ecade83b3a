import { CONFIG } from '../../../client/http/routes';
import { askServer, type HttpOptions } from '../../../client/http/send';
import { folderTree } from '../../../config/compiler/tree';
import type { SourceList } from '../../../config/repository/looking';
import { blobId } from '../../../sdk/blobId';
import type { RequestResult } from '../../../config/repository/requests';
import { conveyorError } from '../../../domain/errors';
import { findBasis } from './basis';
import { chooseRepository, type TrustOptions } from './choice';
import type { ConfigRepositoryClient } from './desk';

/** Through a server, which has the repository, its store and the rules. */
export async function createServerClient(server: HttpOptions, options: TrustOptions): Promise<ConfigRepositoryClient> {
  if (options.trust !== undefined) throw checkedByServer();
  const all = await askServer<readonly { readonly name: string }[]>(server, CONFIG.repositories);
  const { name } = chooseRepository(all, options);
  const params = { repository: name };
  const ask = (base?: string): Promise<SourceList> => askServer(server, CONFIG.sources, { params, query: { base } });
  const editsOf = async (folder: string, given: string | undefined) => {
    const basis = await findBasis(folder, { repository: name, given }, ask);
    const known = basis ?? (await ask());
    if (basis === undefined && known.commit !== null)
      throw conveyorError('config-base-unknown', { folder, name, git: null });
    const files = basis === null ? filesWithoutBase(folder, known) : listDiffering(folder, known.files);
    const body = { files, ...(known.commit === null ? {} : { base: known.commit }) };
    return { body, basis: basis?.commit ?? null };
  };
  return {
    name,
    changes: (limit) => askServer(server, CONFIG.changes, { params, query: { limit } }),
    log: (limit) => askServer(server, CONFIG.log, { params, query: { limit } }),
    value: (path, change) => askServer(server, CONFIG.value, { params, query: { path, change: change ?? undefined } }),
    host: (path, host) => askServer(server, CONFIG.subscriber, { params, query: { path, host } }),
    signatures: () => Promise.reject(checkedByServer()),
    why: (path) => askServer(server, CONFIG.why, { params, query: { path } }),
    diff: async (folder, base) => askServer(server, CONFIG.diff, { params, body: (await editsOf(folder, base)).body }),
    propose: async (folder, message, base) => {
      const { body, basis } = await editsOf(folder, base);
      const asked = { params, body: { message, ...body }, key: null };
      return { ...(await askServer<RequestResult>(server, CONFIG.propose, asked)), basis };
    },
  };
}

const checkedByServer = () =>
  conveyorError('usage', {
    text: '--trust asks the store itself, and this command goes through a server',
    hint: 'leave it out: the server verifies by etcd.signingKey and etcd.trusted of its own settings (docs/guides/secure.md)',
  });

/** For a folder that began before the branch had a commit: all its files, unless others have made the same files since. */
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

/** Only what differs is sent. */
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
