import { liveActionService } from '../../../sdk/conform/live/others';
import { examples, type Register } from '../command';
import { listOption, objectOption, reachableService, liveSettings, withCommon, type CommonOptions } from './options';
import { runConformance } from './run';

interface ActionOptions extends CommonOptions {
  readonly input: string;
  readonly goodVersion: string;
  readonly badVersion?: string;
  readonly outputs?: string;
  readonly with: string;
  readonly patience: string;
}

export const conformActionService: Register = (group, cli) => {
  withCommon(
    group
      .command('action-service <url>')
      .description('starts and cancels some runs')
      .requiredOption('--good-version <version>', 'the version of the input with which a run succeeds')
      .option('--input <name>', 'the name of the input', 'source')
      .option('--bad-version <version>', 'the version of the input with which a run fails')
      .option('--outputs <names>', 'the outputs of a successful run, in order')
      .option('--with <json>', 'the `with` of the action', '{}')
      .option('--patience <duration>', 'how long one run may take', '60s'),
  )
    .addHelpText(
      'after',
      examples(
        'conveyor conform action-service http://localhost:4610 --good-version 12',
        'conveyor conform action-service http://localhost:4610 --good-version 12 --bad-version 13 --outputs executable \\',
        '    --with \'{"target":"//kv:server","outputs":["executable"]}\' --patience 10m',
      ),
    )
    .action(
      cli.handle<ActionOptions, [string]>((call, url) => {
        const { io, options } = call;
        const { outputs, input, goodVersion, badVersion } = options;
        const given = {
          ...{ with: objectOption('--with', options.with), input: { name: input, version: goodVersion }, badVersion },
          outputs: outputs === undefined ? undefined : listOption('--outputs', outputs, { least: 1, most: 100 }),
        };
        const live = { ...reachableService(io, url, options), ...liveSettings(io, options.patience), ...given };
        return runConformance(call, liveActionService(live));
      }),
    );
};
