import type { Command } from 'commander';
import { conveyorError } from '../../domain/errors';
import { parseDuration } from '../../domain/spec/duration';
import type { ConnectOptions, Io } from '../io';
import { isFormat, parseOutput, type Output } from '../output';

/** The context of every command: its environment, printing, connecting, and its own options. */
export interface CommandCall<O> {
  readonly io: Io;
  readonly output: Output;
  readonly connect: ConnectOptions;
  readonly options: O;
}

export interface GlobalOptions {
  readonly server?: string;
  readonly breakGlass?: string;
  readonly insecure?: boolean;
  readonly output?: string;
  readonly color?: boolean;
  readonly address?: string;
  readonly namespace?: string;
  readonly taskQueue?: string;
}

/** Values of `-o` in addition to the common formats: any file, or these formats. The handler finds them in its options. */
interface OwnOutput {
  readonly toFile?: boolean;
  readonly formats?: readonly string[];
}

/** Adds one command (or some) to the program. */
export type Register = (program: Command, cli: Cli) => void;

export interface Cli {
  readonly io: Io;
  /** Turns a handler that returns the exit code into a commander action. */
  handle<O, A extends unknown[] = []>(
    handler: (call: CommandCall<O>, ...args: A) => Promise<number>,
    more?: OwnOutput,
  ): (...raw: unknown[]) => Promise<void>;
}

export function makeCli(io: Io, finish: (code: number) => void): Cli {
  return {
    io,
    handle:
      <O, A extends unknown[]>(
        handler: (call: CommandCall<O>, ...args: A) => Promise<number>,
        { toFile = false, formats = [] }: OwnOutput = {},
      ) =>
      async (...raw: unknown[]) => {
        const command = raw.at(-1) as Command;
        const options = command.optsWithGlobals<O & GlobalOptions>();
        const isOwn = toFile ? !isFormat(options.output) : formats.includes(options.output ?? '');
        const output = await parseOutput(io, isOwn ? { ...options, output: 'table' } : options);
        const call = { io, options, output, connect: connectOptions(options) };
        finish(await handler(call, ...(raw.slice(0, -2) as A)));
      },
  };
}

/** Examples at the end of a command's help, one per line. */
export const examples = (...lines: readonly string[]): string =>
  `\nExamples:\n${lines.map((line) => `  ${line}`).join('\n')}`;

/** `10m` → ms; an error names the flag. */
export function durationOption(flag: string, text: string | undefined): number | undefined {
  const parsed = text === undefined ? undefined : parseDuration(text);
  if (text === undefined || parsed !== undefined) return parsed;
  throw conveyorError('usage', { text: `${flag} ${text} is not a duration`, hint: 'write it as 90s, 10m or 8h' });
}

/** A whole number of at least `least`. */
export function countOption(flag: string, text: string | undefined, fallback: number, least: number = 1): number {
  if (text === undefined) return fallback;
  const value = Number(text);
  if (Number.isInteger(value) && value >= least) return value;
  throw conveyorError('usage', {
    text: `${flag} ${text} is not a whole number of ${least} or more`,
    hint: `${flag} ${fallback} is the default`,
  });
}

/** A number above 0. */
export function numberOption(flag: string, text: string | undefined, fallback: number): number {
  const value = text === undefined ? fallback : Number(text);
  if (Number.isFinite(value) && value > 0) return value;
  throw conveyorError('usage', {
    text: `${flag} ${text} is not a number above 0`,
    hint: `${flag} ${fallback} is the default`,
  });
}

function connectOptions(options: GlobalOptions): ConnectOptions {
  const { server, breakGlass, insecure, address, namespace, taskQueue } = options;
  return {
    ...(server === undefined ? {} : { server }),
    ...(breakGlass === undefined ? {} : { breakGlass }),
    ...(insecure === undefined ? {} : { insecure }),
    ...(address === undefined ? {} : { address }),
    ...(namespace === undefined ? {} : { namespace }),
    ...(taskQueue === undefined ? {} : { taskQueue }),
  };
}
