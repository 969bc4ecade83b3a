import { createContext, Script, type Context } from 'node:vm';
import * as zod from 'zod';
import { defineConfig, defineConfigs, invariant } from '../../../sdk/defineConfig';
import type { Module } from '../job';
import { writeNow } from './write';

/** An import that leads nowhere. */
export class NoImport extends Error {
  constructor(
    readonly from: string,
    readonly specifier: string,
    why: string,
  ) {
    super(why);
  }
}

type Exports = Readonly<Record<string, unknown>>;

/** What programs may import besides files of their tree. */
const PACKAGES: Readonly<Record<string, object>> = {
  zod,
  'conveyor/config': { defineConfig, defineConfigs, invariant },
};

/** The modules of one run: each is run once, when something first imports it, in a world of its own. */
export class Loader {
  private readonly context: Context;
  private readonly known: ReadonlyMap<string, Module>;
  private readonly loaded = new Map<string, { exports: Exports }>();

  /** @param shiftMs how far from the real one the clock of this world goes */
  constructor(modules: readonly Module[], shiftMs: number) {
    this.known = new Map(modules.map((module) => [module.path, module]));
    this.context = createContext({ console: consoleOf() }, { codeGeneration: { strings: false, wasm: false } });
    new Script(WORLD).runInContext(this.context);
    (this.context['conveyorShift'] as (ms: number) => void)(shiftMs);
  }

  has(path: string): boolean {
    return this.known.has(path);
  }

  /** @throws whatever the modules throw, and NoImport */
  load(path: string): Exports {
    const already = this.loaded.get(path);
    if (already) return already.exports;
    const module: { exports: Exports } = { exports: {} };
    this.loaded.set(path, module);
    const { code, imports } = this.known.get(path) ?? missingModule(path);
    if (path.endsWith('.json')) {
      module.exports = { __esModule: true, default: JSON.parse(code) as unknown };
      return module.exports;
    }
    const require = (specifier: string): unknown => {
      const target = Object.hasOwn(imports, specifier) ? imports[specifier] : undefined;
      if (target !== undefined) return this.load(target);
      if (Object.hasOwn(PACKAGES, specifier)) return PACKAGES[specifier];
      throw new NoImport(path, specifier, whyNoImport(specifier));
    };
    const wrapped = `(function (module, exports, require) {${code}\n})`;
    const run = new Script(wrapped, { filename: `/${path}` }).runInContext(this.context) as (
      ...args: readonly unknown[]
    ) => void;
    run(module, module.exports, require);
    return module.exports;
  }

  /** Which file, and under which name, exports this schema. */
  schemaOf(schema: unknown): { readonly file: string; readonly name: string } | null {
    for (const [file, { exports }] of this.loaded) {
      if (!file.endsWith('.schema.ts')) continue;
      const name = Object.keys(exports).find((key) => exports[key] === schema);
      if (name !== undefined) return { file, name };
    }
    return null;
  }
}

function missingModule(path: string): never {
  throw new NoImport(path, path, 'there is no such file');
}

function whyNoImport(specifier: string): string {
  return /^\.{0,2}\//.test(specifier)
    ? 'there is no such file in the tree (.ts or .json)'
    : `programs import files of their tree, ${Object.keys(PACKAGES).join(' and ')}, and nothing else`;
}

/** What programs write goes to whoever types, up to a limit; it is no part of their values. */
function consoleOf(): object {
  const write = (...parts: readonly unknown[]): void => writeNow(STDERR_FD, `${parts.map(shownPart).join(' ')}\n`);
  return { log: write, info: write, warn: write, error: write, debug: write };
}

const STDERR_FD = 2;
function shownPart(part: unknown): string {
  try {
    return typeof part === 'string' ? part : (JSON.stringify(part) ?? String(part));
  } catch {
    return String(part);
  }
}

/** Memory that the heap does not count is out of reach, and the clock can be moved. */
const WORLD = `'use strict';
for (const name of Object.getOwnPropertyNames(globalThis))
  if (/Array$/.test(name) && name !== 'Array') delete globalThis[name];
for (const name of ['ArrayBuffer', 'SharedArrayBuffer', 'DataView', 'Atomics', 'WebAssembly']) delete globalThis[name];
{
  const Real = Date;
  let shift = 0;
  globalThis.Date = class Date extends Real {
    constructor(...args) {
      if (args.length === 0) super(Real.now() + shift);
      else super(...args);
    }
    static now() {
      return Real.now() + shift;
    }
  };
  globalThis.conveyorShift = (ms) => {
    shift = ms;
    delete globalThis.conveyorShift;
  };
}`;
