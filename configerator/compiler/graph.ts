import { posix } from 'node:path';
import { conveyorError, type ConveyorError } from '../../domain/errors';
import { CONFIG_LIMITS } from '../../domain/limits';
import type { Module } from './job';
import type { SourceTree } from './tree';

/** The imports between files, read from the sources without running them. */
export class ImportGraph {
  private readonly modules = new Map<string, Module>();
  private readonly closures = new Map<string, readonly string[]>();
  private readonly known: ReadonlySet<string>;

  /** @param code the transformed TypeScript of the tree, or why it cannot be transformed */
  constructor(
    private readonly tree: SourceTree,
    private readonly code: ReadonlyMap<string, string | ConveyorError>,
  ) {
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

  /** The shortest chain of imports between two files, both included. */
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
    if (above.length > CONFIG_LIMITS.importDepth.max) {
      const why = `more than ${CONFIG_LIMITS.importDepth.max} imports lead there, one after the other`;
      throw conveyorError('config-import-refused', { file: above.at(-1) ?? file, imported: file, why });
    }
    for (const next of Object.values(this.module(file).imports)) this.visit(next, [...above, file], seen);
  }

  private module(path: string): Module {
    const known = this.modules.get(path);
    if (known) return known;
    const made = path.endsWith('.json')
      ? { path, code: this.tree.read(path), imports: {} }
      : this.linked(path, this.codeOf(path));
    this.modules.set(path, made);
    return made;
  }

  private codeOf(path: string): string {
    const code = this.code.get(path) ?? '';
    if (typeof code !== 'string') throw code;
    return code;
  }

  private linked(path: string, code: string): Module {
    const imports: Record<string, string> = {};
    for (const [, specifier = ''] of code.matchAll(/\brequire\("([^"\n]+)"\)/g)) {
      const target = this.resolve(path, specifier);
      if (target !== undefined) imports[specifier] = target;
    }
    return { path, code, imports };
  }

  /** Undefined for packages, and for missing files: the importing program fails when it runs. */
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
