import { actorOf } from '../door';
import { examples, type Register } from './command';
import { parseArtifact, start, startOptions, type StartOptions } from './start';

export const release: Register = (program, cli) => {
  startOptions(program.command('release <pipeline>'))
    .description('start a release of some artifact versions; of inputs that are left out the latest known are taken')
    .addHelpText(
      'after',
      examples(
        'conveyor release kvstore --artifact source=12 --wait',
        'conveyor release kvstore -a source=12,branch=main --idempotency-key "$CI_PIPELINE_ID"',
      ),
    )
    .action(
      cli.handle<StartOptions, [string]>((call, pipeline) => {
        const artifacts = call.options.artifact.map(parseArtifact);
        const trigger = {
          kind: 'manual',
          actor: actorOf(call.io, call.connect),
          key: call.options.idempotencyKey ?? null,
        } as const;
        return start(call, (client) => client.release(pipeline, artifacts, trigger));
      }),
    );
};
