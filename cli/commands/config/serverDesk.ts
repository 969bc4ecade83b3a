import { CONFIG } from '../../../client/http/routes';
import { askServer, type HttpOptions } from '../../../client/http/send';
import { folderTree } from '../../../config/compiler/tree';
import type { SourceList } from '../../../config/repository/looking';
import { blobId } from '../../../config/repository/revalue';
import { ConveyorError } from '../../../domain/errors';
import { chosenRepository, type RepositoryOptions } from './choice';
import type { Desk } from './desk';
import { checkoutOf } from './repository';

/** Through a server, which has the repository, its store and the rules. */
export async function serverDesk(server: HttpOptions, options: RepositoryOptions): Promise<Desk> {
  const all = await askServer<readonly { readonly name: string }[]>(server, CONFIG.repositories);
  const { name } = chosenRepository(all, options);
  const params = { repository: name };
  const editsOf = async (folder: string, given: string | undefined) => {
    const { commit, files: known } = await sourcesOf(server, name, folder, given);
    return { files: differing(folder, known), ...(commit === null ? {} : { base: commit }) };
  };
  return {
    name,
    changes: (limit) => askServer(server, CONFIG.changes, { params, query: { limit } }),
    log: (limit) => askServer(server, CONFIG.log, { params, query: { limit } }),
    value: (path, change) => askServer(server, CONFIG.value, { params, query: { path, change: change ?? undefined } }),
    host: (path, host) => askServer(server, CONFIG.subscriber, { params, query: { path, host } }),
    why: (path) => askServer(server, CONFIG.why, { params, query: { path } }),
    diff: async (folder, base) => askServer(server, CONFIG.diff, { params, body: await editsOf(folder, base) }),
    propose: async (folder, message, base) => {
      const body = { message, ...(await editsOf(folder, base)) };
      return askServer(server, CONFIG.propose, { params, body, key: null });
    },
  };
}

/** What the folder is based on; a checkout of another branch is based on the newest of this one. */
async function sourcesOf(
  server: HttpOptions,
  repository: string,
  folder: string,
  given: string | undefined,
): Promise<SourceList> {
  const ask = (base: string | undefined): Promise<SourceList> =>
    askServer(server, CONFIG.sources, { params: { repository }, query: { base } });
  const checkout = given ?? (await checkoutOf(folder)) ?? undefined;
  return ask(checkout).catch((error: unknown) => {
    const isElsewhere = given === undefined && error instanceof ConveyorError && error.code === 'usage';
    if (checkout === undefined || !isElsewhere) throw error;
    return ask(undefined);
  });
}

/** Only what differs is sent. */
function differing(folder: string, known: SourceList['files']): Readonly<Record<string, string | null>> {
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
