import { conveyorError } from '../../domain/errors';
import { parseId } from '../../domain/ids';
import { resolveActor } from '../door';
import { examples, type Register } from './command';
import { addReason, type ReasonOption } from './send';
import { startAndWatch, waitOptions, type WaitOptions } from './start';

export const rerunCommand: Register = (program, cli) => {
  addReason(waitOptions(program.command('rerun <release>')))
    .description('rerun the failed part of an ended release, as a new release; actions that succeeded are carried over')
    .addHelpText(
      'after',
      examples(
        'conveyor rerun kvstore/12 --reason "the test bed is up again" --wait',
        'conveyor rerun kvstore/12 --idempotency-key "$CI_JOB_ID"',
      ),
    )
    .action(
      cli.handle<WaitOptions & ReasonOption, [string]>((call, text) => {
        const { reason, idempotencyKey: key } = call.options;
        const id = parseId(text);
        if (id?.kind !== 'release')
          throw conveyorError('invalid-id', { text, expected: 'a release that has ended, such as kvstore/12' });
        const given = { actor: resolveActor(call.io, call.connect), reason, key };
        return startAndWatch(call, (client) => client.rerun(id.pipeline, id.number, given));
      }),
    );
};
