import { existsSync, rmSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { dirname, join, resolve } from 'node:path';
import { conveyorError } from '../../domain/errors';
import { isGroup } from '../../domain/principals';
import { installRoot } from '../../settings/registry';
import type { Env } from '../../settings/env';
import { createSignInLink } from '../../settings/signInLink';
import { exampleJobs, KVSTORE_JOBS } from '../demo/world';
import { createJobs, SIMULATED_SPEED } from '../simulator';
import { bypassServer, resolveActor } from '../door';
import { EXIT } from '../exit';
import { emit, printNote } from '../output';
import { stackText } from '../stack/stackText';
import { freeAddresses, usualAddresses } from '../stack/addresses';
import { freeConfigStack, makeRepository, usualConfigStack, type ConfigStack } from '../stack/configuration';
import { toReady, writeReady } from '../stack/readyFile';
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

export const devCommand: Register = (program, cli) => {
  program
    .command('dev')
    .description('run the development stack: Temporal, simulator, worker and server, unless they run already')
    .option('--config', 'also run configuration: etcd, a git repository, the service of configuration and a proxy')
    .option('--ports <auto>', 'auto: use free ports, so several stacks can run side by side')
    .option('--ready-file <file>', 'write the addresses to this file, as JSON, once everything answers')
    .option('--seed <n>', 'seed of the simulated world (default 1)')
    .option('--speed <x>', `how many times faster than real time the simulated world runs (default ${SIMULATED_SPEED})`)
    .option('--no-demo-data', 'leave the simulated fleet empty, without the jobs of the examples')
    .addHelpText(
      'after',
      examples(
        'conveyor dev',
        'conveyor dev --config',
        'conveyor dev --speed 600',
        'conveyor dev --ports auto --ready-file stack.json',
      ),
    )
    .action(cli.handle<DevOptions>(runDev));
};

const PROGRAMS_RUN =
  'configuration programs run even if this machine cannot isolate them: config.programs.allowMissing lists all guarantees, for this stack only';

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
  const settings = await toStackSettings(call);
  const { config } = settings;
  if (config && (await makeRepository(config, io.env)))
    printNote(io, `  ✔ made the repository ${config.repository.git}`);
  if (config) printNote(io, `  ✔ ${PROGRAMS_RUN}`);
  const stack = await startStack(io, settings, stop);
  if (stack === undefined) return EXIT.interrupted;
  try {
    await createDemoData(call, stack);
    const ready = toReady(stack);
    const namespace = (call.connect.namespace ?? io.env.TEMPORAL_NAMESPACE) || 'default';
    if (options.readyFile) writeReady(resolve(options.readyFile), ready);
    emit(io, output, ready, {
      text: (view) =>
        stackText(ready, { ...stack, signInLink: newLink(call, stack) }, namespace, bypassServer(io.env), view),
      name: [ready.temporal],
    });
    return await awaitStop(call, stack, stop);
  } finally {
    printNote(io, 'Stopping what was started');
    await stack.stop();
    if (typeof settings.database === 'object')
      rmSync(dirname(settings.database.file), { recursive: true, force: true });
    if (options.readyFile) rmSync(options.readyFile, { force: true });
  }
}

/** A link that signs the user in to the pages; undefined if another stack started the server. */
const newLink = ({ io }: CommandCall<DevOptions>, { signIn, pids, addresses }: Stack): string | undefined =>
  signIn === undefined || isGroup(signIn.principal) || pids().server === undefined
    ? undefined
    : createSignInLink(signIn, addresses.server, io.now());

async function createDemoData({ options }: CommandCall<DevOptions>, { addresses }: Stack): Promise<void> {
  if (options.demoData) await createJobs(addresses.simulator, [...KVSTORE_JOBS, ...exampleJobs()]);
}

async function toStackSettings({
  io,
  options,
  connect,
}: CommandCall<DevOptions>): Promise<Parameters<typeof startStack>[1]> {
  const auto = options.ports === 'auto';
  const logs = join(installRoot(), '.conveyor', 'logs');
  const logFolder = auto ? join(logs, String(process.pid)) : logs;
  return {
    addresses: auto ? await freeAddresses(io.env) : usualAddresses(io.env, connect),
    config: options.config ? await chooseConfigStack(io.env, auto ? join(logFolder, 'config') : null) : undefined,
    logFolder,
    startedBy: formatDevCommand(options),
    signIn: { secret: randomBytes(32).toString('hex'), principal: resolveActor(io, { ...connect, direct: true }) },
    seed: countOption('--seed', options.seed, 1, 0),
    speed: numberOption('--speed', options.speed, SIMULATED_SPEED),
    ...(auto ? locateState(newFolder(join(logFolder, 'temporal'))) : { database: 'usual' }),
  };
}

/** The command as typed, without the ready file. */
const formatDevCommand = ({ config, ports, seed, speed, demoData }: DevOptions): string =>
  [
    'conveyor dev',
    ...(config ? ['--config'] : []),
    ...Object.entries({ ports, seed, speed }).flatMap(([flag, value]) =>
      value === undefined ? [] : [`--${flag} ${value}`],
    ),
    ...(demoData ? [] : ['--no-demo-data']),
  ].join(' ');

/** The state of pipelines, kept in one folder. */
const locateState = (folder: string) => ({
  database: { file: join(folder, 'temporal.db') },
  archive: join(folder, 'archive.duckdb'),
});

/** @param own the folder of a temporary stack */
const chooseConfigStack = (env: Env, own: string | null): Promise<ConfigStack> | ConfigStack =>
  own === null ? usualConfigStack(env) : freeConfigStack(env, newFolder(own));

/** The folder of a temporary stack; files left there by an earlier process with the same id are deleted. */
function newFolder(folder: string): string {
  rmSync(folder, { recursive: true, force: true });
  return folder;
}

async function awaitStop(call: CommandCall<DevOptions>, stack: Stack, stop: AbortSignal): Promise<number> {
  // If everything was already running, nothing else keeps this process alive.
  const alive = setInterval(() => undefined, 60_000);
  const stopped = new Promise<undefined>((resolvePromise) => {
    if (stop.aborted) resolvePromise(undefined);
    stop.addEventListener('abort', () => resolvePromise(undefined), { once: true });
  });
  const death = await Promise.race([stopped, stack.keepUp((name) => reportRestart(call, stack, name))]);
  clearInterval(alive);
  if (death === undefined) return EXIT.ok;
  printNote(call.io, '');
  throw death;
}

/** The simulated world was in the memory of its process, so it starts again from the beginning. */
async function reportRestart(call: CommandCall<DevOptions>, stack: Stack, name: PartName): Promise<void> {
  const { readyFile } = call.options;
  if (name === 'simulator') {
    printNote(call.io, '    its world starts afresh: add your own jobs again with conveyor simulate job');
    await createDemoData(call, stack);
  }
  const link = name === 'server' ? newLink(call, stack) : undefined;
  if (link !== undefined) printNote(call.io, `    links from before are no longer good; sign in at ${link}`);
  // If the file is gone, everything is being stopped.
  if (readyFile && existsSync(readyFile)) writeReady(resolve(readyFile), toReady(stack));
}
