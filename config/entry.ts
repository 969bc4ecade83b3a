import { existsSync } from 'node:fs';

/** What node is given to run a program of ours: compiled, or in a checkout its source. @param file without its ending */
export function entryOf(file: string): readonly string[] {
  const compiled = `${file}.js`;
  if (existsSync(compiled)) return [compiled];
  const loader =
    'const [{ createJiti }, file] = [require(process.argv[1]), process.argv[2]]; void createJiti(file, { fsCache: false }).import(file);';
  return ['-e', loader, require.resolve('jiti'), `${file}.ts`];
}
