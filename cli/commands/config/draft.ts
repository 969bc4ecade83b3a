import type { Draft } from '../../../config/repository/fit';
import type { ConfigRepository } from '../../../config/repository/repository';

/** How a folder differs from a commit, with the values that come of it. */
export async function draftOf(repository: ConfigRepository, base: string | null, folder: string): Promise<Draft> {
  const [{ draftOfTree }, { folderTree }] = [
    await import('../../../config/repository/propose'),
    await import('../../../config/compiler/tree'),
  ];
  return draftOfTree(repository, base, folderTree(folder));
}
