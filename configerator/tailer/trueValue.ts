import type { CommitLine } from '../domain/storeTruth';
import { whyNotConfigPath } from '../domain/path';
import { CONFIG_LIMITS } from '../../domain/limits';
import { hasBlobId } from '../../sdk/blobId';
import { valueFile, VALUES } from '../compiler/tree';
import { readBlobs } from '../repository/commits';
import type { Git } from '../repository/git';
import { pathOfValue } from '../repository/revalue';
import type { Head } from '../store/port';
import type { TrueValue } from '../store/inspection';

/** The file of a value. */
export const getValueFile = (path: string): string => `${VALUES}/${valueFile(path)}`;

/** Values of a commit by their paths: the blob, or `unfit` for a value that no host could get. */
export async function valuesTree(git: Git, commit: string, file = `${VALUES}/`): Promise<ReadonlyMap<string, string>> {
  const text = await git.text(['ls-tree', '-r', '-z', '-l', '--full-tree', '--end-of-options', commit, file]);
  const rows = text.split('\0').filter((row) => row !== '');
  return new Map(
    rows.map((row): [string, string] => {
      const [, mode = '', blob = '', size = '', found = ''] = /^(\d+) \w+ (\w+) +(\S+)\t(.*)$/s.exec(row) ?? [];
      const path = pathOfValue(found);
      const isFit = mode.startsWith('100') && Number(size) <= CONFIG_LIMITS.value.max;
      return [path, isFit && found === getValueFile(path) && whyNotConfigPath(path) === undefined ? blob : 'unfit'];
    }),
  );
}

/** How many commits of a file are searched for the newest that hosts could get. */
const LOOKED_THROUGH = 20;

/** The true state of a path at a head: the newest value on the branch, or its removal. */
export async function findTrueValue(
  git: Git,
  line: CommitLine,
  head: Head,
  path: string,
): Promise<Omit<TrueValue, 'overrules'>> {
  const file = getValueFile(path);
  const asked = ['log', '--first-parent', `-n${LOOKED_THROUGH}`, '--format=%H', head.commit, '--', file];
  const commits = (await git.text(asked)).split('\n').filter((commit) => commit !== '');
  for (const commit of commits) {
    const blob = (await valuesTree(git, commit, file)).get(path);
    const at = { path, commit, sequence: line.sequenceOf(commit) ?? head.sequence };
    if (blob === undefined) return { ...at, value: null, version: '' };
    const [bytes] = blob === 'unfit' ? [] : await readBlobs(git, [blob]);
    const value = bytes?.toString('utf8');
    if (value !== undefined && hasBlobId(value, blob)) return { ...at, value, version: blob };
  }
  return { path, ...head, value: null, version: '' };
}
