import { resolveActor } from '../door';
import { examples, type Register } from './command';
import { addReason, type ReasonOption } from './send';
import { readArtifacts, startAndWatch, startOptions, type StartOptions } from './start';

export const releaseCommand: Register = (program, cli) => {
  addReason(startOptions(program.command('release <pipeline>')))
    .description('start a release of some artifact versions; omitted inputs use their latest known versions')
    .addHelpText(
      'after',
      examples(
        'conveyor release kvstore --artifact source=12 --wait',
        'conveyor release kvstore --reason "the fix for the slow start"',
        'conveyor release kvstore -a source=12,branch=main --idempotency-key "$CI_PIPELINE_ID"',
        'conveyor release kvstore -a executable=kv:12 --attestation executable=kv12.json',
      ),
    )
    .action(
      cli.handle<StartOptions & ReasonOption, [string]>((call, pipeline) => {
        const artifacts = readArtifacts(call.options);
        const { reason, idempotencyKey: key = null } = call.options;
        const trigger = {
          kind: 'manual',
          actor: resolveActor(call.io, call.connect),
          ...{ key, ...(reason === undefined ? {} : { reason }) },
        } as const;
        return startAndWatch(call, (client) => client.release(pipeline, artifacts, trigger));
      }),
    );
};
