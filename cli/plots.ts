import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { conveyorError } from '../domain/errors';
import type { Backtest } from '../domain/health/backtest';
import { drawBacktest } from '../domain/health/plot';
import type { ActionBacktest } from '../render/backtest';

const LONGEST_NAME = 100;

/** Creates the directory first, so that a missing permission shows before any work. @throws usage */
export const plotDirectory = (directory: string): void =>
  writeOrRefuse('--plot', directory, () => mkdirSync(directory, { recursive: true }));

/** One file for each check. The name of a check may not be a valid file name, and two may map to the same one. */
export function writePlots(directory: string, actions: readonly ActionBacktest[]): string[] {
  const files = new Map<string, Backtest>();
  for (const { action, checks } of actions)
    for (const one of checks) {
      const stem = `${action}-${one.check.replace(/[^\w.-]+/g, '-')}`.slice(0, LONGEST_NAME);
      let file = `${stem}.svg`;
      for (let nth = 2; files.has(file); nth += 1) file = `${stem}-${nth}.svg`;
      files.set(file, one);
    }
  return [...files].map(([name, one]) => {
    const file = join(directory, name);
    writeOrRefuse('--plot', file, () => writeFileSync(file, drawBacktest(one)));
    return file;
  });
}

/** Writes to the file or folder that an option names. @throws usage if the file system refuses */
export function writeOrRefuse(option: string, file: string, write: () => void): void {
  try {
    write();
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    throw conveyorError('usage', {
      text: `cannot write ${file}: ${detail}`,
      hint: `give ${option} a place that you may write to`,
    });
  }
}
