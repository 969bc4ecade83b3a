import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';

/** Where the values of projects are, and what versions of them there are. */
export interface ProjectStore {
  /** The present value, undefined where there is none, and which version it is, where that is known. */
  read(project: string): Promise<{ readonly value: unknown; readonly version?: string }>;
  /** Writes a value in place of the one that is said to be there. False, and nothing is done, where another one is. */
  write(project: string, value: unknown, before: unknown): Promise<boolean>;
  /** The content of a version; undefined where there is none. */
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
    // Nothing is waited for in between; who writes besides this process has to look away for a moment.
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
