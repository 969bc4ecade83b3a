import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const ROOT = join(__dirname, '../..');

/** Writes the agent as one file, as the build does; `entry` is another program with the same parts. */
export function bundleAgent(file: string, entry?: string): void {
  const args = ['scripts/agent.js', file, ...(entry === undefined ? [] : [join(ROOT, entry)])];
  const { status, stderr } = spawnSync(process.execPath, args, { cwd: ROOT, encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
}
