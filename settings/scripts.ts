import { dirname, resolve } from 'node:path';
import { z } from 'zod';
import { GUARANTEES, isGuarantee, REQUIRED, type Guarantee } from '../domain/isolation';
import { duration } from '../domain/spec/scalars';
import type { Env } from './env';
import { DAY_MS } from '../domain/milliseconds';

/**
 * Whether pipelines may have scripts, the resources that scripts get from their worker, and their limits: `scripts` of
 * conveyor.config.yaml. A script gets a variable of the worker if the file lists it here and the pipeline asks for it.
 */
export interface Scripts {
  /** False by default, because the author of a pipeline chooses the programs. */
  readonly enabled: boolean;
  /** The guarantees that a machine must give before it runs a script. */
  readonly required: readonly Guarantee[];
  /** `none`: not even this machine's loopback. */
  readonly network: 'none' | 'host';
  /** The user for scripts if the worker is root: a name or a number. */
  readonly user: string;
  /** A name or a number; null means the group of the user. */
  readonly group: string | null;
  /** Folders in which files written by scripts persist. */
  readonly writable: readonly string[];
  readonly limits: ScriptLimits;
  /** The configuration, which scripts must not write. */
  readonly file: string;
  /** The working directory; relative commands start from here. */
  readonly directory: string;
  /** The variables that pipelines may ask for; undefined if this worker lacks one. */
  readonly variables: Env;
  /** The search path for commands. */
  readonly path: string;
  readonly outputLimitBytes: number;
  readonly maxDurationMs: number;
  /** How long a script may take to stop before it is killed. */
  readonly stopGraceMs: number;
}

export interface ScriptLimits {
  /** The limit of each process of a script. */
  readonly memoryBytes: number;
  /** The limit of all processes of a script together, if it has a control group. */
  readonly totalMemoryBytes: number;
  /** The limit of all scripts of a user together, and of each if it has a control group. The kernel counts threads. */
  readonly processes: number;
  /** How many CPUs a script may keep busy, if it has a control group; null for all idle ones. */
  readonly cpus: number | null;
  /** The CPU time of each process. */
  readonly cpuMs: number;
  /** The size of each file, and of all files in a private `$TMPDIR`. */
  readonly fileBytes: number;
}

const SIZE_UNITS = { B: 1, KiB: 1024, MiB: 1_048_576, GiB: 1_073_741_824 } as const;
const SIZE = /^(\d+)\s?(B|KiB|MiB|GiB)$/;
const DEFAULT_MEMORY = 2 * SIZE_UNITS.GiB;

const sizeSchema = z
  .string()
  .regex(SIZE, { error: 'expected a size such as 64KiB or 1MiB', abort: true })
  .transform((text) => {
    const [, count = '', unit = 'B'] = SIZE.exec(text) ?? [];
    return Number(count) * SIZE_UNITS[unit as keyof typeof SIZE_UNITS];
  });

const account = z
  .union([z.int().min(0).transform(String), z.string().regex(/^[A-Za-z0-9_][A-Za-z0-9_.-]*$/)])
  .refine((name) => name !== '0' && name !== 'root', { error: 'scripts never run as root' });

function toRequired(given: string | readonly string[], context: z.RefinementCtx): Guarantee[] {
  if (given === 'required') return [...REQUIRED];
  if (typeof given === 'string') return [];
  const unknown = given.filter((name) => !isGuarantee(name));
  const known = Object.keys(GUARANTEES).join(', ');
  if (unknown.length > 0)
    context.addIssue({
      code: 'custom',
      message: `${unknown.join(', ')}: expected required, best-effort or some of ${known}`,
    });
  return given.filter(isGuarantee);
}

const limitsSchema = z
  .strictObject({
    memory: sizeSchema,
    totalMemory: sizeSchema,
    processes: z.int().min(8),
    cpus: z.number().min(0.01).max(4_096),
    cpuTime: duration,
    fileSize: sizeSchema,
  })
  .partial()
  .refine(({ memory = DEFAULT_MEMORY, totalMemory = Infinity }) => totalMemory >= memory, {
    path: ['totalMemory'],
    error: 'expected at least limits.memory, which one process may take alone (2GiB by default)',
  });

/** The key of conveyor.config.yaml that this file handles. */
export const scriptFields = {
  scripts: z
    .strictObject({
      enabled: z.boolean(),
      isolation: z.union([z.enum(['required', 'best-effort']), z.array(z.string())]).transform(toRequired),
      network: z.enum(['none', 'host']),
      user: account,
      group: account,
      writable: z.array(z.string().min(1)),
      limits: limitsSchema,
      directory: z.string().min(1),
      env: z.array(z.string().regex(/^[A-Za-z_]\w*$/, { error: 'expected the name of an environment variable' })),
      outputLimit: sizeSchema,
      maxDuration: duration,
      stopGrace: duration,
    })
    .partial()
    .default({}),
};

type ScriptsConfig = { readonly [F in keyof typeof scriptFields]: z.output<(typeof scriptFields)[F]> };

/** Relative directories are relative to the file. */
export function toScripts({ scripts }: ScriptsConfig, env: Env, file: string): Scripts {
  const inFolder = (folder: string): string => resolve(dirname(file), folder);
  return {
    enabled: scripts.enabled ?? false,
    required: listRequiredGuarantees(scripts),
    network: scripts.network ?? 'none',
    user: scripts.user ?? 'nobody',
    group: scripts.group ?? null,
    writable: (scripts.writable ?? []).map(inFolder),
    limits: toLimits(scripts.limits ?? {}),
    file: resolve(file),
    directory: inFolder(scripts.directory ?? '.'),
    variables: Object.fromEntries((scripts.env ?? []).map((name) => [name, env[name]])),
    path: env['PATH'] ?? '',
    outputLimitBytes: scripts.outputLimit ?? SIZE_UNITS.MiB,
    maxDurationMs: scripts.maxDuration ?? DAY_MS,
    stopGraceMs: scripts.stopGrace ?? 10_000,
  };
}

/** If the file itself gives scripts the network, its isolation is not required. */
function listRequiredGuarantees({ isolation, network }: ScriptsConfig['scripts']): readonly Guarantee[] {
  const wanted = isolation ?? REQUIRED;
  return network === 'host' ? wanted.filter((name) => name !== 'network') : wanted;
}

function toLimits(given: NonNullable<ScriptsConfig['scripts']['limits']>): ScriptLimits {
  const { memory = DEFAULT_MEMORY, totalMemory, processes, cpus, cpuTime, fileSize } = given;
  return {
    memoryBytes: memory,
    totalMemoryBytes: totalMemory ?? 2 * memory,
    processes: processes ?? 2_048,
    cpus: cpus ?? null,
    cpuMs: cpuTime ?? DAY_MS,
    fileBytes: fileSize ?? SIZE_UNITS.GiB,
  };
}
