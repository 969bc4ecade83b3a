import { stringify } from 'yaml';
import { conveyorError, ConveyorError } from '../domain/errors';
import { writtenOut } from '../domain/plainText';
import type { Io } from './io';
import { paint, safe, type View } from './render/paint';

/** How a command prints its data: `-o` (cli.md). */
export const FORMATS = ['table', 'wide', 'json', 'jsonl', 'yaml', 'name'] as const;
export const isFormat = (text: string | undefined): boolean => FORMATS.some((format) => format === text);
export type Format = (typeof FORMATS)[number];

export interface Output {
  readonly format: Format;
  /** True when people read it, false when programs do. */
  readonly human: boolean;
  readonly wide: boolean;
  /** How to render for stdout now; `now` is read at each call. */
  view(): View;
}

export function outputOf(io: Io, options: { output?: string; color?: boolean }): Output {
  const format = FORMATS.find((known) => known === (options.output ?? 'table'));
  if (format === undefined)
    throw conveyorError('usage', {
      text: `there is no output format ${options.output}`,
      hint: `one of ${FORMATS.join(', ')}`,
    });
  const color = colorFor(io, io.stdout.isTTY, options.color);
  const timeZone = io.env.TZ;
  return {
    format,
    human: format === 'table' || format === 'wide',
    wide: format === 'wide',
    view: () => ({
      // Programs that take lines get whole ones.
      width: io.stdout.isTTY ? io.stdout.columns : Infinity,
      color,
      now: io.now(),
      ...(timeZone ? { timeZone } : {}),
    }),
  };
}

/** Prints a value in the format asked for; `text` renders it for people, `name` is what `-o name` prints. */
export function emit(
  io: Io,
  output: Output,
  value: unknown,
  show: { readonly text: (view: View) => string; readonly name: readonly string[] },
): void {
  io.stdout.write(`${formatted(output, value, show)}\n`);
}

function formatted(output: Output, value: unknown, show: Parameters<typeof emit>[3]): string {
  switch (output.format) {
    case 'json':
      return jsonText(value, 2);
    case 'jsonl':
      return (Array.isArray(value) ? value : [value]).map((item) => jsonText(item)).join('\n');
    case 'yaml':
      return safe(stringify(value, { aliasDuplicateObjects: false }).trimEnd(), false);
    case 'name':
      return safe(show.name.join('\n'), false);
    case 'table':
    case 'wide': {
      const view = output.view();
      return safe(show.text(view), view.color);
    }
  }
}

/** The same value for whoever parses it, and harmless where it is printed. */
const jsonText = (value: unknown, indent?: number): string => writtenOut(JSON.stringify(value, null, indent), '\n');

/** An error as people and, with `-o json`, programs read it. Returns the exit code. */
export function emitError(
  io: Io,
  error: ConveyorError,
  format: string | undefined,
  color: boolean | undefined,
): number {
  const painted = colorFor(io, io.stderr.isTTY, color);
  const colors = paint(painted);
  if (format === 'json' || format === 'jsonl') {
    const body = { error: { code: error.code, message: error.message, hint: error.hint } };
    io.stdout.write(`${jsonText(body, format === 'json' ? 2 : 0)}\n`);
  }
  const hint = error.hint ? `\n${colors.dim('hint')}: ${error.hint}` : '';
  io.stderr.write(`${safe(`${colors.red('error')}: ${error.code}: ${error.message}${hint}`, painted)}\n`);
  return error.exit;
}

/** A line of progress for people; programs that read stdout never see it. */
export function note(io: Io, text: string): void {
  io.stderr.write(`${safe(text, true)}\n`);
}

export function colorFor(io: Pick<Io, 'env'>, isTTY: boolean, flag: boolean | undefined): boolean {
  if (flag === false || io.env.NO_COLOR) return false;
  if (io.env.FORCE_COLOR || io.env.CLICOLOR_FORCE) return true;
  return isTTY && io.env.TERM !== 'dumb';
}
