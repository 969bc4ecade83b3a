import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { listPage } from '../../client/webUi';
import { conveyorError } from '../../domain/errors';
import { installRoot } from '../../platform/registry';
import { exampleJobs, KVSTORE_JOBS } from '../demo/world';
import { createJobs, SIMULATED_SPEED } from '../simulator';
import { pastServer } from '../door';
import { EXIT } from '../exit';
import type { Env } from '../../platform/env';
import { emit, printNote } from '../output';
import { alignRows, paint, type View } from '../render/paint';
import { stackEnvironment, freeAddresses, usualAddresses } from '../stack/addresses';
import { freeConfigStack, makeRepository, usualConfigStack, type ConfigStack } from '../stack/configuration';
import { startStack, type Stack } from '../stack/stack';
import type { PartName } from '../stack/parts';
import { countOption, numberOption, examples, type CommandCall, type GlobalOptions, type Register } from './command';

interface DevOptions extends GlobalOptions {
  readonly config?: boolean;
  readonly ports?: string;
  readonly readyFile?: string;
  readonly seed?: string;
  readonly speed?: string;
  readonly demoData: boolean;
}

/** The ready file (docs/cli.md#the-development-stack). */
interface Ready {
  readonly temporal: string;
  readonly webUi: string;
  readonly simulator: string;
  readonly server: string;
  readonly taskQueue: string;
  /** With `--config` alone. */
  readonly etcd?: string;
  readonly configService?: string;
  readonly configProxy?: string;
  readonly configRepository?: string;
  /** Of what `dev` started. */
  readonly pids: Readonly<Partial<Record<PartName, number>>>;
}

export const devCommand: Register = (program, cli) => {
  program
    .command('dev')
    .description('run the development stack: Temporal, simulator, worker and server, as far as they do not run yet')
    .option('--config', 'with configuration as well: etcd, a git repository, the service of configuration and a proxy')
    .option('--ports <auto>', 'auto: free ports for everything, so that stacks can run beside each other')
    .option('--ready-file <file>', 'write the addresses there, as JSON, once everything answers')
    .option('--seed <n>', 'seed of the simulated world (default 1)')
    .option('--speed <x>', `how many times faster than real the simulated world runs (default ${SIMULATED_SPEED})`)
    .option('--no-demo-data', 'leave the simulated fleet empty, without the jobs of the examples')
    .addHelpText(
      'after',
      examples(
        'conveyor dev',
        'conveyor dev --config',
        'conveyor dev --speed 600',
        'conveyor dev --ports auto --ready-file /tmp/stack.json',
      ),
    )
    .action(cli.handle<DevOptions>(runDev));
};

async function runDev(call: CommandCall<DevOptions>): Promise<number> {
  const { io, output, options } = call;
  if (options.ports !== undefined && options.ports !== 'auto')
    throw conveyorError('usage', {
      text: `--ports ${options.ports} is unknown`,
      hint: 'auto is the only choice; single ports come from the environment',
    });
  const stop = io.interrupted();
  if (options.readyFile) rmSync(options.readyFile, { force: true });
  printNote(io, 'Starting the development stack');
  const settings = await settingsOf(call);
  const { config } = settings;
  if (config && makeRepository(config, io.env)) printNote(io, `  ✔ made the repository ${config.repository.git}`);
  const stack = await startStack(io, settings, stop);
  if (stack === undefined) return EXIT.interrupted;
  try {
    await createDemoData(call, stack);
    const ready = readyOf(stack);
    const namespace = (call.connect.namespace ?? io.env.TEMPORAL_NAMESPACE) || 'default';
    if (options.readyFile) writeWhole(resolve(options.readyFile), ready);
    emit(io, output, ready, {
      text: (view) => renderReady(ready, stack, namespace, pastServer(io.env), view),
      name: [ready.temporal],
    });
    return await untilStopped(call, stack, stop);
  } finally {
    printNote(io, 'Stopping what was started');
    await stack.stop();
    if (typeof settings.database === 'object')
      rmSync(dirname(settings.database.file), { recursive: true, force: true });
    if (options.readyFile) rmSync(options.readyFile, { force: true });
  }
}

async function createDemoData({ options }: CommandCall<DevOptions>, { addresses }: Stack): Promise<void> {
  if (options.demoData) await createJobs(addresses.simulator, [...KVSTORE_JOBS, ...exampleJobs()]);
}

const readyOf = ({ addresses, config, pids }: Stack): Ready => ({
  ...addresses,
  ...(config && configReady(config)),
  pids: pids(),
});

const configReady = ({ repository, service, proxy }: ConfigStack) => ({
  ...{ etcd: repository.etcd, configService: service, configProxy: proxy, configRepository: repository.git },
});

async function settingsOf({
  io,
  options,
  connect,
}: CommandCall<DevOptions>): Promise<Parameters<typeof startStack>[1]> {
  const auto = options.ports === 'auto';
  const logs = join(installRoot(), '.conveyor', 'logs');
  const logFolder = auto ? join(logs, String(process.pid)) : logs;
  return {
    addresses: auto ? await freeAddresses(io.env) : usualAddresses(io.env, connect),
    config: options.config ? await configOf(io.env, auto ? join(logFolder, 'config') : null) : undefined,
    logFolder,
    seed: countOption('--seed', options.seed, 1, 0),
    speed: numberOption('--speed', options.speed, SIMULATED_SPEED),
    database: auto ? { file: join(newFolder(join(logFolder, 'temporal')), 'temporal.db') } : 'usual',
  };
}

/** @param own the folder of a stack that keeps nothing */
const configOf = (env: Env, own: string | null): Promise<ConfigStack> | ConfigStack =>
  own === null ? usualConfigStack(env) : freeConfigStack(env, newFolder(own));

/** The folder of a stack that keeps nothing; what a process of the same id has left there goes. */
function newFolder(folder: string): string {
  rmSync(folder, { recursive: true, force: true });
  return folder;
}

async function untilStopped(call: CommandCall<DevOptions>, stack: Stack, stop: AbortSignal): Promise<number> {
  // Everything may have been there already; then nothing else keeps this process alive.
  const alive = setInterval(() => undefined, 60_000);
  const stopped = new Promise<undefined>((resolvePromise) => {
    if (stop.aborted) resolvePromise(undefined);
    stop.addEventListener('abort', () => resolvePromise(undefined), { once: true });
  });
  const death = await Promise.race([stopped, stack.keepUp((name) => startedAgain(call, stack, name))]);
  clearInterval(alive);
  if (death === undefined) return EXIT.ok;
  printNote(call.io, '');
  throw death;
}

/** The simulated world was in the memory of its process, so that it begins anew. */
async function startedAgain(call: CommandCall<DevOptions>, stack: Stack, name: PartName): Promise<void> {
  const { readyFile } = call.options;
  if (name === 'simulator') {
    printNote(call.io, '    its world begins anew: conveyor simulate job adds again what you had added');
    await createDemoData(call, stack);
  }
  // Where it is gone, everything is being stopped.
  if (readyFile && existsSync(readyFile)) writeWhole(resolve(readyFile), readyOf(stack));
}

/** Nobody ever reads half a file. */
function writeWhole(file: string, ready: Ready): void {
  writeFileSync(`${file}.part`, `${JSON.stringify(ready, null, 2)}\n`);
  renameSync(`${file}.part`, file);
}

function renderReady(
  ready: Ready,
  stack: Stack,
  namespace: string,
  more: Readonly<Record<string, string>>,
  view: View,
): string {
  const colors = paint(view.color);
  const rows = [
    ['Temporal', ready.temporal],
    ['Web UI', colors.underline(listPage(ready.webUi, namespace))],
    ['Simulator', ready.simulator],
    ['Server', ready.server],
    ['Task queue', ready.taskQueue],
    ...(stack.config ? configRows(stack.config) : []),
    ['Logs', stack.logFolder],
  ].map(([name = '', value = '']) => [`  ${colors.bold(name)}`, value]);
  // At addresses of their own the next commands find nothing by themselves.
  const isElsewhere = stack.addresses.temporal !== usualAddresses({}, {}).temporal;
  const environment = Object.entries({
    ...(isElsewhere ? { ...stackEnvironment(stack.addresses), ...stack.config?.env } : {}),
    ...more,
  });
  const next = [
    ...(environment.length > 0 ? [`export ${environment.map(([name, value]) => `${name}=${value}`).join(' ')}`] : []),
    ...(stack.config ? configCommands(stack.config) : KVSTORE_COMMANDS),
    'conveyor list releases',
  ];
  return [
    '',
    ...alignRows(rows),
    '',
    `${colors.bold('Next')}, in another terminal (Ctrl-C here stops everything)`,
    ...next.map((line) => `  ${colors.cyan(line)}`),
  ].join('\n');
}

const KVSTORE_COMMANDS = [
  'conveyor apply examples/kvstore/pipeline.yaml',
  'conveyor release kvstore --artifact source=12 --wait',
];

const configRows = ({ repository, service, proxy }: ConfigStack): [string, string][] => [
  ['Repository', `${repository.name}: ${repository.git}`],
  ['etcd', repository.etcd],
  ['Config service', service],
  ['Config proxy', proxy],
];

/** From the first limit to what a host reads. */
const configCommands = ({ repository: { name }, proxy }: ConfigStack): string[] => [
  'conveyor apply examples/config/pipeline.yaml',
  `conveyor config propose examples/config/flags --repository ${name} -m 'Limit feeds'`,
  'conveyor status feed-limits',
  `curl -s ${proxy}/v1/config/feed/limits`,
];
