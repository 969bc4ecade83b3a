import { advise } from '../../domain/spec/advice/advise';
import { getCategory } from '../../domain/health/statistics';
import { lintPipeline } from '../../domain/spec/lint';
import type { PipelineSpec } from '../../domain/spec/pipeline';
import { formatPath, type Finding, type Problem } from '../../domain/spec/problem';
import type { StatsReport } from '../../domain/stats/report';
import { adviceText, type Advice, type AdviceReport } from '../../render/advice';
import { withClient } from '../door';
import { EXIT } from '../exit';
import { emit } from '../output';
import { isFile, requirePipelineFile } from '../pipelineFile';
import { examples, type CommandCall, type Register } from './command';
import { EXPERIENCE_SINCE, noteLacking, statsIfAny } from './statsReport';

interface AdviseOptions {
  readonly since: string;
}

type AdviseCall = CommandCall<AdviseOptions>;

export const adviseCommand: Register = (program, cli) => {
  program
    .command('advise <pipeline>')
    .description(
      'recommendations that make a pipeline (a name or a file) safer or faster, with reasons and lines; changes nothing',
    )
    .option(
      '--since <time>',
      'count deploys of its category that ended since then: a duration ago, or a time',
      EXPERIENCE_SINCE,
    )
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
        const { io, output } = call;
        const { stats, lacking } = await statsIfAny(call, call.options.since);
        const advised = isFile(given) ? await adviseOnFile(call, given, stats) : await adviseByName(call, given, stats);
        noteLacking(io, lacking);
        const { spec, ...rest } = advised;
        const report: AdviceReport = {
          ...{ pipeline: spec.pipeline, category: getCategory(spec), since: stats?.since ?? null },
          ...rest,
        };
        emit(io, output, report, {
          text: (view, shown) => adviceText(shown, view),
          name: report.advice.map(({ rule }) => rule),
        });
        return EXIT.ok;
      }),
    );
};

interface AdvisedPipeline extends Pick<AdviceReport, 'file' | 'advice'> {
  readonly spec: PipelineSpec;
}

/**
 * Recommendations with their positions in the file. @throws ConveyorError `invalid-file` for a file that cannot be
 * applied
 */
async function adviseOnFile({ io }: AdviseCall, file: string, stats: StatsReport | null): Promise<AdvisedPipeline> {
  let found: readonly Finding[] = [];
  const { spec, problems } = await requirePipelineFile(file, io.now(), (parsed) => {
    const errors = lintPipeline(parsed).filter(({ severity }) => severity === 'error');
    return errors.length > 0 ? errors : (found = advise(parsed, stats));
  });
  const codes = new Set(found.map(({ code }) => code));
  return { spec, file, advice: problems.filter(({ code }) => codes.has(code)).map(toAdvice) };
}

async function adviseByName(
  { io, connect }: AdviseCall,
  name: string,
  stats: StatsReport | null,
): Promise<AdvisedPipeline> {
  const spec = await withClient(io, connect, (client) => client.spec(name));
  return { spec, file: null, advice: advise(spec, stats).map(withoutLine) };
}

const toAdvice = ({ code, line, column, path, message, hint }: Problem): Advice => ({
  ...{ rule: code, line, column, path, recommendation: message, reason: hint },
});

const withoutLine = ({ code, path, message, hint }: Finding): Advice => ({
  ...{ rule: code, line: null, column: null, path: formatPath(path), recommendation: message, reason: hint },
});
