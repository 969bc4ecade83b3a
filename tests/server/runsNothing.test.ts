import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { ROOT } from '../setup/sources';

const IMPORT =
  /^(?:import|export)\s(?!type\s)[^;]*?\sfrom '([^']+)'|\b(?:import|require)\('([^']+)'\)|^import '([^']+)'/gms;

/** All that a program of ours loads, however late: files of this repository, and packages. */
function loadedBy(entry: string): { readonly files: readonly string[]; readonly packages: ReadonlySet<string> } {
  const files = new Set([join(ROOT, entry)]);
  const packages = new Set<string>();
  for (const file of files)
    for (const [, one, other, third] of readFileSync(file, 'utf8').matchAll(IMPORT)) {
      const name = one ?? other ?? third ?? '';
      if (!name.startsWith('.')) packages.add(name);
      else {
        const found = [`${name}.ts`, `${name}/index.ts`, name]
          .map((path) => join(dirname(file), path))
          .find(existsSync);
        if (found?.endsWith('.ts')) files.add(found);
      }
    }
  return { files: [...files].map((file) => relative(ROOT, file)), packages };
}

describe('a pipeline file in TypeScript is a program, which runs where its author types a command:', () => {
  test.each(['server/main.ts', 'server/configService/main.ts', 'workers/main.ts', 'configerator/proxy/main.ts'])(
    '%s loads nothing that could run one',
    (entry) => {
      const { files, packages } = loadedBy(entry);
      expect(files.length).toBeGreaterThan(20);
      expect(files.filter((file) => /^(features\/\w+\/)?cli\//.test(file))).toEqual([]);
      expect([...packages].filter((name) => /^(jiti|node:vm|esbuild|typescript|ts-node|tsx)$/.test(name))).toEqual([]);
    },
  );

  test('the command line does', () => {
    expect([...loadedBy('cli/pipelineFile.ts').packages]).toContain('jiti');
  });
});
