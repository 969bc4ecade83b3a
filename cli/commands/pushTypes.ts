import { examples, type GlobalOptions, type Register } from './command';
import { flags, HOST_HELP, runProcess } from './processes';

/** The push types that are shipped, each as a process. */

interface ShippedPushType {
  readonly name: string;
  /** The folder of its program below `push-types/`. */
  readonly folder: string;
  readonly description: string;
  /** The file that it cannot do without: its flag and its help. */
  readonly file: readonly [flag: string, help: string];
  readonly options: readonly (readonly [flag: string, value: string, help: string])[];
}

const SHIPPED: readonly ShippedPushType[] = [
  {
    name: 'hosts',
    folder: 'hosts',
    description: 'run the push type for hosts over SSH, with systemd (docs/guides/hosts.md)',
    file: ['inventory', 'the hosts and the settings (docs/reference/hosts.md)'],
    options: [
      ['port', '<n>', 'port (default 4640)'],
      ['host', '<address>', HOST_HELP],
      ['home', '<dir>', 'the folder of its state and packages (default .conveyor/hosts)'],
      ['prometheus', '<url>', 'the Prometheus by which it judges health (default: only the crashes that it saw)'],
    ],
  },
  {
    name: 'slowroll',
    folder: 'slowroll/server',
    description: 'run the push type for hosts that poll, and their manifest server (docs/guides/slowroll.md)',
    file: ['settings', 'the packages and regions (docs/reference/slowroll.md)'],
    options: [
      ['port', '<n>', 'port for Conveyor and Prometheus (default 4650)'],
      ['host', '<address>', HOST_HELP],
      ['hosts-port', '<n>', 'port for hosts (default 4651)'],
      ['hosts-address', '<address>', 'the address that hosts reach (default 127.0.0.1)'],
      ['home', '<dir>', 'the folder of its decisions and hosts (default .conveyor/slowroll)'],
      ['prometheus', '<url>', 'the Prometheus by which it judges health (default: only the reports of hosts)'],
    ],
  },
  {
    name: 'kubernetes',
    folder: 'kubernetes',
    description: 'run the push type for Kubernetes: exact pods, in place (docs/guides/kubernetes.md)',
    file: ['clusters', 'the clusters and the settings (docs/reference/kubernetes.md)'],
    options: [
      ['port', '<n>', 'port (default 4660)'],
      ['host', '<address>', HOST_HELP],
      ['home', '<dir>', 'the folder of its state (default .conveyor/kubernetes)'],
      ['prometheus', '<url>', 'the Prometheus by which it judges health (default: only the restarts that it saw)'],
    ],
  },
  {
    name: 'git-commit',
    folder: 'git-commit',
    description: 'run the push type for deploys by commits that Argo CD or Flux applies (docs/guides/gitops.md)',
    file: ['settings', 'the repositories and environments (docs/reference/git-commit.md)'],
    options: [
      ['port', '<n>', 'port (default 4670)'],
      ['host', '<address>', HOST_HELP],
      ['home', '<dir>', 'the folder of its state and of copies of repositories (default .conveyor/git-commit)'],
      ['prometheus', '<url>', 'the Prometheus by which it judges health (default: it measures nothing)'],
    ],
  },
];

type PushTypeOptions = GlobalOptions & Readonly<Record<string, string | undefined>>;

export const pushTypeCommand: Register = (program, cli) => {
  const pushTypes = program.command('push-type').description('run a push type that is shipped');
  for (const { name, folder, description, file, options } of SHIPPED) {
    const [fileFlag, fileHelp] = file;
    const command = pushTypes.command(name).description(description).requiredOption(`--${fileFlag} <file>`, fileHelp);
    for (const [flag, value, help] of options) command.option(`--${flag} ${value}`, help);
    command.addHelpText('after', examples(`conveyor push-type ${name} --${fileFlag} ${name}.yaml`)).action(
      cli.handle<PushTypeOptions>((call) => {
        const given = [fileFlag, ...options.map(([flag]) => flag)].map((flag) => [flag, call.options[camel(flag)]]);
        return runProcess(call, `push-types/${folder}/main.js`, flags(Object.fromEntries(given)));
      }),
    );
  }
};

/** The name under which commander keeps the value of a flag. */
const camel = (flag: string): string => flag.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
