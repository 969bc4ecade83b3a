import { conveyorError } from '../../domain/errors';
import { plural } from '../../domain/text';
import { repairBuilds } from '../doctor/builds';
import { flagsAsEnv, runChecks } from '../doctor/checks';
import { resolveDoor } from '../door';
import { EXIT } from '../exit';
import type { ConnectOptions, Io } from '../io';
import { emit } from '../output';
import { renderChecks } from '../doctor/checksText';
import { examples, type Register } from './command';

export const doctorCommand: Register = (program, cli) => {
  program
    .command('doctor')
    .description(
      'find missing or broken parts of this machine and of the services it uses, and how to fix them; changes nothing without --repair',
    )
    .option('--repair', 'move workflows that wait for a worker build that is gone to the builds that run')
    .addHelpText('after', examples('conveyor doctor', 'conveyor doctor --repair', 'conveyor doctor -o json'))
    .action(
      cli.handle<{ repair?: true }>(async ({ io, output, connect, options }) => {
        const moved = options.repair ? await repair(io, connect) : undefined;
        const checks = await runChecks(io.env, connect, io);
        emit(
          io,
          output,
          { checks, ...(moved && { moved }) },
          {
            text: (view, shown) =>
              [...describeMovedWorkflows(shown.moved), renderChecks(shown.checks, view)].join('\n'),
            name: checks.filter((check) => check.state !== 'ok').map((check) => check.name),
          },
        );
        return checks.some((check) => check.state === 'missing') ? EXIT.error : EXIT.ok;
      }),
    );
};

/** A repair needs direct access: only users who operate Temporal may do it. @throws ConveyorError `usage` */
function repair({ env }: Io, connect: ConnectOptions): Promise<readonly string[]> {
  if (resolveDoor(env, connect).kind === 'temporal') return repairBuilds({ ...env, ...flagsAsEnv(connect) });
  throw conveyorError('usage', {
    text: '--repair needs Temporal itself, but commands go through a server',
    hint: 'run it where Temporal can be reached, with --break-glass "why"',
  });
}

const describeMovedWorkflows = (moved?: readonly string[]): readonly string[] =>
  moved === undefined
    ? []
    : [`${plural(moved.length, 'workflow')} moved${moved.length === 0 ? '' : `: ${moved.join(', ')}`}`, ''];
