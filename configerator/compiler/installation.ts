import { existsSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { installRoot } from '../../settings/registry';

/** Our code that the process of a program loads, without the configuration or data next to it. */
const CODE_FOLDERS = ['dist', 'configerator', 'domain', 'settings', 'sdk'];

/** The folders that the process of a program reads. */
export const readableCode = (): readonly string[] => {
  const places = [...CODE_FOLDERS, 'node_modules'].map((name) => join(installRoot(), name));
  // The package that runs TypeScript may be elsewhere.
  const found = [...places, dirname(require.resolve('jiti'))].filter((it) => existsSync(it));
  // Packages may be shared through a link, whose target must be readable too.
  const all = [...found, ...found.map((it) => realpathSync(it))];
  return [...new Set(all)].filter((it) => !all.some((other) => it.startsWith(`${other}/`)));
};

/** Includes the Node program, whose libraries are next to it. */
export const programReads = (): readonly string[] => [
  ...readableCode(),
  dirname(dirname(realpathSync(process.execPath))),
];
