import { existsSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { installRoot } from '../../platform/registry';

/** Code of ours that the process of a program loads: neither the configuration beside it nor what is kept there. */
const CODE_FOLDERS = ['dist', 'config', 'domain', 'platform', 'sdk'];

/** The folders that the process of a program reads. */
export const readableCode = (): readonly string[] => {
  const places = [...CODE_FOLDERS, 'node_modules'].map((name) => join(installRoot(), name));
  // What runs TypeScript may lie elsewhere.
  const found = [...places, dirname(require.resolve('jiti'))].filter((it) => existsSync(it));
  // A link is read too, where packages are shared by one.
  const all = [...found, ...found.map((it) => realpathSync(it))];
  return [...new Set(all)].filter((it) => !all.some((other) => it.startsWith(`${other}/`)));
};

/** With the program that runs it, which has its libraries beside it. */
export const programReads = (): readonly string[] => [
  ...readableCode(),
  dirname(dirname(realpathSync(process.execPath))),
];
