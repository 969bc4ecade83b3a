import { readPipelineFile } from '../pipelineFile';
import { emit } from '../output';
import { hasErrors, renderProblems } from '../render/problems';
import { EXIT } from '../exit';
import { examples, type Register } from './command';

export const lint: Register = (program, cli) => {
  program
    .command('lint <files...>')
    .description('find mistakes and risks in pipeline files; needs no server')
    .addHelpText('after', examples('conveyor lint pipeline.yaml', 'conveyor lint pipelines/*.yaml -o json'))
    .action(
      cli.handle<object, [string[]]>(async ({ io, output }, files) => {
        const checked = await Promise.all(files.map(readPipelineFile));
        const report = { files: checked.map(({ file, problems }) => ({ file, problems })) };
        emit(io, output, report, {
          text: (view) => renderProblems(report.files, view),
          name: report.files.filter((file) => file.problems.length > 0).map(({ file }) => file),
        });
        return hasErrors(checked) ? EXIT.usage : EXIT.ok;
      }),
    );
};
