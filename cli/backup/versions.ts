import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Env } from '../../settings/env';
import { installRoot } from '../../settings/registry';
import type { BackupManifest } from './manifest';
import { callProgram } from './run';

/** Versions of the programs of this machine; that of Temporal is null if it is not installed yet. */
export async function versionsHere(env: Env): Promise<BackupManifest['versions']> {
  const { version } = JSON.parse(readFileSync(join(installRoot(), 'package.json'), 'utf8')) as { version: string };
  return { conveyor: version, temporal: await temporalVersion(env) };
}

/** `temporal version 1.8.2 (Server 1.31.2, UI 2.50.1)` */
async function temporalVersion(env: Env): Promise<string | null> {
  try {
    const found = await callProgram(join(installRoot(), 'temporal-dev.sh'), ['--print-path'], { env });
    const binary = found.stdout.trim().split('\n').at(-1) ?? '';
    const { stdout } = await callProgram(binary, ['--version'], { env });
    return /\bServer (\d+\.\d+\.\d+)/.exec(stdout)?.[1] ?? null;
  } catch {
    return null;
  }
}
