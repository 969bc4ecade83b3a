import { examples, type GlobalOptions, type Register } from './command';
import { collect, flags, runProcess } from './processes';

interface AgentCommandOptions extends GlobalOptions {
  readonly manifests: string;
  readonly tokenFile?: string;
  readonly keys: string;
  readonly host?: string;
  readonly home?: string;
  readonly label: readonly string[];
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly allowHttp?: boolean;
  readonly spread?: string;
}

/** The agent of a host that polls. `dist/agent/conveyor-agent.js` is the same program in one file. */
export const agentCommand: Register = (program, cli) => {
  program
    .command('agent')
    .description('run the agent of this host, which polls a manifest server (docs/guides/agent.md)')
    .requiredOption('--manifests <url>', 'the manifest server')
    .option('--token-file <file>', 'the token of this host; no other user may read it (not needed with --cert)')
    .requiredOption('--keys <file>', 'the public keys that may sign manifests, in PEM')
    .option('--host <name>', 'the name of this host (default: its own)')
    .option('--home <dir>', 'the folder of its state and packages (default /var/lib/conveyor-agent)')
    .option('--label <key=value>', 'a label of this host, such as region=eu; repeatable', collect, [])
    .option('--ca <file>', 'the authority that signed the certificate of the server')
    .option('--cert <file>', 'its client certificate')
    .option('--key <file>', 'the key of that certificate')
    .option('--allow-http', 'poll other machines without encryption, in a network that you trust')
    .option('--spread <seconds>', 'the first poll happens within this time, at random (default 10)')
    .addHelpText(
      'after',
      examples('conveyor agent --manifests https://slowroll.example.com --token-file token --keys manifest-keys.pem'),
    )
    .action(
      cli.handle<AgentCommandOptions>((call) => {
        const { manifests, tokenFile, keys, host, home, label, ca, cert, key, allowHttp, spread } = call.options;
        const given = flags({ manifests, 'token-file': tokenFile, keys, host, home, ca, cert, key, spread });
        const labels = label.flatMap((one) => ['--label', one]);
        const args = [...given, ...labels, ...(allowHttp ? ['--allow-http'] : [])];
        return runProcess(call, 'push-types/slowroll/agent/main.js', args);
      }),
    );
};
