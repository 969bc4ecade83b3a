import { EXIT } from '../exit';
import type { Env } from '../../sdk/env';
import { readCredentials, removeCredentials, type Credentials } from '../login/credentials';
import { withdrawn } from '../login/signIn';
import { emit, note } from '../output';
import { examples, type Register } from './command';

export const logout: Register = (program, cli) => {
  program
    .command('logout')
    .description(
      'forget the server and the token of conveyor login; an identity provider gives no new one, and a token of the server stays good until that takes it back',
    )
    .addHelpText('after', examples('conveyor logout'))
    .action(
      cli.handle<object>(async ({ io, output }) => {
        const { renewal } = keptBy(io.env) ?? {};
        const wasIn = removeCredentials(io.env);
        if (io.env.CONVEYOR_SERVER) note(io, 'note: CONVEYOR_SERVER still names a server');
        emit(io, output, { wasIn }, { text: () => (wasIn ? 'logged out' : 'nobody was logged in'), name: [] });
        if (renewal) await withdrawn(renewal).catch((error: Error) => note(io, `note: ${error.message}`));
        return EXIT.ok;
      }),
    );
};

/** What nobody can use is only removed. */
function keptBy(env: Env): Credentials | undefined {
  try {
    return readCredentials(env);
  } catch {
    return undefined;
  }
}
