import { existsSync } from 'node:fs';
import { advise } from '../../domain/spec/advice/advise';
import { categoryOf } from '../../domain/health/statistics';
import { ConveyorError } from '../../domain/errors';
import type { PipelineSpec } from '../../domain/spec/pipeline';
import { formatPath, type Finding, type Problem } from '../../domain/spec/problem';
import type { StatsReport } from '../../domain/stats/report';
import { withClient } from '../door';
import { EXIT } from '../exit';
import { emit, printNote } from '../output';
import { readPipelineFile, requirePipelineFile } from '../pipelineFile';
import { adviceText, type Advice, type AdviceReport } from '../render/advice';
import { examples, type CommandCall, type Register } from './command';
import { loadStats } from './statsReport';
import { sinceOption } from './times';

interface AdviseOptions {
  readonly since: string;
}

export const adviseCommand: Register = (program, cli) => {
  program
    .command('advise <pipeline>')
    .description(
      'what would make a pipeline, by its name or its file, safer or faster, each with its reason and the line of the file; changes nothing',
    )
    .option('--since <time>', 'what ended since in its category: so long ago, or a time', '90d')
    .addHelpText(
      'after',
      examples(
        'conveyor advise kvstore',
        'conveyor advise pipeline.yaml',
        'conveyor advise pipeline.yaml --since 365d -o json',
      ),
    )
    .action(
      cli.handle<AdviseOptions, [string]>(async (call, given) => {
        const { io, output, connect } = call;
        const file = isFile(given) ? given : null;
        const spec = file
          ? (await requirePipelineFile(file, io.now())).spec
          : await withClient(io, connect, (client) => client.spec(given));
        const stats = await statsIfAny(call);
        const report: AdviceReport = {
          ...{ pipeline: spec.pipeline, file, category: categoryOf(spec), since: stats?.since ?? null },
          advice: file ? await adviceIn(file, io.now(), stats) : advise(spec, stats).map(withoutLine),
        };
        emit(io, output, report, {
          text: (view, shown) => adviceText(shown, view),
          name: report.advice.map(({ rule }) => rule),
        });
        return EXIT.ok;
      }),
    );
};

/** No name of a pipeline has a dot or a slash. */
const isFile = (given: string): boolean => /[./\\]/.test(given) || existsSync(given);

/** Each where it stands in the file. */
async function adviceIn(file: string, nowMs: number, stats: StatsReport | null): Promise<readonly Advice[]> {
  let found: readonly Finding[] = [];
  const rules = (spec: PipelineSpec) => (found = advise(spec, stats));
  const { problems } = await readPipelineFile(file, nowMs, { rules });
  const codes = new Set(found.map(({ code }) => code));
  return problems.filter(({ code }) => codes.has(code)).map(toAdvice);
}

const toAdvice = ({ code, line, column, path, message, hint }: Problem): Advice => ({
  ...{ rule: code, line, column, path, recommendation: message, reason: hint },
});

const withoutLine = ({ code, path, message, hint }: Finding): Advice => ({
  ...{ rule: code, line: null, column: null, path: formatPath(path), recommendation: message, reason: hint },
});

/** The pipeline is enough to say something. @throws ConveyorError `usage` of a time that is none */
async function statsIfAny({
  io,
  connect,
  options: { since },
}: CommandCall<AdviseOptions>): Promise<StatsReport | null> {
  sinceOption('--since', since, io.now());
  try {
    return await loadStats({ io, connect }, { since, by: 'category' });
  } catch (error) {
    if (!(error instanceof ConveyorError)) throw error;
    printNote(io, `note: without what the archive knows: ${error.message}`);
    return null;
  }
}
