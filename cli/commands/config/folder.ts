import type { CompiledValue } from '../../../configerator/compiler/context';

/** A compiled folder, as commands show it. */
export interface CompiledFolder {
  readonly values: readonly Pick<CompiledValue, 'path' | 'file' | 'sources' | 'text'>[];
  readonly problems: readonly { readonly code: string; readonly message: string; readonly hint: string }[];
}

/** @throws ConveyorError `config-file-unusable` if the folder is not a tree of text files */
export async function compileFolder(folder: string): Promise<CompiledFolder> {
  const [{ compile }, { folderTree }] = [
    await import('../../../configerator/compiler/compile'),
    await import('../../../configerator/compiler/tree'),
  ];
  const { values, problems } = await compile(folderTree(folder));
  return {
    values: values.map(({ path, file, sources, text }) => ({ path, file, sources, text })),
    problems: problems.map(({ code, message, hint }) => ({ code, message, hint })),
  };
}
