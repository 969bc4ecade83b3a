import { dirname, resolve } from 'node:path';
import { z } from 'zod';
import { duration } from '../domain/spec/scalars';
import type { Env } from './env';

/**
 * What scripts of pipelines get from the worker that runs them, and what they may use up: `scripts` of conveyor.config.yaml.
 * A variable of the worker is given to a script when the file lists it here and the pipeline asks for it.
 */
export interface Scripts {
  /** The working directory; relative commands start from here. */
  readonly directory: string;
  /** The variables that pipelines may ask for; undefined when this worker does not have one. */
  readonly variables: Env;
  /** Where commands are looked for. */
  readonly path: string;
  readonly outputLimitBytes: number;
  readonly maxDurationMs: number;
  /** How long a script that was asked to stop has for it before it is killed. */
  readonly stopGraceMs: number;
}

const UNITS = { B: 1, KiB: 1024, MiB: 1_048_576 } as const;
const SIZE = /^(\d+)\s?(B|KiB|MiB)$/;

const size = z
  .string()
  .regex(SIZE, { error: 'expected a size such as 64KiB or 1MiB', abort: true })
  .transform((text) => {
    const [, count = '', unit = 'B'] = SIZE.exec(text) ?? [];
    return Number(count) * UNITS[unit as keyof typeof UNITS];
  });

/** The key of conveyor.config.yaml that this file is about. */
export const scriptFields = {
  scripts: z
    .strictObject({
      directory: z.string().min(1),
      env: z.array(z.string().regex(/^[A-Za-z_]\w*$/, { error: 'expected the name of an environment variable' })),
      outputLimit: size,
      maxDuration: duration,
      stopGrace: duration,
    })
    .partial()
    .default({}),
};

type Given = { readonly [F in keyof typeof scriptFields]: z.output<(typeof scriptFields)[F]> };

/** Relative directories are relative to the file. */
export function toScripts({ scripts }: Given, env: Env, file: string): Scripts {
  return {
    directory: resolve(dirname(file), scripts.directory ?? '.'),
    variables: Object.fromEntries((scripts.env ?? []).map((name) => [name, env[name]])),
    path: env['PATH'] ?? '',
    outputLimitBytes: scripts.outputLimit ?? UNITS.MiB,
    maxDurationMs: scripts.maxDuration ?? 86_400_000,
    stopGraceMs: scripts.stopGrace ?? 10_000,
  };
}
