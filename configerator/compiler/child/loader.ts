import { compileFunction, createContext, Script, type Context } from 'node:vm';
import { PROGRAM_OUTPUT_CHARS, type Module } from '../job';
import { providePackages } from './packages';
import { furnish, still, type Realm } from './realm';

type Exports = Readonly<Record<string, unknown>>;

/**
 * The modules of one run. Each runs once, on its first import, in a separate realm. That realm holds no object of ours, so a program cannot reach
 * this process through one: our code only reads from it. Never call one of its functions with an argument that is neither a string nor from the
 * same realm, not even a method of its arrays with a function of ours.
 */
export class Loader {
  readonly realm: Realm;
  private readonly context: Context;
  private readonly known: ReadonlySet<string>;
  private areDefined = false;

  /** @param nowMs the only time in this realm */
  constructor(
    private readonly modules: readonly Module[],
    nowMs: number,
  ) {
    this.known = new Set(modules.map(({ path }) => path));
    this.context = createContext(Object.create(null) as object, { codeGeneration: { strings: false, wasm: false } });
    (new Script(`(${still})`).runInContext(this.context) as typeof still)(nowMs);
    const furnished = new Script(`(${furnish})`).runInContext(this.context) as typeof furnish;
    this.realm = furnished(PROGRAM_OUTPUT_CHARS);
    providePackages(this.context, this.realm);
  }

  has(path: string): boolean {
    return this.known.has(path);
  }

  /** @throws any error of the modules, an object of their realm */
  load(path: string): Exports {
    if (!this.areDefined) this.define();
    return this.realm.load(path);
  }

  /** The file of this schema, and the name of its export. */
  findSchema(schema: unknown): { readonly file: string; readonly name: string } | null {
    for (const { path: file } of this.modules) {
      if (!file.endsWith('.schema.ts')) continue;
      const exported = this.realm.exported(file) ?? {};
      const name = Object.keys(exported).find((key) => exported[key] === schema);
      if (name !== undefined) return { file, name };
    }
    return null;
  }

  private define(): void {
    this.areDefined = true;
    for (const { path, code } of this.modules)
      if (path.endsWith('.json')) this.realm.defineJson(path, code);
      else
        this.realm.define(
          path,
          compileFunction(code, MODULE_PARAMETERS, { filename: `/${path}`, parsingContext: this.context }),
        );
    for (const { path, imports } of this.modules)
      for (const [specifier, target] of Object.entries(imports)) this.realm.link(path, specifier, target);
  }
}

const MODULE_PARAMETERS = ['module', 'exports', 'require'];
