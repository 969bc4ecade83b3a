import { EXIT } from '../exit';
import { removeCredentials } from '../login/credentials';
import { emit, note } from '../output';
import { examples, type Register } from './command';

export const logout: Register = (program, cli) => {
  program
    .command('logout')
    .description(
      'forget the server and the token of conveyor login; the token stays good until the server takes it back',
    )
    .addHelpText('after', examples('conveyor logout'))
    .action(
      cli.handle<object>(({ io, output }) => {
        const wasIn = removeCredentials(io.env);
        if (io.env.CONVEYOR_SERVER) note(io, 'note: CONVEYOR_SERVER still names a server');
        emit(io, output, { wasIn }, { text: () => (wasIn ? 'logged out' : 'nobody was logged in'), name: [] });
        return Promise.resolve(EXIT.ok);
      }),
    );
};
