import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { folderTree } from '../../configerator/compiler/tree';
import { OWN_PROGRAMS } from '../../configerator/compiler/walls';
import {
  createDraftFromTree,
  createDraftFromValues,
  propose,
  type Proposal,
} from '../../configerator/repository/propose';
import { ConfigRepository } from '../../configerator/repository/repository';
import { folderOf, type Files } from './sources';

/** The real thing: a bare repository on this disk, and a copy to work with. */
export interface Bench {
  readonly origin: string;
  readonly repository: ConfigRepository;
  /** As `git` prints it, of the origin. */
  git(...args: readonly string[]): string;
  proposeFiles(files: Files, base?: string | null): Promise<Proposal>;
  proposeValues(values: Readonly<Record<string, unknown>>, base?: string | null): Promise<Proposal>;
  /** Another copy of the same repository, as another process has it. */
  another(): Promise<ConfigRepository>;
}

export const NOW = Date.parse('2026-11-23T09:00:00Z');

export async function bench(): Promise<Bench> {
  const folder = folderOf({});
  const origin = join(folder, 'flags.git');
  execFileSync('git', ['init', '--quiet', '--bare', '--initial-branch=main', origin]);
  const open = (copy: string) =>
    ConfigRepository.open({ name: 'flags', git: origin, branch: 'main', programs: OWN_PROGRAMS }, join(folder, copy));
  const repository = await open('copy');
  const by = { author: 'user:alice', message: 'Change it', nowMs: NOW };
  let copies = 0;
  return {
    ...{ origin, repository },
    git: (...args) => execFileSync('git', ['--git-dir', origin, ...args], { encoding: 'utf8' }),
    another: () => open(`copy-${++copies}`),
    proposeFiles: async (files, base) => {
      const from = base === undefined ? await repository.head() : base;
      return propose(repository, await createDraftFromTree(repository, from, folderTree(folderOf(files))), by);
    },
    proposeValues: async (values, base) => {
      const from = base === undefined ? await repository.head() : base;
      return propose(repository, await createDraftFromValues(repository, from, values), by);
    },
  };
}
