import { join } from 'node:path';
import { folderTree, type SourceTree } from '../../../configerator/compiler/tree';
import { installRoot } from '../../../settings/registry';
import type { Limits } from './world';

const FOLDER = join(installRoot(), 'examples', 'config', 'flags');
const PROGRAM = 'feed/limits.config.ts';

/** The programs of `examples/config/flags`, with other limits. */
export function demoSources({ soft, hard }: Limits): SourceTree {
  const { paths, read } = folderTree(FOLDER);
  const program = read(PROGRAM).replace(/\{ soft: .*\}/, `{ soft: ${soft}, hard: ${hard} }`);
  return { paths, read: (path) => (path === PROGRAM ? program : read(path)) };
}
