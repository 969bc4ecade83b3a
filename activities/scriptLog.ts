import { stripVTControlCharacters } from 'node:util';
import { LOG_LIMITS } from '../domain/limits';
import { escapeUnsafe } from '../domain/plainText';
import { fitLog, type ScriptLog } from '../domain/scriptLog';

/** A longer line is taken in pieces. */
const PIECE_LENGTH = 4096;
/** A mask for shorter values would hide ordinary words. */
const SECRET_LENGTH = 6;
const MASK = '***';
const LINE_LENGTH = 200;
/** In characters. A later read may return less. */
const [HEAD_LENGTH, TAIL_LENGTH] = [LOG_LIMITS.log.max / 4, LOG_LIMITS.log.max];

/**
 * Keeps the beginning and the end of a script's output, line by line: as plain text, and with the values of its variables masked.
 */
export class LogKeeper {
  private head = '';
  private tail = '';
  private isHeadFull = false;
  private total = 0;
  private readonly streams: { rest: string }[] = [];
  private readonly mask: (text: string) => string;
  private readonly longest: number;

  /** `heading` comes before all lines that it keeps: whole lines, or nothing. */
  constructor(
    values: readonly string[] = [],
    private readonly heading = '',
  ) {
    const secrets = secretsIn(values);
    const any = new RegExp(secrets.map((secret) => secret.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')).join('|'), 'g');
    this.mask = secrets.length === 0 ? (text) => text : (text) => text.replace(any, MASK);
    this.longest = Math.max(0, ...secrets.map(({ length }) => length));
  }

  /** @returns a function that takes the output of one stream. */
  listen(): (text: string) => void {
    const stream = { rest: '' };
    this.streams.push(stream);
    return (text) => {
      // The mask comes before the cut, so that no half of a value remains on either side of it.
      const all = this.mask(stream.rest + text);
      const end = lineEnd(all);
      const whole = all.length - end > PIECE_LENGTH ? all.length - Math.max(this.longest, SECRET_LENGTH) : end;
      this.add(all.slice(0, whole));
      stream.rest = all.slice(whole);
    };
  }

  /** Also takes lines without an end, since none will come. */
  end(): void {
    for (const stream of this.streams) {
      this.add(stream.rest);
      stream.rest = '';
    }
  }

  /** Whole lines, in this many bytes of JSON. */
  read(bytes: number): ScriptLog {
    const { heading, head, tail, total } = this;
    return fitLog({ head: heading + head, cut: total - head.length - tail.length, tail }, bytes);
  }

  /** The last lines, including one without an end. */
  latest(): string {
    const { head, tail, streams } = this;
    return (head + tail).slice(-PIECE_LENGTH) + streams.map(({ rest }) => this.plain(rest)).join('');
  }

  private add(text: string): void {
    if (text === '') return;
    const plain = this.plain(text);
    this.total += plain.length;
    if (!this.isHeadFull && this.head.length + plain.length <= HEAD_LENGTH) {
      this.head += plain;
      return;
    }
    this.isHeadFull = true;
    this.tail += plain;
    if (this.tail.length > 2 * TAIL_LENGTH) this.tail = this.tail.slice(-TAIL_LENGTH);
  }

  /** Removes colours, and writes out characters that move, hide or turn text. A bar that is drawn over itself becomes lines. */
  private plain(text: string): string {
    return this.mask(escapeUnsafe(stripVTControlCharacters(text).replace(/\r\n?/g, '\n'), '\n\t'));
  }
}

/** The last line that is not blank; null if there is none. */
export function lastLine(text: string): string | null {
  const lines = text.split('\n');
  const last = lines.map((line) => line.trim()).findLast((line) => line !== '');
  return last?.slice(0, LINE_LENGTH) ?? null;
}

/** The end of the last whole line. The meaning of a carriage return at the very end depends on the next text. */
function lineEnd(text: string): number {
  const complete = text.endsWith('\r') ? text.slice(0, -1) : text;
  return Math.max(complete.lastIndexOf('\n'), complete.lastIndexOf('\r')) + 1;
}

/** The values, and each line of values with several lines, such as keys; the longest first. */
function secretsIn(values: readonly string[]): readonly string[] {
  const all = values.flatMap((value) => [value, ...value.split(/[\r\n]+/)]).map((value) => value.trim());
  return [...new Set(all)].filter(({ length }) => length >= SECRET_LENGTH).sort((a, b) => b.length - a.length);
}
