import { livePushType } from '../../../sdk/conform/live/pushType';
import { examples, type Register } from '../command';
import {
  listOption,
  objectOption,
  reachableService,
  runHelperProgram,
  liveSettings,
  withCommon,
  type CommonOptions,
} from './options';
import { runConformance } from './run';

interface PushTypeOptions extends CommonOptions {
  readonly units: string;
  readonly newVersions: string;
  readonly deadVersion?: string;
  readonly config?: string;
  readonly addTask?: string;
  readonly patience: string;
}

export const conformPushType: Register = (group, cli) => {
  withCommon(
    group
      .command('push-type <url>')
      .description('updates, breaks and reverts two units; no pipeline may deploy them meanwhile')
      .requiredOption('--units <a,b>', 'the two units to use: six tasks or more each, on one version')
      .requiredOption('--new-versions <v,w>', 'one or two other versions whose tasks come up')
      .option('--dead-version <version>', 'a version whose tasks do not come up')
      .option('--config <json>', 'context.config (default: {"units": [a, b]})')
      .option(
        '--add-task <program>',
        'adds a task to the unit that it is given as its argument, and waits until it is up',
      )
      .option('--patience <duration>', 'how long one update may take', '60s'),
  )
    .addHelpText(
      'after',
      examples(
        'conveyor conform push-type http://localhost:4630 --units web-a,web-b --new-versions 2.0,2.1',
        'conveyor conform push-type http://localhost:4630 --units web-a,web-b --new-versions 2.0,2.1 \\',
        '    --dead-version broken --add-task ./add-task.sh --patience 5m',
        'conveyor conform push-type http://localhost:4400/push-types/twine --config \'{"jobs":["x","y"]}\' \\',
        '    --units x,y --new-versions kv:2,kv:3 --json',
      ),
    )
    .action(
      cli.handle<PushTypeOptions, [string]>(async (call, url) => {
        const { io, options } = call;
        const { addTask } = options;
        const units = listOption('--units', options.units, { least: 2, most: 2 }) as [string, string];
        const versions = listOption('--new-versions', options.newVersions, { least: 1, most: 2 });
        const live = livePushType({
          ...reachableService(io, url, options),
          ...liveSettings(io, options.patience),
          ...{ units, newVersions: versions as [string, string?], deadVersion: options.deadVersion },
          config: options.config === undefined ? { units } : objectOption('--config', options.config),
          grow: addTask === undefined ? undefined : async (unit) => void (await runHelperProgram(addTask, [unit])),
        });
        return runConformance(call, live);
      }),
    );
};
