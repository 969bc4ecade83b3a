import type { Command } from 'commander';
import type { CommandInput, Verb } from '../../domain/verbs';
import { conveyorError } from '../../domain/errors';
import { formatTime } from '../../domain/text';
import { examples, type Cli, type Register } from './command';
import { momentOption } from './times';
import { addReason, send, type ReasonOption } from './send';

/** The operator's verbs: each is one update, acknowledged with what happens now. */

interface Options extends ReasonOption {
  readonly revert?: boolean;
  readonly notBad?: boolean;
  readonly acceptMissing?: boolean;
  readonly check?: string;
  readonly for?: string;
  readonly phase?: string;
  readonly until?: string;
}

interface Described {
  readonly verb: Verb;
  readonly operand: string;
  readonly description: string;
  readonly example: string;
  readonly options?: (command: Command) => Command;
}

const withPhase = (command: Command): Command =>
  command.option('--phase <name>', 'only if this phase is under way: somebody else may have skipped it already');

const VERBS: readonly Described[] = [
  {
    verb: 'pause',
    operand: '<id>',
    description: 'stop forward motion; checks go on, and an unhealthy verdict still reverts',
    example: 'conveyor pause kvstore/12 --reason "looking at the latency"',
    options: (command) => command.option('--no-revert', 'an unhealthy verdict does not revert while paused'),
  },
  {
    verb: 'resume',
    operand: '<id>',
    description: 'go on after one fresh healthy verdict',
    example: 'conveyor resume kvstore/12 --reason "it was the load test"',
    options: (command) =>
      command.option('--accept-missing', 'complete without the tasks that were not updated in time'),
  },
  {
    verb: 'cancel',
    operand: '<id>',
    description: 'stop here and leave the fleet as it is, on mixed versions',
    example: 'conveyor cancel kvstore/12 --reason "wrong artifact"',
  },
  {
    verb: 'revert',
    operand: '<id>',
    description: 'bring everything that it updated back to what ran before',
    example: 'conveyor revert kvstore/12 --reason "customers see errors"',
    options: (command) => command.option('--not-bad', 'do not mark the artifact known-bad'),
  },
  {
    verb: 'skip-phase',
    operand: '<deploy>',
    description: 'leave the present phase unfinished; the next amount covers its rest',
    example: 'conveyor skip-phase kvstore/12/deploy --phase region-x --reason "region x is drained"',
    options: withPhase,
  },
  {
    verb: 'skip-bake',
    operand: '<deploy>',
    description: 'end the bake of the present phase now',
    example: 'conveyor skip-bake kvstore/12/deploy --reason "hotfix, metrics looked at by hand"',
    options: withPhase,
  },
  {
    verb: 'skip-health-check',
    operand: '<deploy>',
    description: 'do not judge by a check (or any) for the present phase or the whole deploy',
    example: 'conveyor skip-health-check kvstore/12/deploy --check cpu --for deploy --reason "known regression"',
    options: (command) =>
      command
        .option('--check <name>', 'only this check')
        .option('--for <phase|deploy>', 'how long it counts (default phase)'),
  },
  {
    verb: 'skip-window',
    operand: '<id>',
    description: 'go past a closed window, a blackout or a soak, until it ends; skips nothing else',
    example: 'conveyor skip-window kvstore/12/deploy --reason "the fix cannot wait until Monday"',
  },
  {
    verb: 'hold',
    operand: '<pipeline>',
    description: 'let no deploy of the pipeline start; builds and tests go on',
    example: 'conveyor hold kvstore --reason "incident 4711"',
  },
  {
    verb: 'unhold',
    operand: '<pipeline>',
    description: 'let deploys start again',
    example: 'conveyor unhold kvstore --reason "incident 4711 is over"',
  },
  {
    verb: 'freeze',
    operand: '<pipeline>',
    description: 'let nothing of the pipeline start, and pause its deploys before their next phase; reverts go on',
    example: 'conveyor freeze kvstore --until 2h --reason "the network is being moved"',
    options: (command) => command.option('--until <time>', 'lift it then: 2026-12-27T06:00Z, or 2h from now'),
  },
  {
    verb: 'unfreeze',
    operand: '<pipeline>',
    description: 'let releases and deploys go on',
    example: 'conveyor unfreeze kvstore --reason "the network is moved"',
  },
  {
    verb: 'retire',
    operand: '<pipeline>',
    description: 'end a pipeline that is not needed any more; apply brings it back',
    example: 'conveyor retire kvstore --reason "it is part of the shop now"',
  },
];

export const verbs: Register = (program, cli) => {
  for (const described of VERBS) addVerb(program, cli, described);
  addReason(program.command('allow-artifact <pipeline> <name@version>'))
    .description('take an artifact off the list of known-bad ones')
    .addHelpText('after', examples('conveyor allow-artifact kvstore executable@kv:13 --reason "it was the test data"'))
    .action(
      cli.handle<Options, [string, string]>((call, pipeline, artifact) => {
        if (!/^[^@]+@.+$/.test(artifact))
          throw conveyorError('usage', {
            text: `${artifact} is not name@version`,
            hint: 'write it as executable@kv:13',
          });
        return send(call, pipeline, 'allow-artifact', { artifact });
      }),
    );
};

function addVerb(program: Command, cli: Cli, { verb, operand, description, example, options }: Described): void {
  const command = addReason(program.command(`${verb} ${operand}`)).description(description);
  (options?.(command) ?? command)
    .addHelpText('after', examples(example))
    .action(cli.handle<Options, [string]>((call, id) => send(call, id, verb, extras(call.options, call.io.now()))));
}

function extras(options: Options, nowMs: number): Partial<CommandInput> {
  const untilMs = momentOption('--until', options.until, nowMs);
  if (options.for !== undefined && options.for !== 'phase' && options.for !== 'deploy')
    throw conveyorError('usage', {
      text: `--for ${options.for} is neither phase nor deploy`,
      hint: 'phase is the default',
    });
  return {
    ...(options.revert === false ? { noRevert: true } : {}),
    ...(options.notBad ? { notBad: true } : {}),
    ...(options.acceptMissing ? { acceptMissing: true } : {}),
    ...(options.check === undefined ? {} : { check: options.check }),
    ...(options.for === undefined ? {} : { for: options.for }),
    ...(options.phase === undefined ? {} : { phase: options.phase }),
    ...(untilMs === undefined ? {} : { until: formatTime(untilMs) }),
  };
}
