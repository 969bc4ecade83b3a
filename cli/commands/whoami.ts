import type { View } from '../../render/paint';
import { untilWords } from '../../render/times';
import { EXIT } from '../exit';
import { emit } from '../output';
import { findSelf, type Self } from '../self';
import { examples, type Register } from './command';

export const whoamiCommand: Register = (program, cli) => {
  program
    .command('whoami')
    .description('shows the identity of your commands, the server they go to, and when the token expires')
    .addHelpText('after', examples('conveyor whoami', 'conveyor whoami -o json'))
    .action(
      cli.handle<object>(async ({ io, output, connect }) => {
        const self = await findSelf(io, connect);
        emit(io, output, self, { text: (view, shown) => identityText(shown, view), name: [self.principal] });
        return EXIT.ok;
      }),
    );
};

function identityText({ server, principal, groups, door, expiresAt }: Self, view: View): string {
  if (server === null) return `${principal}, unverified: commands go to Temporal, which does not check identities`;
  const lines = [
    `${principal} at ${server}, by ${door}`,
    ...(groups.length === 0 ? [] : [`member of ${groups.join(', ')}`]),
    ...(expiresAt === null ? [] : [untilWords(expiresAt, view)]),
  ];
  return lines.join('\n');
}
