import { createJiti } from 'jiti';
import type { At, ParseJob, ParseResult } from '../job';

const jiti = createJiti(__filename, { fsCache: false, moduleCache: false });

/** Compiles TypeScript to CommonJS. `say` reports each step before it runs, for the process that may have to kill this one. */
export function runParse({ files }: ParseJob, say: (at: At) => void): ParseResult {
  const outcome = files.map(({ path, source }) => {
    say({ path, invariant: null });
    try {
      return transform(path, source);
    } catch (error) {
      return { why: error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error) };
    }
  });
  return { kind: 'parse', outcome };
}

function transform(path: string, source: string): ParseResult['outcome'][number] {
  const code = jiti.transform({ source, filename: `/${path}`, ts: true, async: false });
  // jiti returns source that it cannot parse as a module that throws.
  const failure = /^exports\.__JITI_ERROR__ = (.*?);?$/s.exec(code)?.[1];
  if (failure === undefined) return { code };
  const { message = '', line } = JSON.parse(failure) as { message?: string; line?: number };
  return { why: `${message.split('\n')[0]}${line === undefined ? '' : `(line ${line})`}` };
}
