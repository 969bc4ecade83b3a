import { liveDependencyGraph } from '../../../sdk/conform/live/others';
import { examples, type Register } from '../command';
import { listOption, reachableService, withCommon, type CommonOptions } from './options';
import { runConformance } from './run';

interface GraphOptions extends CommonOptions {
  readonly target: string;
  readonly dependent: string;
  readonly revisions: string;
}

export const conformDependencyGraph: Register = (group, cli) => {
  withCommon(
    group
      .command('dependency-graph <url>')
      .description('asks for the dependents of a target; changes nothing')
      .requiredOption('--target <name>', 'a target with dependents')
      .requiredOption('--dependent <name>', 'a target that depends on it')
      .requiredOption('--revisions <a,b,c>', 'three revisions at which it does, the oldest first'),
  )
    .addHelpText(
      'after',
      examples(
        'conveyor conform dependency-graph http://localhost:4670 --target //lib:rpc --dependent //kv:server --revisions 11,12,13',
        'conveyor conform dependency-graph http://localhost:4670 --target //lib:rpc --dependent //kv:server --revisions 11,12,13 --json',
      ),
    )
    .action(
      cli.handle<GraphOptions, [string]>((call, url) => {
        const { io, options } = call;
        const { target, dependent } = options;
        const revisions = listOption('--revisions', options.revisions, { least: 3, most: 3 }) as [
          string,
          string,
          string,
        ];
        return runConformance(
          call,
          liveDependencyGraph({ ...reachableService(io, url, options), target, dependent, revisions }),
        );
      }),
    );
};
