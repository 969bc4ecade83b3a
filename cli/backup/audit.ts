import { existsSync } from 'node:fs';
import { readdir, rm, truncate } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { CHAINS, locateChain, listParts, verifyAudit, type ChainVerification } from '../../settings/audit/files';
import { measureWholeLines } from '../../settings/audit/onDisk';
import { copyBytes } from './files';

/** At midnight a new file begins or an old one is deleted, perhaps during a copy, but hardly ever twice. */
const COPY_TRIES = 3;

/** The name of the files in a backup. */
const AUDIT_COPY = 'audit.jsonl';
const auditStem = (file: string): string => file.replace(/\.jsonl$/, '');

/** The path of a file of a backup. */
export const fromAuditCopy = (audit: string, copy: string): string =>
  `${auditStem(audit)}${basename(copy).slice(auditStem(AUDIT_COPY).length)}`;

interface CopiedAudit {
  readonly names: readonly string[];
  /** Null if both chains are intact. */
  readonly broken: string | null;
}

/** Copies both chains up to the last complete record. A server may write meanwhile. */
export async function copyAudit(audit: string, folder: string): Promise<CopiedAudit> {
  for (let left = COPY_TRIES; ; left -= 1) {
    for (const name of await readdir(folder)) await rm(join(folder, name));
    const isWhole = await copyChains(audit, folder).then(
      () => true,
      (error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOENT' || left === 1) throw error;
        return false;
      },
    );
    const broken = isWhole ? await explainBreak(join(folder, AUDIT_COPY)) : 'it changed meanwhile';
    if (broken === null || left === 1) return { names: await readdir(folder), broken };
  }
}

export async function explainBreak(audit: string, expect?: Parameters<typeof verifyAudit>[1]): Promise<string | null> {
  const broken = (await verifyAudit(audit, expect)).find((one) => one.broken !== null)?.broken;
  return broken ? `${broken.file}, line ${broken.line}: ${broken.why}` : null;
}

/** The last record of each chain that has one. */
export async function lastRecords(audit: string): Promise<Parameters<typeof verifyAudit>[1]> {
  const verified: readonly ChainVerification[] = await verifyAudit(audit);
  return Object.fromEntries(
    verified.flatMap(({ chain, records, last }) => (records === 0 || last === null ? [] : [[chain, last]])),
  );
}

/** Copies the notes of the ends first: they may lag behind the records, but never be ahead. */
async function copyChains(audit: string, folder: string): Promise<void> {
  const copyOne = (file: string): Promise<void> =>
    copyBytes(file, join(folder, `${auditStem(AUDIT_COPY)}${file.slice(auditStem(audit).length)}`));
  const sent = `${auditStem(audit)}.sent.json`;
  if (existsSync(sent)) await copyOne(sent);
  for (const chain of CHAINS) {
    const files = locateChain(audit, chain);
    for (const file of [files.ends, files.torn]) if (existsSync(file)) await copyOne(file);
    for (const { path } of await listParts(files)) await copyOne(path);
    const copy = locateChain(join(folder, AUDIT_COPY), chain).current;
    const whole = await measureWholeLines(copy);
    if (whole !== undefined) await truncate(copy, whole);
  }
}

/** All existing files of an audit. */
export async function auditFiles(audit: string): Promise<readonly string[]> {
  const folder = dirname(audit);
  const stem = basename(auditStem(audit));
  const names = await readdir(folder).catch((): string[] => []);
  return names
    .filter(
      (name) =>
        name.startsWith(`${stem}.`) &&
        /^(\.refused)?(\.\d{12})?\.(jsonl|ends\.json|sent\.json|torn\.txt)$/.test(name.slice(stem.length)),
    )
    .map((name) => join(folder, name));
}
