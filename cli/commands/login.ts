import { askAt } from '../../client/http/client';
import { serverUrl } from '../../client/http/url';
import { paint } from '../../render/paint';
import { toHttpOptions } from '../door';
import { EXIT } from '../exit';
import { writeCredentials } from '../login/credentials';
import { obtainGrant, type LoginOptions } from '../login/methods';
import { emit, printNote } from '../output';
import { examples, type GlobalOptions, type Register } from './command';

export const loginCommand: Register = (program, cli) => {
  program
    .command('login <url>')
    .description('send all commands through this server and sign in to it; conveyor logout ends this')
    .option('--as <principal>', 'act as this principal, at a development server (conveyor server --dev-login)')
    .option('--device', 'sign in on another machine, by a code; the default over SSH')
    .option('--issuer <url>', 'use this identity provider, if the server has several')
    .option('--token-stdin', 'read a token of the server from standard input (default: CONVEYOR_TOKEN)')
    .addHelpText(
      'after',
      examples(
        'conveyor login https://conveyor.example.com',
        'conveyor login https://conveyor.example.com --device',
        'printf %s "$TOKEN" | conveyor login https://conveyor.example.com --token-stdin',
        'CONVEYOR_TOKEN=… conveyor login http://localhost:4500',
      ),
    )
    .action(
      cli.handle<LoginOptions & GlobalOptions, [string]>(async ({ io, output, options }, text) => {
        const { insecure = false } = options;
        const server = serverUrl(text, { insecure });
        const grant = await obtainGrant(io, server, options);
        // A login counts only once the server accepts the token.
        const { principal } = await askAt(toHttpOptions(io, { url: server, token: grant.token })).whoAmI();
        if (io.env.CONVEYOR_SERVER)
          printNote(io, 'note: CONVEYOR_SERVER takes precedence over this login until it is unset');
        const file = writeCredentials(io.env, { server, ...grant, ...(insecure ? { insecure } : {}) });
        emit(
          io,
          output,
          { server, principal, file },
          {
            text: (view) =>
              `${paint(view.color).green('✔')} ${principal} at ${server}; conveyor logout removes ${file}`,
            name: [principal],
          },
        );
        return EXIT.ok;
      }),
    );
};
