import { liveTaskController } from '../../../sdk/conform/live/others';
import { examples, type Register } from '../command';
import { listOption, reachableService, liveSettings, withCommon, type CommonOptions } from './options';
import { runConformance } from './run';

interface ControllerOptions extends CommonOptions {
  readonly job: string;
  readonly tasks: string;
}

export const conformTaskController: Register = (group, cli) => {
  withCommon(
    group
      .command('task-controller <url>')
      .description('asks for approvals as a fleet does; starts nothing')
      .requiredOption('--job <name>', 'the job that the controller watches')
      .requiredOption('--tasks <names>', 'all tasks of the job, two or more, separated by commas'),
  )
    .addHelpText(
      'after',
      examples(
        'conveyor conform task-controller http://localhost:4650 --job kv-x --tasks kv-x/0,kv-x/1,kv-x/2',
        'conveyor conform task-controller http://localhost:4650 --job kv-x --tasks kv-x/0,kv-x/1 --json',
      ),
    )
    .action(
      cli.handle<ControllerOptions, [string]>((call, url) => {
        const { io, options } = call;
        const tasks = listOption('--tasks', options.tasks, { least: 2, most: 2_500 });
        const { nonce } = liveSettings(io, '0s');
        return runConformance(
          call,
          liveTaskController({ ...reachableService(io, url, options), job: options.job, tasks, nonce }),
        );
      }),
    );
};
