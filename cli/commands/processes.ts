import { entryPoint } from '../stack/parts';
import { SIMULATED_SPEED } from '../simulator';
import { examples, type CommandCall, type GlobalOptions, type Register } from './command';

/** Commands that become a long-running process: signals reach it, it drains, and it ends with its own exit code. */

interface ProcessOptions extends GlobalOptions {
  readonly port?: string;
  readonly host?: string;
  readonly devLogin?: boolean;
  readonly seed?: string;
  readonly speed?: string;
}

interface WorkerOptions extends GlobalOptions {
  readonly metrics?: string;
  readonly build?: string;
}

interface ConfigServiceOptions extends ProcessOptions {
  readonly state?: string;
}

interface ProxyOptions extends GlobalOptions {
  readonly host?: string;
  readonly repository: string;
  readonly cache: string;
  readonly etcd: string;
  readonly label: readonly string[];
  readonly port?: string;
  readonly peers?: string;
  readonly packagesMb?: string;
  readonly etcdUser?: string;
  readonly etcdPasswordEnv?: string;
  readonly etcdCa?: string;
  readonly etcdCert?: string;
  readonly etcdKey?: string;
}

export const HOST_HELP = 'the address to listen on (default: 127.0.0.1, for this machine alone)';

export const processCommands: Register = (program, cli) => {
  program
    .command('worker')
    .description('run a worker; add more to go faster')
    .option('--metrics <host:port>', 'the address of /metrics (default: CONVEYOR_METRICS, else none)')
    .option('--build <id>', 'its build, for versioned workers (default: CONVEYOR_WORKER_BUILD, else none)')
    .addHelpText(
      'after',
      examples('conveyor worker', 'conveyor worker --metrics 127.0.0.1:9464', 'conveyor worker --build 0.3.0'),
    )
    .action(
      cli.handle<WorkerOptions>((call) =>
        runProcess(call, 'workers/main.js', [], {
          ...toFlag('CONVEYOR_METRICS', call.options.metrics),
          ...toFlag('CONVEYOR_WORKER_BUILD', call.options.build),
        }),
      ),
    );
  program
    .command('server')
    .description('run the HTTP front end')
    .option('--port <n>', 'port (default 4500)')
    .option('--host <address>', HOST_HELP)
    .option('--dev-login', 'trust the name that each caller gives (conveyor login --as); for this machine only')
    .addHelpText('after', examples('conveyor server', 'conveyor server --port 8080 --host 0.0.0.0'))
    .action(
      cli.handle<ProcessOptions>((call) =>
        runProcess(call, 'server/main.js', [...place(call), ...(call.options.devLogin ? ['--dev-login'] : [])]),
      ),
    );
  program
    .command('hcs')
    .description('run the Health Check Service')
    .option('--port <n>', 'port (default 4600)')
    .option('--host <address>', HOST_HELP)
    .addHelpText('after', examples('conveyor hcs', 'conveyor hcs --port 8081'))
    .action(cli.handle<ProcessOptions>((call) => runProcess(call, 'server/hcs/main.js', place(call))));
  program
    .command('simulator')
    .description('run the simulated world: Twine regions, fleet, metrics, build service')
    .option('--port <n>', 'port (default: that of CONVEYOR_SIMULATOR_URL, else 4400)')
    .option('--seed <n>', 'seed of every random choice (default 1)')
    .option('--speed <x>', `how many times faster than real time it runs (default ${SIMULATED_SPEED})`)
    .addHelpText('after', examples('conveyor simulator', 'conveyor simulator --seed 7 --speed 600'))
    .action(
      cli.handle<ProcessOptions>((call) =>
        runProcess(
          call,
          'simulator/main.js',
          flags({
            port: call.options.port,
            seed: call.options.seed,
            speed: call.options.speed ?? String(SIMULATED_SPEED),
          }),
        ),
      ),
    );
  registerConfiguration(program, cli);
};

/** The processes of configuration. */
const registerConfiguration: Register = (program, cli) => {
  program
    .command('config-service')
    .description('run the configuration service: push type, finder and tailers (docs/guides/configuration.md)')
    .option('--port <n>', 'port (default 4710)')
    .option('--host <address>', HOST_HELP)
    .option('--state <file>', 'the file in which it keeps the state of deploys (default .conveyor/config/service.json)')
    .addHelpText(
      'after',
      examples('conveyor config-service', 'conveyor config-service --state /var/lib/conveyor/config.json'),
    )
    .action(
      cli.handle<ConfigServiceOptions>((call) =>
        runProcess(call, 'server/configService/main.js', [...place(call), ...flags({ state: call.options.state })]),
      ),
    );
  program
    .command('config-proxy')
    .description('run the configuration proxy of this host (docs/guides/config-proxy.md)')
    .requiredOption('--repository <name>', 'the repository that applications of this host read')
    .requiredOption('--cache <dir>', 'the folder for the last values; applications may read it')
    .requiredOption('--etcd <url>', 'the store; for a cluster several URLs, separated by commas')
    .option('--etcd-user <name>', 'the user for its connection to the store (docs/guides/secure.md)')
    .option('--etcd-password-env <variable>', 'the variable with the password of that user')
    .option('--etcd-ca <file>', 'the authority that signed the certificate of the store')
    .option('--etcd-cert <file>', 'its client certificate for the store')
    .option('--etcd-key <file>', 'the key of that certificate')
    .option('--host <name>', 'the name of this host in overrides and acknowledgements (default: its own)')
    .option('--label <key=value>', 'a label of this host, such as region=eu; repeatable', collect, [])
    .option('--port <n>', 'port (default 4700)')
    .option('--peers <host:port>', 'the address at which it serves pieces of packages to other hosts (default: none)')
    .option('--packages-mb <n>', 'the disk space for packages, in megabytes (default 20480)')
    .addHelpText('after', examples(`conveyor config-proxy --repository flags --cache ./cache --etcd ${ETCD}`))
    .action(
      cli.handle<ProxyOptions>((call) => {
        const { host, repository, cache, etcd, label, port, peers, packagesMb } = call.options;
        const labels = label.flatMap((one) => ['--label', one]);
        const { etcdUser, etcdPasswordEnv, etcdCa, etcdCert, etcdKey } = call.options;
        const door = {
          ...{ 'etcd-user': etcdUser, 'etcd-password-env': etcdPasswordEnv },
          ...{ 'etcd-ca': etcdCa, 'etcd-cert': etcdCert, 'etcd-key': etcdKey },
        };
        const given = flags({ host, repository, cache, etcd, ...door, port, peers, 'packages-mb': packagesMb });
        return runProcess(call, 'configerator/proxy/main.js', [...given, ...labels]);
      }),
    );
};

const ETCD = 'http://127.0.0.1:2379';

/** Gathers the values of an option that may be repeated. */
export const collect = (value: string, before: readonly string[]): string[] => [...before, value];

const place = ({ options: { port, host } }: CommandCall<ProcessOptions>): string[] => flags({ port, host });

/** `--name value` for each value that is there. */
export const flags = (values: Readonly<Record<string, string | undefined>>): string[] =>
  Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [`--${name}`, value]));

const toFlag = (name: string, value: string | undefined): Record<string, string> =>
  value === undefined ? {} : { [name]: value };

/** Becomes a program of ours. */
export function runProcess(
  { io, connect }: CommandCall<GlobalOptions>,
  path: string,
  args: readonly string[],
  more: Readonly<Record<string, string>> = {},
): Promise<never> {
  const env = {
    ...more,
    ...(connect.address ? { TEMPORAL_ADDRESS: connect.address } : {}),
    ...(connect.namespace ? { TEMPORAL_NAMESPACE: connect.namespace } : {}),
    ...(connect.taskQueue ? { CONVEYOR_TASK_QUEUE: connect.taskQueue } : {}),
  };
  return io.become({ path: entryPoint(path), args, env });
}
