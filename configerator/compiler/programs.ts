import { conveyorError, type ConveyorError } from '../../domain/errors';
import type { Context, UncheckedValue, ValueSource } from './context';
import type { ImportGraph } from './graph';
import type { ExportedValue, JobFailure } from './job';
import { NoResult } from './process';
import { getStem } from './tree';

/** Runs each program in a separate process. */
export async function runPrograms(
  context: Context,
  programs: readonly ValueSource[],
): Promise<readonly UncheckedValue[]> {
  return (await Promise.all(programs.map((program) => runOne(context, program)))).flat();
}

async function runOne(
  { graph, run, say }: Context,
  { file, sources }: ValueSource,
): Promise<readonly UncheckedValue[]> {
  try {
    const { outcome } = await run({ kind: 'program', file, modules: graph.modulesOf([file]) });
    if ('kind' in outcome) {
      say(toProgramError(graph, file, outcome));
      return [];
    }
    return outcome.map((one) => ({ ...toProgramValue(file, one), sources }));
  } catch (error) {
    if (!(error instanceof NoResult)) throw error;
    say(conveyorError('config-program-failed', { file, how: withTail(error) }));
    return [];
  }
}

const toProgramValue = (file: string, { name, schema, json }: ExportedValue): Omit<UncheckedValue, 'sources'> => ({
  ...{ path: formatValuePath(file, name), text: json, file, schema },
  isRaw: false,
});

const formatValuePath = (file: string, name: string): string =>
  name === '' ? getStem(file) : `${getStem(file)}.${name}`;

const withTail = ({ how, tail }: NoResult): string => {
  const last = tail.split('\n').at(-1)?.trim().slice(0, 200);
  return last && how.startsWith('it ended') ? `${how}; its last line: ${last}` : how;
};

/** The problem of a failed program, with the chain of imports that leads to it. */
export function toProgramError(graph: ImportGraph, file: string, failure: JobFailure): ConveyorError {
  switch (failure.kind) {
    case 'threw': {
      const at = failure.where ?? file;
      const chain = graph.chain(file, at.replace(/:\d+$/, ''));
      const via = chain.length > 1 ? `, imported by ${chain.slice(0, -1).reverse().join(', by ')}` : '';
      const how = failure.where === null ? failure.why : `${at}${via}: ${failure.why}`;
      return conveyorError('config-program-failed', { file, how });
    }
    case 'import':
      return conveyorError('config-import-refused', {
        file: failure.from,
        imported: failure.specifier,
        why: failure.why,
      });
    case 'varies': {
      const { name, first, second } = failure;
      return conveyorError('config-not-deterministic', { file, path: formatValuePath(file, name), first, second });
    }
    case 'misfit':
      return conveyorError('config-value-refused', {
        ...{ path: formatValuePath(file, failure.name), file, by: 'its schema', why: failure.why, chain: [] },
      });
  }
}
