import { readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { Script, type Context } from 'node:vm';
import { defineConfig, defineConfigs, invariant } from '../../../sdk/defineConfig';
import type { Realm } from './realm';

/** The packages that programs may import. Each realm makes its own copy, so it holds no object of ours. */
export function providePackages(context: Context, realm: Realm): void {
  const { script, imports } = (zod ??= readZod());
  const runs = script.runInContext(context) as Readonly<Record<string, unknown>>;
  for (const path of imports.keys()) realm.define(path, runs[path]);
  for (const [path, targets] of imports) for (const [specifier, target] of targets) realm.link(path, specifier, target);
  realm.link('', 'zod', zodName('index.cjs'));
  realm.define(SDK, new Script(SDK_CODE, { filename: SDK }).runInContext(context));
  realm.link('', 'conveyor/config', SDK);
}

/** No file of a tree has such a name. */
const zodName = (file: string): string => `node_modules/zod/${file}`;
const SDK = 'node_modules/conveyor/config';
const SDK_CODE = `(function (module, exports) {
exports.defineConfig = ${defineConfig};
exports.defineConfigs = ${defineConfigs};
exports.invariant = ${invariant};
})`;

interface ZodPackage {
  /** Gives the functions that run its files, by their names. */
  readonly script: Script;
  readonly imports: ReadonlyMap<string, readonly (readonly [specifier: string, target: string])[]>;
}

/** Compiled once for both runs of a program. */
let zod: ZodPackage | undefined;

function readZod(): ZodPackage {
  const root = dirname(require.resolve('zod/package.json'));
  const imports = new Map<string, readonly (readonly [string, string])[]>();
  const runs: string[] = [];
  const visit = (file: string): void => {
    const name = zodName(relative(root, file));
    if (imports.has(name)) return;
    const code = readCode(file);
    const found = [...code.matchAll(/\brequire\("([^"\n]+)"\)/g)].map(([, specifier = '']) => specifier);
    const targets = found.map((specifier) => [specifier, join(dirname(file), specifier)] as const);
    imports.set(
      name,
      targets.map(([specifier, target]) => [specifier, zodName(relative(root, target))]),
    );
    runs.push(`${JSON.stringify(name)}(module, exports, require) {${code}\n}`);
    for (const [, target] of targets) visit(target);
  };
  visit(join(root, 'index.cjs'));
  return { script: new Script(`({${runs.join(',\n')}})`, { filename: 'zod' }), imports };
}

/** Only English: messages in forty other languages take as long to load as everything else. */
function readCode(file: string): string {
  if (file.endsWith(join('locales', 'index.cjs')))
    return 'exports.__esModule = true; exports.en = require("./en.cjs");';
  return readFileSync(file, 'utf8');
}
