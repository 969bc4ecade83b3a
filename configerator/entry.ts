import { existsSync } from 'node:fs';

/**
 * The arguments for node to run a program of ours: compiled, or in a checkout its source. @param file without its
 * extension @param mayWrite whether it may cache the compiled source on disk
 */
export function buildEntryArgs(file: string, mayWrite: boolean): readonly string[] {
  const compiled = `${file}.js`;
  if (existsSync(compiled)) return [compiled];
  const loader = `const [{ createJiti }, file] = [require(process.argv[1]), process.argv[2]]; void createJiti(file, { fsCache: ${mayWrite} }).import(file);`;
  return ['-e', loader, require.resolve('jiti'), `${file}.ts`];
}
