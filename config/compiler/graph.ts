import { createHash } from 'node:crypto';
import { posix } from 'node:path';
import { createJiti } from 'jiti';
import { conveyorError } from '../../domain/errors';
import type { Module } from './job';
import type { SourceTree } from './tree';
import { TextCache } from '../textCache';

/** Who imports whom, read from the sources: nothing is run for it. */
export class Graph {
  private readonly modules = new Map<string, Module>();
  private readonly closures = new Map<string, readonly string[]>();
  private readonly known: ReadonlySet<string>;

  constructor(private readonly tree: SourceTree) {
    this.known = new Set(tree.paths);
  }

  has(path: string): boolean {
    return this.tree.has?.(path) ?? this.known.has(path);
  }

  /** A file and all that it imports, directly or not: itself first. @throws ConveyorError `config-import-refused`, `config-file-unusable` */
  closure(file: string): readonly string[] {
    const known = this.closures.get(file);
    if (known) return known;
    const seen = new Set<string>();
    this.visit(file, [], seen);
    const found = [...seen];
    this.closures.set(file, found);
    return found;
  }

  modulesOf(files: readonly string[]): readonly Module[] {
    return [...new Set(files.flatMap((file) => this.closure(file)))].map((path) => this.module(path));
  }

  /** The shortest way from a file to one that it imports: both, and those between. */
  chain(from: string, to: string): readonly string[] {
    const cameFrom = new Map<string, string | null>([[from, null]]);
    for (const at of cameFrom.keys()) {
      if (at === to) break;
      for (const next of Object.values(this.module(at).imports)) if (!cameFrom.has(next)) cameFrom.set(next, at);
    }
    const chain: string[] = [];
    for (let at: string | null | undefined = cameFrom.has(to) ? to : from; at != null; at = cameFrom.get(at))
      chain.unshift(at);
    return chain;
  }

  private visit(file: string, above: readonly string[], seen: Set<string>): void {
    if (above.includes(file)) {
      const circle = [...above.slice(above.indexOf(file)), file].join(' → ');
      const from = above.at(-1) ?? file;
      throw conveyorError('config-import-refused', {
        file: from,
        imported: file,
        why: `the imports go in a circle: ${circle}`,
      });
    }
    if (seen.has(file)) return;
    seen.add(file);
    for (const next of Object.values(this.module(file).imports)) this.visit(next, [...above, file], seen);
  }

  private module(path: string): Module {
    const known = this.modules.get(path);
    if (known) return known;
    const source = this.tree.read(path);
    const made = path.endsWith('.json')
      ? { path, code: source, imports: {} }
      : this.linked(path, transformed(path, source));
    this.modules.set(path, made);
    return made;
  }

  private linked(path: string, code: string): Module {
    const imports: Record<string, string> = {};
    for (const [, specifier = ''] of code.matchAll(/\brequire\("([^"\n]+)"\)/g)) {
      const target = this.resolve(path, specifier);
      if (target !== undefined) imports[specifier] = target;
    }
    return { path, code, imports };
  }

  /** Undefined for packages, and for what does not exist: whoever imports it hears of it as it runs. */
  private resolve(from: string, specifier: string): string | undefined {
    if (!/^\.{0,2}\//.test(specifier)) return undefined;
    const target = posix.join(posix.dirname(from), specifier);
    if (specifier.startsWith('/') || target === '..' || target.startsWith('../')) {
      const why = 'it lies outside of the tree';
      throw conveyorError('config-import-refused', { file: from, imported: specifier, why });
    }
    return [target, `${target}.ts`].find((path) => this.has(path) && /\.(ts|json)$/.test(path));
  }
}

const jiti = createJiti(__filename, { fsCache: false, moduleCache: false });
/** Code by the digest of its source: shared modules, and trees that hardly differ, are many. */
const CODE = new TextCache(32 * 1024 * 1024);

/** TypeScript as CommonJS, without types; its lines stay where they are. @throws ConveyorError `config-program-failed` */
function transformed(path: string, source: string): string {
  const key = createHash('sha256').update(`${path}\0${source}`).digest('hex');
  const known = CODE.get(key);
  if (known !== undefined) return known;
  const code = transform(path, source);
  CODE.set(key, code);
  return code;
}

function transform(path: string, source: string): string {
  try {
    const code = jiti.transform({ source, filename: `/${path}`, ts: true, async: false });
    // What it cannot parse it gives back as a module that throws.
    const failure = /^exports\.__JITI_ERROR__ = (.*?);?$/s.exec(code)?.[1];
    if (failure === undefined) return code;
    const { message = 'it cannot be parsed', line } = JSON.parse(failure) as { message?: string; line?: number };
    throw new SyntaxError(`${message.split('\n')[0]}${line === undefined ? '' : `(line ${line})`}`);
  } catch (error) {
    const how = `it cannot be parsed: ${error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error)}`;
    throw conveyorError('config-program-failed', { file: path, how });
  }
}
