/** The realm of a program, as its process sees it. Only texts and objects of that realm go in. */
export interface Realm {
  /** Names a file of the tree, and the function that runs its code. */
  define(path: string, run: unknown): void;
  defineJson(path: string, text: string): void;
  /** Resolves an import of one file to another; `from` is '' for packages, which every file may import. */
  link(from: string, specifier: string, target: string): void;
  /** Runs a file unless it ran before. @returns its exports @throws its error */
  load(path: string): Readonly<Record<string, unknown>>;
  /** The exports of a file just after it ran, unaffected by later code; undefined if it did not run. */
  exported(path: string): Readonly<Record<string, unknown>> | undefined;
  /** A value of a schema, read from JSON. @throws any error of the schema */
  parse(schema: unknown, json: string): unknown;
  /** Undefined if the invariant holds, else its answer. @throws any error of the invariant */
  judge(holds: unknown, value: unknown, path: string): unknown;
  /** The import that an error is about: file, specifier and why, as JSON; '' for any other error. */
  importIn(error: unknown): string;
  /** The stack of an error. */
  stackOf(error: unknown): unknown;
  /** Whether it exceeded the output limit. */
  isFlooded(): boolean;
}

interface File {
  readonly json: string | undefined;
  readonly run: unknown;
  readonly imports: Record<string, string>;
  readonly module: { exports: unknown };
  exported: Record<string, unknown> | undefined;
  hasBegun: boolean;
}

/**
 * Runs inside a new context, from its text alone, so it must not refer to anything in this module. Afterwards no code
 * there can tell the time, or use memory outside the counted heap. @param nowMs the only time in this realm
 */
export function still(nowMs: number): void {
  const { defineProperty, getOwnPropertyDescriptor, getOwnPropertyNames } = Object;
  const { apply, construct } = Reflect;
  const world = globalThis as unknown as Record<string, unknown>;
  const set = (on: object, name: string, value: unknown): void =>
    void defineProperty(on, name, { value, writable: true, configurable: true, enumerable: false });

  const unsafe = ['ArrayBuffer', 'SharedArrayBuffer', 'DataView', 'Atomics', 'WebAssembly', 'ShadowRealm', 'Temporal'];
  const arrays = getOwnPropertyNames(world).filter((name) => /.Array$/.test(name));
  for (const name of [...unsafe, ...arrays, 'WeakRef', 'FinalizationRegistry']) delete world[name];

  const TrueDate = Date;
  const { toString } = TrueDate.prototype;
  function StillDate(...args: readonly unknown[]): unknown {
    if (new.target === undefined) return apply(toString, new TrueDate(nowMs), []);
    return construct(TrueDate, args.length === 0 ? [nowMs] : args, new.target);
  }
  StillDate.prototype = TrueDate.prototype;
  defineProperty(StillDate, 'name', { value: 'Date' });
  defineProperty(StillDate, 'length', { value: 7 });
  set(StillDate, 'UTC', TrueDate.UTC);
  set(StillDate, 'parse', TrueDate.parse);
  set(StillDate, 'now', () => nowMs);
  set(TrueDate.prototype, 'constructor', StillDate);
  set(world, 'Date', StillDate);
  const formats = Intl.DateTimeFormat.prototype;
  const formatOf = getOwnPropertyDescriptor(formats, 'format')?.get as () => (date: unknown) => string;
  const { formatToParts } = formats;
  defineProperty(formats, 'format', {
    configurable: true,
    get(this: Intl.DateTimeFormat) {
      const format = apply(formatOf, this, []) as (date: unknown) => string;
      return (date?: unknown) => format(date === undefined ? nowMs : date);
    },
  });
  set(formats, 'formatToParts', function (this: Intl.DateTimeFormat, date?: unknown) {
    return apply(formatToParts, this, [date === undefined ? nowMs : date]);
  });
}

/**
 * The same for the modules of a program. This code saves the functions that it needs before a program runs, since a program may change everything.
 */
export function furnish(outputChars: number): Realm {
  const { assign, create } = Object;
  const { apply } = Reflect;
  const { parse, stringify } = JSON;
  let written = 0;
  const write = (...parts: readonly unknown[]): void => {
    for (let at = 0; at < parts.length; at += 1) {
      const part = parts[at];
      written += typeof part === 'string' ? part.length + 1 : 8;
    }
    if (written > outputChars) throw new Error('it writes too much');
  };
  Object.assign(globalThis, { console: { log: write, info: write, warn: write, error: write, debug: write } });

  const files = create(null) as Record<string, File>;
  const packages = create(null) as Record<string, string>;
  let refused: { readonly error: unknown; readonly about: string } = { error: undefined, about: '' };
  const add = (path: string, run: unknown, json: string | undefined): void => {
    const imports = create(null) as Record<string, string>;
    files[path] = { json, run, imports, module: { exports: {} }, exported: undefined, hasBegun: false };
  };
  const refuse = (from: string, specifier: string, why: string): never => {
    const error = new Error(why);
    refused = { error, about: stringify([from, specifier, why]) };
    throw error;
  };
  const load = (path: string): Readonly<Record<string, unknown>> => {
    const file = files[path] ?? refuse(path, path, 'there is no such file');
    const { module } = file;
    if (!file.hasBegun) {
      file.hasBegun = true;
      if (file.json !== undefined) module.exports = { __esModule: true, default: parse(file.json) as unknown };
      else apply(file.run as () => void, undefined, [module, module.exports, requireFrom(path, file.imports)]);
      file.exported = assign(create(null) as object, module.exports) as Record<string, unknown>;
    }
    return module.exports as Record<string, unknown>;
  };
  const requireFrom = (path: string, imports: Record<string, string>) => (specifier: unknown) => {
    const name = `${specifier as string}`;
    const target = imports[name] ?? packages[name];
    if (target !== undefined) return load(target);
    const isFile = name[0] === '/' || name[0] === '.';
    const known = 'programs import files of their tree, zod and conveyor/config, and nothing else';
    return refuse(path, name, isFile ? 'there is no such file in the tree (.ts or .json)' : known);
  };

  return {
    define: (path, run) => add(path, run, undefined),
    defineJson: (path, text) => add(path, undefined, text),
    link: (from, specifier, target) => {
      const of = from === '' ? packages : files[from]?.imports;
      if (of !== undefined) of[specifier] = target;
    },
    load,
    exported: (path) => files[path]?.exported,
    parse: (schema, json) => (schema as { parse(value: unknown): unknown }).parse(parse(json)),
    judge: (holds, value, path) => {
      const answer: unknown = apply(holds as () => unknown, undefined, [value, { path }]);
      return answer === true ? undefined : (answer ?? null);
    },
    importIn: (error) => (error === refused.error ? refused.about : ''),
    stackOf: (error) => (error as { readonly stack?: unknown } | null | undefined)?.stack,
    isFlooded: () => written > outputChars,
  };
}
