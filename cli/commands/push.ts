import { conveyorError } from '../../domain/errors';
import { requireReason } from '../io';
import { resolveActor } from '../door';
import { examples, type Register } from './command';
import { addReason, type ReasonOption } from './send';
import { readArtifacts, startAndWatch, startOptions, type StartOptions } from './start';

interface PushOptions extends StartOptions, ReasonOption {
  readonly emergency?: boolean;
  readonly skipBake?: boolean;
}

export const pushCommand: Register = (program, cli) => {
  addReason(startOptions(program.command('push <pipeline> <action>')))
    .description(
      'emergency: deploy these versions now, without earlier actions and ahead of the queue; if the pipeline requires approvals, once other owners have approved',
    )
    .option('--emergency', 'confirm that this is an emergency; required')
    .option('--skip-bake', 'skip the bakes as well; an unhealthy verdict still stops it')
    .addHelpText(
      'after',
      examples('conveyor push kvstore deploy -a executable=kv:14 --emergency --reason "kv:13 loses writes" --wait'),
    )
    .action(
      cli.handle<PushOptions, [string, string]>(async (call, pipeline, action) => {
        const { io, connect, options } = call;
        const artifacts = readArtifacts(options);
        if (!options.emergency) throw noEmergency(pipeline);
        const actor = resolveActor(io, connect);
        const reason = await requireReason(io, 'push', options.reason);
        const how = {
          actor,
          reason,
          ...(options.skipBake ? { skipBake: true } : {}),
          ...(options.idempotencyKey === undefined ? {} : { key: options.idempotencyKey }),
        };
        return startAndWatch(call, (client) => client.push(pipeline, action, artifacts, how), action);
      }),
    );
};

const noEmergency = (pipeline: string) =>
  conveyorError('usage', {
    text: 'push goes around builds, tests, picks, windows and the queue, so it needs --emergency',
    hint: `conveyor release ${pipeline} goes through them; if there is no time for that, add --emergency --reason "…"`,
  });
