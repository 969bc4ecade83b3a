import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/**
 * The arguments for node to run a program of ours: compiled, or in a checkout its source. @param file without its
 * extension @param mayWrite whether it may cache the compiled source on disk
 */
export function buildEntryArgs(file: string, mayWrite: boolean): readonly string[] {
  const compiled = `${file}.js`;
  if (existsSync(compiled)) return [compiled];
  const jiti = require.resolve('jiti');
  // Its own choice would be a folder of `/tmp` with a name that everyone knows.
  const fsCache = mayWrite && resolve(dirname(jiti), '../../.cache/jiti');
  const loader = `const [{ createJiti }, file] = [require(process.argv[1]), process.argv[2]]; void createJiti(file, { fsCache: ${JSON.stringify(fsCache)} }).import(file);`;
  return ['-e', loader, jiti, `${file}.ts`];
}
