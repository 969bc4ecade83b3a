import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Command } from 'commander';
import { conveyorError } from '../../../domain/errors';
import { inRealTime, type LiveSettings } from '../../../sdk/conform/live/liveTime';
import type { Reachable } from '../../../sdk/conform/conversation';
import type { Io } from '../../io';
import { durationOption } from '../command';

/** Options of every suite. */
export interface CommonOptions {
  readonly tokenEnv?: string;
  readonly callTimeout: string;
  readonly only?: string;
  readonly json?: boolean;
}

export const withCommon = (command: Command): Command =>
  command
    .option('--token-env <name>', 'the variable that holds the bearer token of the service')
    .option('--call-timeout <duration>', 'how long one call may take', '10s')
    .option('--only <text>', 'only checks whose title contains this text')
    .option('--json', 'the same as -o json');

/** @throws usage */
export function reachableService(io: Io, url: string, { tokenEnv, callTimeout }: CommonOptions): Reachable {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw usage(`${url} is not a URL of a service`, 'write it as http://localhost:4630');
  const token = tokenEnv === undefined ? undefined : io.env[tokenEnv];
  if (tokenEnv !== undefined && !token) throw usage(`${tokenEnv} is not set`, `export ${tokenEnv}=… holds the token`);
  const timeoutMs = durationOption('--call-timeout', callTimeout) ?? 0;
  return {
    url,
    timeoutMs,
    fetch: (request, init) => io.fetch(request, init),
    ...(token === undefined ? {} : { token }),
  };
}

/** @throws usage */
export function liveSettings(io: Io, patience: string): LiveSettings {
  return {
    ...inRealTime(durationOption('--patience', patience)),
    now: () => io.now(),
    sleep: (ms) => io.sleep(ms),
  };
}

/** `a,b`, with a required number of items if given. @throws usage */
export function listOption(flag: string, text: string, { least, most }: { least: number; most: number }): string[] {
  const items = text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
  if (items.length >= least && items.length <= most && new Set(items).size === items.length) return items;
  const expected = least === most ? `exactly ${least}` : `${least} to ${most}`;
  throw usage(`${flag} ${text} are ${items.length} names`, `${expected} different ones, separated by commas`);
}

/** A JSON object. @throws usage */
export function objectOption(flag: string, text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch {
    // The text is not JSON.
  }
  throw usage(`${flag} ${text} is not a JSON object`, `write it as ${flag} '{"name": "value"}'`);
}

/** Runs the author's program without a shell, and returns its last line. Rejects with its output if it fails. */
export async function runHelperProgram(program: string, args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(program, [...args], { timeout: PROGRAM_MS });
  return stdout.trimEnd().split('\n').at(-1)?.trim() ?? '';
}
const PROGRAM_MS = 60_000;

export const usage = (text: string, hint: string) => conveyorError('usage', { text, hint });
