import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';

/** Stores the values of projects and their versions. */
export interface ProjectStore {
  /** The present value (undefined if there is none), and its version if known. */
  read(project: string): Promise<{ readonly value: unknown; readonly version?: string }>;
  /** Replaces the value `before`. Returns false and does nothing if the present value is another one. */
  write(project: string, value: unknown, before: unknown): Promise<boolean>;
  /** The content of a version; undefined if there is no such version. */
  version(project: string, version: string): Promise<unknown>;
}

const VERSION = /^[A-Za-z0-9._-]+$/;

/** Values in `gates/`, versions in `versions/<project>/`: files of JSON. In place of a configuration repository. */
export function filesIn(folder: string): ProjectStore {
  const valueFile = (project: string): string => join(folder, 'gates', `${project}.json`);
  const versionFile = (project: string, version: string): string =>
    join(folder, 'versions', project, `${version}.json`);
  const read = (file: string): unknown =>
    existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as unknown) : undefined;
  const versionsOf = (project: string): string[] => {
    const versions = join(folder, 'versions', project);
    return existsSync(versions) ? readdirSync(versions).map((file) => file.replace(/\.json$/, '')) : [];
  };
  return {
    read: async (project) => {
      const value = read(valueFile(project));
      const version = versionsOf(project).find((it) => isDeepStrictEqual(read(versionFile(project, it)), value));
      return { value, ...(version !== undefined && { version }) };
    },
    // Nothing is awaited between read and write; only another process that writes at this moment could interfere.
    write: async (project, value, before) => {
      const file = valueFile(project);
      if (!isDeepStrictEqual(read(file), before)) return false;
      writeFileSync(`${file}.new`, `${JSON.stringify(value, null, 2)}\n`);
      renameSync(`${file}.new`, file);
      return true;
    },
    version: async (project, version) =>
      VERSION.test(version) && !version.startsWith('.') ? read(versionFile(project, version)) : undefined,
  };
}
