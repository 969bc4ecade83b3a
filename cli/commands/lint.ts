import { hasErrors, renderProblems } from '../../render/problems';
import { lintPipeline } from '../../domain/spec/lint';
import { experienceFindings } from '../../domain/spec/advice/experience';
import type { PipelineRules } from '../../domain/spec/parse';
import { readPipelineFile } from '../pipelineFile';
import { createPercentRules } from '../misleadingPercents';
import { emit } from '../output';
import { noteScriptsOff } from '../scriptsNotice';
import { EXIT } from '../exit';
import { examples, type CommandCall, type Register } from './command';
import { EXPERIENCE_SINCE, loadStats } from './statsReport';

interface LintOptions {
  readonly exec: boolean;
  readonly archive?: true;
}

export const lintCommand: Register = (program, cli) => {
  program
    .command('lint <files...>')
    .description('find mistakes and risks in pipeline files; needs no server. A TypeScript file is run to read it')
    .option('--archive', 'also advise from past deploys of the same category in the archive; may need a server')
    .option('--no-exec', 'run no file: reject TypeScript and JavaScript; for files that you do not trust')
    .addHelpText(
      'after',
      examples(
        'conveyor lint pipeline.yaml',
        'conveyor lint pipelines/*.yaml -o json',
        'conveyor lint pipeline.yaml --archive',
      ),
    )
    .action(
      cli.handle<LintOptions, [string[]]>(async (call, files) => {
        const { io, output, options } = call;
        const rules = options.archive === true ? await loadArchiveRules(call) : lintPipeline;
        const { exec } = options;
        const checked = await Promise.all(
          files.map((file) => {
            const percents = createPercentRules(file);
            const all: PipelineRules = (spec) => [...rules(spec), ...percents(spec)];
            return readPipelineFile(file, io.now(), { exec, rules: all });
          }),
        );
        const report = { files: checked.map(({ file, problems }) => ({ file, problems })) };
        emit(io, output, report, {
          text: (view, shown) => renderProblems(shown.files, view),
          name: report.files.filter((file) => file.problems.length > 0).map(({ file }) => file),
        });
        noteScriptsOff(io, checked);
        return hasErrors(checked) ? EXIT.usage : EXIT.ok;
      }),
    );
};

/** Fails without an archive, since it was asked for explicitly. @throws ConveyorError as `loadStats` */
async function loadArchiveRules(call: CommandCall<LintOptions>): Promise<PipelineRules> {
  const stats = await loadStats(call, { since: EXPERIENCE_SINCE, by: 'category' });
  return (spec) => [...lintPipeline(spec), ...experienceFindings(spec, stats)];
}
