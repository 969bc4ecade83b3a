import { EXIT } from '../exit';
import type { Env } from '../../settings/env';
import { readCredentials, removeCredentials, type Credentials } from '../login/credentials';
import { revokeRenewal } from '../login/signIn';
import { emit, printNote } from '../output';
import { examples, type Register } from './command';

export const logoutCommand: Register = (program, cli) => {
  program
    .command('logout')
    .description(
      'forget the server and the token of conveyor login; the identity provider issues no new one, but a token of the server stays valid until the server revokes it',
    )
    .addHelpText('after', examples('conveyor logout'))
    .action(
      cli.handle<object>(async ({ io, output }) => {
        const { renewal } = readOwnCredentials(io.env) ?? {};
        const wasIn = removeCredentials(io.env);
        if (io.env.CONVEYOR_SERVER) printNote(io, 'note: CONVEYOR_SERVER still names a server');
        emit(io, output, { wasIn }, { text: () => (wasIn ? 'logged out' : 'not logged in'), name: [] });
        if (renewal) await revokeRenewal(renewal).catch((error: Error) => printNote(io, `note: ${error.message}`));
        return EXIT.ok;
      }),
    );
};

/** Unusable credentials are removed without revoking them. */
function readOwnCredentials(env: Env): Credentials | undefined {
  try {
    return readCredentials(env);
  } catch {
    return undefined;
  }
}
