import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { IsolationMethod } from './method';
import { markOf } from './mark';

/** The folder of one run of a script, which is gone after it: files that it is given, and what becomes its `$TMPDIR`. */
export interface Workplace {
  readonly folder: string;
  readonly stage: string;
  readonly files: readonly string[];
  /** Where the script finds its files and its folder, as variables. */
  readonly env: Readonly<Record<string, string>>;
}

/** `texts` by the variables that name their files. */
export function openWorkplace(
  runId: string,
  texts: Readonly<Record<string, string>>,
  { account, namespaces }: Pick<IsolationMethod, 'account' | 'namespaces'>,
): Workplace {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), markOf(runId))));
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

/** What a worker that was killed could not remove. */
export function clearWorkplaces(runId: string): void {
  const left = readdirSync(tmpdir()).filter((name) => name.startsWith(markOf(runId)));
  for (const name of left) rmSync(join(tmpdir(), name), { recursive: true, force: true });
}
