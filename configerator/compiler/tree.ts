import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { whyNotConfigPath } from '../domain/path';
import { conveyorError } from '../../domain/errors';
import { CONFIG_LIMITS } from '../../domain/limits';
import { sizeAndLimit } from '../../domain/size';

/** Sources in a folder or a commit. */
export interface SourceTree {
  /** Every file, by its path, in order. */
  readonly paths: readonly string[];
  /** Whether a file exists, if `paths` lists only the relevant ones. */
  has?(path: string): boolean;
  /** @throws ConveyorError `config-file-unusable` */
  read(path: string): string;
}

/** The kind of a file, by its name. Any other file is a module for imports, or is ignored. */
export type FileKind = 'program' | 'schema' | 'validator' | 'module' | 'json-schema' | 'raw' | 'other';

/** The folder of compiled values in a repository, next to their sources. */
export const VALUES = 'values';

/** Files of editors and package managers next to sources. */
const ASIDE = /^(package|package-lock|tsconfig|jsconfig)\.json$/;

export function getFileKind(path: string): FileKind {
  const name = path.slice(path.lastIndexOf('/') + 1);
  if (name.endsWith('.config.ts')) return 'program';
  if (name.endsWith('.schema.ts')) return 'schema';
  if (name.endsWith('.validate.ts')) return 'validator';
  if (name.endsWith('.ts')) return 'module';
  if (name.endsWith('.schema.json')) return 'json-schema';
  if (ASIDE.test(path)) return 'other';
  return /\.(json|ya?ml)$/.test(name) ? 'raw' : 'other';
}

/**
 * The path of a raw file's value: JSON loses its extension, like values of programs; YAML keeps it, because its text
 * stays unchanged.
 */
export const rawPath = (file: string): string => file.replace(/\.json$/, '');

/**
 * The file of a value in a folder of values. It has an extension, because a value may have the name of a folder; YAML
 * keeps its own.
 */
export const valueFile = (path: string): string => (/\.ya?ml$/.test(path) ? path : `${path}.json`);

/** A file `NAME.config.ts`, `NAME.json`, … without its endings. */
export const getStem = (file: string): string => file.replace(/\.(config\.ts|schema\.ts|validate\.ts|json|ya?ml)$/, '');

/**
 * The files of a folder. Names that begin with a dot, and `node_modules`, are left out. @throws ConveyorError
 * `config-file-unusable`
 */
export function folderTree(folder: string): SourceTree {
  const paths: string[] = [];
  walk(folder, '', paths);
  return { paths: paths.sort(), read: (path) => decodeUtf8(path, readFileSync(join(folder, path))) };
}

function walk(folder: string, below: string, found: string[]): void {
  for (const entry of listFolder(join(folder, below), below)) {
    if (entry.startsWith('.') || entry === 'node_modules' || (below === '' && entry === VALUES)) continue;
    const path = below === '' ? entry : `${below}/${entry}`;
    const stat = lstatSync(join(folder, path));
    if (stat.isDirectory()) {
      walk(folder, path, found);
      continue;
    }
    if (getFileKind(path) === 'other') continue;
    if (stat.isSymbolicLink()) throw unusable(path, 'it is a symbolic link, which may lead out of the tree');
    if (!stat.isFile()) throw unusable(path, 'it is not a plain file');
    admitFile(path, stat.size);
    found.push(path);
    if (found.length > CONFIG_LIMITS.files.max)
      throw unusable(path, `there are more than ${CONFIG_LIMITS.files.max} files`);
  }
}

function listFolder(folder: string, below: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const why = code === 'ENOENT' ? 'there is no such folder' : code === 'ENOTDIR' ? 'it is not a folder' : message;
    throw unusable(below === '' ? folder : below, why);
  }
}

/** Why a path cannot be proposed as a source; undefined if it can. Values are compiled, never written directly. */
export function whyNotSource(path: string): string | undefined {
  const [first, ...others] = path.split('/');
  if (first === VALUES && others.length > 0) return `the folder ${VALUES} holds values compiled from sources`;
  if (getFileKind(path) === 'other' || path.split('/').some((name) => name.startsWith('.') || name === 'node_modules'))
    return 'it is not a source of configuration';
  return whyNotConfigPath(path);
}

/** The checks of any tree before it reads a file. @throws ConveyorError `config-file-unusable` */
export function admitFile(path: string, bytes: number): void {
  const why = whyNotConfigPath(path);
  if (why !== undefined) throw unusable(path, `its name is not suitable: ${why}`);
  if (bytes <= CONFIG_LIMITS.file.max) return;
  const { size, limit } = sizeAndLimit(bytes, CONFIG_LIMITS.file.max);
  throw unusable(path, `it has ${size}, and a file may have ${limit}`);
}

/** @throws ConveyorError `config-file-unusable` if it is not text */
export function decodeUtf8(path: string, bytes: Uint8Array): string {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    if (!text.includes('\0')) return text;
  } catch {
    // Reported below.
  }
  throw unusable(path, 'it is binary, and values are UTF-8 text');
}

const unusable = (file: string, why: string): Error => conveyorError('config-file-unusable', { file, why });
