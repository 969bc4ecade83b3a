import type { ConveyorClient } from '../../client/api';
import { changesBetween, type SpecChange } from '../../domain/changes';
import { ConveyorError } from '../../domain/errors';
import { groupBy } from '../../domain/groupBy';
import { allOnOneLine } from '../../domain/plainText';
import type { PipelineSpec } from '../../domain/spec/pipeline';
import { renderChanges } from '../../render/changes';
import { paint, type View } from '../../render/paint';
import { hasErrors, renderProblems } from '../../render/problems';
import { EXIT } from '../exit';
import { refuseLargeFleets } from '../fleet';
import { resolveActor, withClient } from '../door';
import { emit, printNote, printNoteLines } from '../output';
import { invalidFile, readPipelineFile } from '../pipelineFile';
import { noteScriptsOff } from '../scriptsNotice';
import { examples, type Register } from './command';

interface ApplyResult {
  readonly pipeline: string;
  readonly file: string;
  readonly result: 'created' | 'changed' | 'unchanged';
  readonly dryRun: boolean;
  readonly changes: readonly SpecChange[];
  /** Its workflow had ended: the release after which its numbers continue, and whether its records could still be read. */
  readonly continued?: { readonly after: number; readonly books: boolean };
  /** In words: configs that no push type could check, and those that it refuses but the pipeline had before. */
  readonly configNotes?: readonly string[];
}

export const applyCommand: Register = (program, cli) => {
  program
    .command('apply <files...>')
    .description('create or change pipelines; releases that run keep the spec they began with')
    .option('--dry-run', 'show what would change, change nothing')
    .addHelpText('after', examples('conveyor apply pipeline.yaml', 'conveyor apply pipelines/*.yaml --dry-run'))
    .action(
      cli.handle<{ readonly dryRun?: boolean }, [string[]]>(async ({ io, output, connect, options }, files) => {
        const checked = await Promise.all(files.map((file) => readPipelineFile(file, io.now())));
        const view = { ...output.view(), color: false };
        if (checked.some((file) => file.problems.length > 0))
          printNoteLines(io, renderProblems(allOnOneLine(checked), view));
        // All or nothing: one bad file must not leave the others half applied.
        const wrong = checked.find((file) => hasErrors([file]));
        if (wrong) throw invalidFile(wrong);
        noteScriptsOff(io, checked);
        await Promise.all(checked.flatMap(({ spec }) => (spec ? [refuseLargeFleets(io, spec)] : [])));
        const actor = resolveActor(io, connect);
        return withClient(io, connect, async (client) => {
          const applied: ApplyResult[] = [];
          for (const { file, spec } of checked) {
            if (spec === null) continue;
            const applying = options.dryRun ? previewApply(client, spec) : client.apply(spec, actor);
            const done = await applying.catch((error: unknown) => {
              if (applied.length > 0 && !options.dryRun) printNote(io, alreadyWords(applied));
              throw error;
            });
            applied.push(applyResult(file, spec, done, Boolean(options.dryRun)));
          }
          for (const line of noteWords(applied)) printNote(io, `warning: ${line}`);
          emit(io, output, applied, {
            text: (now, shown) => shown.map((one) => renderApplied(one, now)).join('\n'),
            name: applied.map((one) => one.pipeline),
          });
          return EXIT.ok;
        });
      }),
    );
};

const alreadyWords = (applied: readonly ApplyResult[]): string =>
  `applied already: ${applied.map(({ pipeline, result }) => `${pipeline} (${result})`).join(', ')}`;

const NAMED_PIPELINES = 5;

/** A note about many pipelines is one line. */
function noteWords(applied: readonly ApplyResult[]): readonly string[] {
  const notes = applied.flatMap(({ pipeline, configNotes = [] }) => configNotes.map((note) => ({ pipeline, note })));
  return groupBy(notes, ({ note }) => note).map(([note, of]) => {
    const more = of.length > NAMED_PIPELINES ? ` and ${of.length - NAMED_PIPELINES} more` : '';
    const named = of.slice(0, NAMED_PIPELINES).map(({ pipeline }) => pipeline);
    return `${named.join(', ')}${more}: ${note}`;
  });
}

type ApplyAnswer = Awaited<ReturnType<ConveyorClient['apply']>>;

/** The findings of `apply`, without applying. */
async function previewApply(client: ConveyorClient, spec: PipelineSpec): Promise<ApplyAnswer> {
  try {
    return { created: false, previous: await client.spec(spec.pipeline) };
  } catch (error) {
    if (error instanceof ConveyorError && error.code === 'unknown-pipeline') return { created: true, previous: null };
    throw error;
  }
}

function applyResult(
  file: string,
  spec: PipelineSpec,
  { created, previous, continued, configNotes }: ApplyAnswer,
  dryRun: boolean,
): ApplyResult {
  const changes = previous === null ? [] : changesBetween(previous, spec);
  const result = created ? 'created' : changes.length === 0 ? 'unchanged' : 'changed';
  const more = { ...(continued ? { continued } : {}), ...(configNotes ? { configNotes } : {}) };
  return { pipeline: spec.pipeline, file, result, dryRun, changes, ...more };
}

const WOULD = { created: 'would be created', changed: 'would change', unchanged: 'unchanged' } as const;

function renderApplied({ pipeline, result, dryRun, changes, continued }: ApplyResult, view: View): string {
  const colors = paint(view.color);
  const word = dryRun ? WOULD[result] : result;
  const mark = result === 'unchanged' ? colors.dim('=') : colors.green('✔');
  const line = `${mark} ${pipeline} ${word}${continued ? describeContinued(continued) : ''}`;
  return changes.length === 0 ? line : `${line}\n${renderChanges(changes, view)}`;
}

const describeContinued = ({ after, books }: NonNullable<ApplyResult['continued']>): string =>
  books
    ? `; its workflow had ended, and continues after release ${after} with its whole state`
    : `; its workflow had ended and left no state: it continues after release ${after}, and conveyor pipeline import brings back the rest`;
