import {
  liveActionService,
  liveArtifactFinder,
  liveDataSource,
  liveDependencyGraph,
  liveTaskController,
  liveTickets,
} from '../../../sdk/conform/live/others';
import { durationOption, examples, type Register } from '../command';
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
import { MINUTE_MS } from '../../../domain/milliseconds';

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
      .requiredOption('--good-version <version>', 'of the input, with which a run succeeds')
      .option('--input <name>', 'of the input', 'source')
      .option('--bad-version <version>', 'with which a run fails')
      .option('--outputs <names>', 'that a run which succeeds may have, in order')
      .option('--with <json>', 'what an action writes under `with`', '{}')
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

interface FinderOptions extends CommonOptions {
  readonly with: string;
  readonly other: string;
  readonly makeVersion?: string;
}

export const conformArtifactFinder: Register = (group, cli) => {
  withCommon(
    group
      .command('artifact-finder <url>')
      .description('asks for artifacts; changes nothing but by --make-version')
      .requiredOption('--with <json>', 'what it looks for: something of which there is a version')
      .requiredOption('--other <json>', 'the same for something that does not exist')
      .option('--make-version <program>', 'makes a newer version of the first, and prints what it is called'),
  )
    .addHelpText(
      'after',
      examples(
        `conveyor conform artifact-finder http://localhost:4640 --with '{"image":"web"}' --other '{"image":"none"}'`,
        `conveyor conform artifact-finder http://localhost:4640 --with '{"image":"web"}' --other '{"image":"none"}' \\`,
        '    --make-version ./push-an-image.sh',
      ),
    )
    .action(
      cli.handle<FinderOptions, [string]>((call, url) => {
        const { io, options } = call;
        const { makeVersion } = options;
        const live = liveArtifactFinder({
          ...reachableService(io, url, options),
          ...{ with: objectOption('--with', options.with), other: objectOption('--other', options.other) },
          make: makeVersion === undefined ? undefined : () => runHelperProgram(makeVersion, []),
        });
        return runConformance(call, live);
      }),
    );
};

interface ControllerOptions extends CommonOptions {
  readonly job: string;
  readonly tasks: string;
}

export const conformTaskController: Register = (group, cli) => {
  withCommon(
    group
      .command('task-controller <url>')
      .description('asks for approvals as a fleet does; nothing is begun')
      .requiredOption('--job <name>', 'that the controller watches')
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
      .requiredOption('--metric <name>', 'of which there are samples')
      .requiredOption('--unit <name>', 'that the tasks belong to')
      .requiredOption('--tasks <a,b>', 'the identifiers of two tasks, as they are on the metric')
      .option('--window <duration>', 'there are samples of both between then and a minute ago', '15m'),
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
        // Points of the last minute may still be on their way.
        const window = { start: now - (durationOption('--window', options.window) ?? 0), end: now - MINUTE_MS };
        return runConformance(
          call,
          liveDataSource({ ...reachableService(io, url, options), metric, unit, tasks, window }),
        );
      }),
    );
};

interface GraphOptions extends CommonOptions {
  readonly target: string;
  readonly dependent: string;
  readonly revisions: string;
}

export const conformDependencyGraph: Register = (group, cli) => {
  withCommon(
    group
      .command('dependency-graph <url>')
      .description('asks what contains a target; changes nothing')
      .requiredOption('--target <name>', 'that others depend on')
      .requiredOption('--dependent <name>', 'a target that depends on it')
      .requiredOption('--revisions <a,b,c>', 'three at which it does, the oldest first'),
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

interface TicketOptions extends CommonOptions {
  readonly assignee: string;
}

export const conformTickets: Register = (group, cli) => {
  withCommon(
    group
      .command('tickets <url>')
      .description('opens some tickets and closes them')
      .option('--assignee <principal>', 'who gets them', 'group:conform'),
  )
    .addHelpText(
      'after',
      examples(
        'conveyor conform tickets http://localhost:4680 --assignee user:alice',
        'conveyor conform tickets http://localhost:4680 --json',
      ),
    )
    .action(
      cli.handle<TicketOptions, [string]>((call, url) => {
        const { io, options } = call;
        const { nonce } = liveSettings(io, '0s');
        return runConformance(
          call,
          liveTickets({ ...reachableService(io, url, options), assignee: options.assignee, nonce }),
        );
      }),
    );
};
