import { readPipelineFile } from '../pipelineFile';
import { emit } from '../output';
import { hasErrors, renderProblems } from '../render/problems';
import { noteScriptsOff } from '../scriptsAllowed';
import { EXIT } from '../exit';
import { examples, type Register } from './command';

export const lintCommand: Register = (program, cli) => {
  program
    .command('lint <files...>')
    .description('find mistakes and risks in pipeline files; needs no server. A TypeScript file is run to read it')
    .option('--no-exec', 'run no file: one in TypeScript or JavaScript is an error; for files of strangers')
    .addHelpText('after', examples('conveyor lint pipeline.yaml', 'conveyor lint pipelines/*.yaml -o json'))
    .action(
      cli.handle<{ readonly exec: boolean }, [string[]]>(async ({ io, output, options: { exec } }, files) => {
        const checked = await Promise.all(files.map((file) => readPipelineFile(file, io.now(), { exec })));
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
