/**
 * Ways out of the world of a program, each by its name: code that gives what it got hold of, and nothing when it got nothing. It finds
 * `foreign(it)`, true of what comes from another world, and `reachable(it, …)`, all that leads from something by properties and prototypes.
 */
export const ESCAPES: Readonly<Record<string, string>> = {
  'objects of ours among all that it can reach': `
    const found = reachable(globalThis, module, exports, require, z, sdk, console, (function () { return arguments; })());
    return found.filter(foreign).map(String);`,
  'typed arrays, and memory that no heap counts': `
    const names = /^(ArrayBuffer|SharedArrayBuffer|DataView|WebAssembly|TypedArray|(Big)?(Uint|Int|Float)[0-9]+(Clamped)?Array)$/;
    return reachable(globalThis, z, sdk).filter((it) => typeof it === 'function' && names.test(it.name)).map((it) => it.name);`,
  'code of a text by a constructor': `
    const makers = reachable(globalThis, z, sdk, require).filter((it) => typeof it === 'function' && /Function$/.test(it.name));
    return [...makers, eval].flatMap((make) => { try { return [String(make('return 1'))]; } catch { return []; } })
      .filter((it) => it !== 'return 1' && !/^\\[object|^$/.test(it));`,
  'the caller of a function': `
    return [function () { return arguments.callee.caller; }, function f() { return f.caller; }]
      .map((f) => { try { return f(); } catch { return null; } }).filter((it) => it && foreign(it)).map(String);`,
  'getters where a library of ours would look': `
    const seen = [];
    for (const name of ['navigator', 'process', 'Deno', 'toJSON', 'cause', 'then', 'filename', 'encoding'])
      Object.defineProperty(Object.prototype, name, { configurable: true, get() { if (foreign(this)) seen.push(name); return undefined; } });
    try { z.strictObject({ a: z.string().email() }).safeParse({ a: 'x', b: 1 }); console.log({}); require('./nowhere'); } catch (error) { void error.stack; }
    for (const name of ['navigator', 'process', 'Deno', 'toJSON', 'cause', 'then', 'filename', 'encoding'])
      delete Object.prototype[name];
    return seen;`,
  'what writes the stacks of errors': `
    const seen = [];
    Error.prepareStackTrace = (error, sites) => { seen.push('called'); return String(foreign(sites)); };
    try { null.x; } catch (error) { if (typeof error.stack !== 'string' || error.stack === 'true') seen.push(error.stack); }
    try { globalThis.Error = { prepareStackTrace: () => seen.push('called') }; void new RangeError('x').stack; } catch {}
    return seen;`,
  'errors of ours where there is no stack left': `
    const caught = new Set();
    const deep = (act) => { try { deep(act); } catch (error) { try { act(); } catch (inner) { caught.add(inner); } throw error; } };
    for (const act of [() => new Error('x').stack, () => console.log('x'), () => require('./nowhere'), () => new Date(), () => z.string().parse(1)])
      for (let round = 0; round < 5; round++) try { deep(act); } catch (error) { caught.add(error); }
    const theirs = [...caught].filter(foreign);
    const all = reachable(...theirs);
    const makers = all.filter((it) => typeof it === 'function' && /Function$/.test(it.name))
      .flatMap((make) => { try { return [String(make('return this')())]; } catch { return []; } });
    return [...makers, ...all.filter((it) => /^(process|require|ArrayBuffer|Uint8Array|setTimeout)$/.test(it.name)).map((it) => it.name),
      ...all.filter((it) => 'mainModule' in it || 'pid' in it).map(String)];`,
  'promises and imports that come later': `
    const seen = [];
    const later = async () => { const it = await import('node:fs').catch((error) => error); if (foreign(it)) seen.push('import'); };
    const promise = later();
    if (foreign(promise)) seen.push('promise');
    return seen;`,
  'modules of Node': `
    return ['node:fs', 'fs', 'node:child_process', 'process', 'node:vm', 'internal/test/binding', 'jiti', 'ajv', '../../../../package.json', '/etc/passwd']
      .filter((name) => { try { return require(name); } catch { return false; } });`,
  'what only processes have': `
    return ['process', 'Buffer', 'setTimeout', 'setImmediate', 'queueMicrotask', 'fetch', 'performance', 'structuredClone', 'navigator', 'crypto',
      'WebSocket', 'Worker', 'MessageChannel', 'AbortController', 'TextEncoder', 'gc', 'global', 'conveyorShift']
      .filter((name) => { try { return typeof globalThis[name] !== 'undefined'; } catch { return false; } });`,
  'the time': `
    const dates = [Date.now(), Number(new Date()), Date.parse(Date()), Number(z.coerce.date().parse(0).constructor.now?.() ?? 0),
      Number(new (z.coerce.date().parse(0).constructor)()), Number(Reflect.construct(Object.getPrototypeOf(new Date(0)).constructor, [])),
      Number(new (class extends Date {})()), Number(z.date().default(() => new Date()).parse(undefined)),
      Date.parse(new Intl.DateTimeFormat('en-US').format()), Number(new Intl.DateTimeFormat('en-US').formatToParts().find((it) => it.type === 'year').value) * 31556952000 - 62167219200000];
    return dates.filter((it) => Math.abs(it - REAL_TIME) < 3 * 31556952000).map(String);`,
};

const BEGIN = 'const got: any = {};';

/** Code that leaves in `got` what each of them got hold of. */
const escapesText = (nowMs: number): string => `import { z } from 'zod';
import * as sdk from 'conveyor/config';
declare const module: any, require: any;
const REAL_TIME = ${nowMs};
const root = Object.prototype, proto = Object.getPrototypeOf, names = Reflect.ownKeys, own = Object.getOwnPropertyDescriptor;
const isThing = (it: any) => (typeof it === 'object' && it !== null) || typeof it === 'function';
const foreign = (it: any) => {
  if (!isThing(it)) return false;
  let last = it;
  for (let next = it; next !== null; next = proto(next)) last = next;
  return last !== root && typeof last.hasOwnProperty === 'function';
};
const reachable = (...from: any[]) => {
  const seen = new Set<any>(from.filter(isThing));
  for (const it of seen) {
    const next = [proto(it)];
    for (const name of names(it)) {
      const { value, get, set } = own(it, name) ?? ({} as any);
      next.push(value, get, set);
      try { if (get) next.push(it[name]); } catch {}
    }
    for (const one of next) if (isThing(one)) seen.add(one);
  }
  return [...seen];
};
${BEGIN}
${Object.entries(ESCAPES)
  .map(
    ([name, code]) =>
      `try { const it: any = ((): any => {${code.replace(/\((it|make|f|error|act|name|inner|sites)\) =>/g, '($1: any) =>')}})(); if (it.length > 0) got[${JSON.stringify(name)}] = it.slice(0, 5); } catch (error) { got[${JSON.stringify(name)}] = 'cannot be tried: ' + error; }`,
  )
  .join('\n')}
`;

/**
 * A module with a function that tries all of it once, at its first call, since some of it writes nearly as much as a program may. zod is used
 * before: what it sets up at its first use may end half-way where there is no stack left.
 */
const escapesModule = (nowMs: number): string => {
  const [prelude = '', attempts = ''] = escapesText(nowMs).split(BEGIN);
  return `${prelude}z.any().transform((it: any) => it).superRefine(() => undefined).safeParse(z.string().safeParse(1));
let tried: any;
const tryAll = (): any => tried ??= tryEach();
const tryEach = (): any => {
${BEGIN}${attempts}return got;
};
`;
};

/** Every kind of file whose code runs, by its name: each tries all of it in its own module, and what it got hold of is its value or its reason. */
export const escapingFiles = (nowMs: number): Readonly<Record<string, Readonly<Record<string, string>>>> => {
  const module = escapesModule(nowMs);
  const reason = `const why = (got: any) => Object.keys(got).length === 0 || JSON.stringify(got);`;
  return {
    'a program': {
      'escape.config.ts': `${escapesText(nowMs)}export default sdk.defineConfig(z.any(), got);`,
    },
    'the schema of a program': {
      'escape.schema.ts': `${module}
export const escape = z.any().transform(tryAll);`,
      'escape.config.ts': `import { defineConfig } from 'conveyor/config';
import { escape } from './escape.schema';
export default defineConfig(escape, {});`,
    },
    'the schema of a raw file': {
      'escape.schema.ts': `${module}${reason}
export default z.any().superRefine((_: any, context: any) => {
  const told = why(tryAll());
  if (told !== true) context.addIssue({ code: 'custom', message: told });
});`,
      'escape.json': '{}',
    },
    'a validator': {
      'escape.schema.ts': `import { z } from 'zod';
export const escape = z.any();`,
      'escape.validate.ts': `${module}${reason}
import { escape } from './escape.schema';
export const keptIn = sdk.invariant(escape, () => why(tryAll()));`,
      'escape.config.ts': `import { defineConfig } from 'conveyor/config';
import { escape } from './escape.schema';
export default defineConfig(escape, {});`,
    },
  };
};
