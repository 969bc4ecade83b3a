import { liveDataSource } from '../../../sdk/conform/live/others';
import { durationOption, examples, type Register } from '../command';
import { listOption, reachableService, withCommon, type CommonOptions } from './options';
import { runConformance } from './run';
import { MINUTE_MS } from '../../../domain/milliseconds';

interface SourceOptions extends CommonOptions {
  readonly metric: string;
  readonly unit: string;
  readonly tasks: string;
  readonly window: string;
}

export const conformDataSource: Register = (group, cli) => {
  withCommon(
    group
      .command('data-source <url>')
      .description('asks for samples; changes nothing')
      .requiredOption('--metric <name>', 'a metric with samples')
      .requiredOption('--unit <name>', 'the unit of the tasks')
      .requiredOption('--tasks <a,b>', 'two tasks, as the metric identifies them')
      .option('--window <duration>', 'how far back samples of both reach, up to a minute ago', '15m'),
  )
    .addHelpText(
      'after',
      examples(
        'conveyor conform data-source http://localhost:4660 --metric errors --unit kv-x --tasks kv-x/0/1,kv-x/1/1',
        'conveyor conform data-source http://localhost:4660 --metric errors --unit kv-x --tasks a,b --window 1h --json',
      ),
    )
    .action(
      cli.handle<SourceOptions, [string]>((call, url) => {
        const { io, options } = call;
        const { metric, unit } = options;
        const tasks = listOption('--tasks', options.tasks, { least: 2, most: 2 }) as [string, string];
        const now = io.now();
        // Points of the last minute may not have arrived yet.
        const window = { start: now - (durationOption('--window', options.window) ?? 0), end: now - MINUTE_MS };
        return runConformance(
          call,
          liveDataSource({ ...reachableService(io, url, options), metric, unit, tasks, window }),
        );
      }),
    );
};
