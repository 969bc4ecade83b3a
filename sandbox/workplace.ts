import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isOwn } from '../settings/ownFolder';
import type { IsolationMethod } from './method';
import { formatRunMark } from './mark';

/** The temporary folder of one run of a script, with its input files and its `$TMPDIR`. */
export interface Workplace {
  readonly folder: string;
  readonly stage: string;
  readonly files: readonly string[];
  /** Variables with the paths of its files and folder. */
  readonly env: Readonly<Record<string, string>>;
}

/** `texts` by the variables that name their files. */
export function openWorkplace(
  runId: string,
  texts: Readonly<Record<string, string>>,
  { account, namespaces }: Pick<IsolationMethod, 'account' | 'namespaces'>,
): Workplace {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), formatRunMark(runId))));
  const stage = join(folder, 'tmp');
  mkdirSync(stage);
  const files = Object.entries(texts).map(([name, text]) => {
    const file = join(folder, name);
    writeFileSync(file, text, { mode: 0o600 });
    return [name, file] as const;
  });
  if (account !== null) {
    chmodSync(folder, 0o711);
    if (namespaces === null) chownSync(stage, account.uid, account.gid);
    for (const [, file] of files) chownSync(file, account.uid, account.gid);
  }
  const env = { ...Object.fromEntries(files), TMPDIR: namespaces === null ? stage : '/tmp' };
  return { folder, stage, files: files.map(([, file]) => file), env };
}

export const closeWorkplace = ({ folder }: Workplace): void => rmSync(folder, { recursive: true, force: true });

/** Removes folders that a killed worker left behind. */
export function clearWorkplaces(runId: string): void {
  for (const name of readdirSync(tmpdir()).filter((one) => one.startsWith(formatRunMark(runId)))) {
    const left = join(tmpdir(), name);
    // Any user can create a folder with that name there, and change it during removal.
    if (isOwn(lstatSync(left))) rmSync(left, { recursive: true, force: true });
  }
}
