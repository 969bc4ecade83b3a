import { conveyorError, ConveyorError } from '../domain/errors';
import { onOneLine, escapeUnsafe } from '../domain/plainText';
import { foldAll, paint, safe, type View } from '../render/paint';
import { clock, forPeople, localTimes } from '../render/times';
import type { Io, Screen } from './io';
import { asTyped } from './typedCommand';

/** How a command prints its data: `-o` (docs/reference/cli.md#output). */
export const OUTPUT_FORMATS = ['table', 'wide', 'json', 'jsonl', 'yaml', 'name'] as const;
export const isFormat = (text: string | undefined): boolean => OUTPUT_FORMATS.some((format) => format === text);
export type OutputFormat = (typeof OUTPUT_FORMATS)[number];

export interface Output {
  readonly format: OutputFormat;
  /** Whether people read it, and not programs. */
  readonly human: boolean;
  readonly wide: boolean;
  /** The view for stdout; `now` is read at each call. */
  view(): View;
  /** JSON, which is also valid YAML, unless the format is `yaml`. */
  yaml(value: unknown): string;
}

/** @throws ConveyorError `usage` */
export async function parseOutput(io: Io, options: { output?: string; color?: boolean }): Promise<Output> {
  const format = OUTPUT_FORMATS.find((known) => known === (options.output ?? 'table'));
  if (format === undefined)
    throw conveyorError('usage', {
      text: `there is no output format ${options.output}`,
      hint: `one of ${OUTPUT_FORMATS.join(', ')}`,
    });
  const color = colorFor(io, io.stdout.isTTY, options.color);
  return {
    format,
    human: format === 'table' || format === 'wide',
    wide: format === 'wide',
    // Programs that read lines get them unfolded.
    view: () => ({ width: io.stdout.isTTY ? io.stdout.columns : Infinity, color, ...getReader(io) }),
    yaml: format === 'yaml' ? await yamlWriter() : jsonText,
  };
}

/** The clock and zone in which times are shown. */
const getReader = (io: Io): Pick<View, 'now' | 'timeZone'> => ({
  now: io.now(),
  ...parseZone(io.env),
});

/** TZ if it names a zone: it may also be a file (`:/etc/localtime`) or a rule, for which Node uses its own zone. */
function parseZone({ TZ }: Io['env']): Pick<View, 'timeZone'> {
  try {
    return TZ ? { timeZone: new Intl.DateTimeFormat('en', { timeZone: TZ }).resolvedOptions().timeZone } : {};
  } catch {
    return {};
  }
}

/** Loads the library only for output in YAML. */
async function yamlWriter(): Promise<Output['yaml']> {
  const { stringify } = await import('yaml');
  return (value) => stringify(value, { aliasDuplicateObjects: false }).trimEnd();
}

/**
 * How a value is shown: `text` renders it for people, with every text on one line and times in the reader's zone;
 * `name` is the output of `-o name`.
 */
interface Printable<T> {
  readonly text: (view: View, value: T) => string;
  readonly name: readonly string[];
}

/** Prints a value in the requested format; nothing for an empty list of ids or lines. */
export function emit<T>(io: Io, output: Output, value: T, show: Printable<T>): void {
  const text = formatOutput(output, value, show);
  if (text === '' && !output.human) return;
  io.stdout.write(`${output.human ? foldFor(io.stdout, asTyped(text, io.env)) : text}\n`);
}

function formatOutput<T>(output: Output, value: T, show: Printable<T>): string {
  switch (output.format) {
    case 'json':
      return jsonText(value, 2);
    case 'jsonl':
      return (Array.isArray(value) ? value : [value]).map((item: unknown) => jsonText(item)).join('\n');
    case 'yaml':
      return safe(output.yaml(value), false);
    case 'name':
      return show.name.map(onOneLine).join('\n');
    case 'table':
    case 'wide': {
      const view = output.view();
      return safe(show.text(view, forPeople(value, view)), view.color);
    }
  }
}

/** Folds a text to the width of a terminal; programs get it unfolded. */
export const foldFor = ({ isTTY, columns }: Pick<Screen, 'isTTY' | 'columns'>, text: string): string =>
  isTTY ? foldAll(text.split('\n'), { width: columns }).join('\n') : text;

/** JSON that parses to the same value and is safe to print. */
export const jsonText = (value: unknown, indent?: number): string =>
  escapeUnsafe(JSON.stringify(value, null, indent), '\n');

/** Prints an error for people or, with `-o json`, for programs. Returns the exit code. */
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
  const read = (text: string): string => quoteForTerminal(readTimes(io, text));
  const hint = error.hint ? `\n${colors.dim('hint')}: ${asTyped(read(error.hint), io.env)}` : '';
  const text = safe(`${colors.red('error')}: ${error.code}: ${read(error.message)}${hint}`, painted);
  io.stderr.write(`${foldFor(io.stderr, text)}\n`);
  return error.exit;
}

const readTimes = (io: Io, text: string): string => localTimes(text, (iso) => clock(iso, getReader(io)));

/** Errors may quote foreign text. Its colours are removed, and its lines are indented so that they cannot pass for ours. */
const quoteForTerminal = (text: string): string => escapeUnsafe(text, '\n').replace(/\n(?! )/g, '\n  ');

/** A line of progress for people; programs that read stdout never see it. */
export const printNote = (io: Io, text: string): void => printNoteLines(io, onOneLine(text));

/** The same for our own text of several lines, or text whose foreign parts are on one line each. */
export function printNoteLines(io: Io, text: string): void {
  io.stderr.write(`${foldFor(io.stderr, safe(asTyped(readTimes(io, text), io.env), false))}\n`);
}

export function colorFor(io: Pick<Io, 'env'>, isTTY: boolean, flag: boolean | undefined): boolean {
  if (flag === false || io.env.NO_COLOR) return false;
  if (isOn(io.env.FORCE_COLOR) || isOn(io.env.CLICOLOR_FORCE)) return true;
  return isTTY && io.env.TERM !== 'dumb';
}

const isOn = (setting: string | undefined): boolean => !['', '0', 'false'].includes(setting ?? '');
