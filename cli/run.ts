import { Command, CommanderError, Option } from 'commander';
import { ConveyorError, conveyorError } from '../domain/errors';
import { COMMAND_GROUPS, fileOfCommand } from './commands';
import { examples, makeCli, type Register } from './commands/command';
import { describeCommand, isTreeWritten, loadTree } from './completion/tree';
import type { Io } from './io';
import { colorFor, emitError, OUTPUT_FORMATS } from './output';
import { asTyped } from './typedCommand';
import { guardIo } from './screen';

/** Runs one command line, from its arguments to its exit code. Never throws, and never prints a stack trace to people. */
export async function runCli(argv: readonly string[], world: Io): Promise<number> {
  const io = guardIo(world);
  let code = 0;
  try {
    const words = argv[0] === 'help' ? [...argv.slice(1), '--help'] : [...argv];
    const program = buildProgram(io, await groupsFor(words), (finished) => (code = finished));
    if (words.length === 0) program.outputHelp();
    else await program.parseAsync(helpOnlyForKnown(program, words), { from: 'user' });
    return code;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return 0;
    if (io.env.CONVEYOR_DEBUG && error instanceof Error) io.stderr.write(`${error.stack ?? error.message}\n`);
    return emitError(io, toConveyorError(error), findFormat(argv), argv.includes('--no-color') ? false : undefined);
  }
}

/** Removes the help flag for an unknown command: commander would show the program's help and exit with 0. */
function helpOnlyForKnown(program: Command, words: readonly string[]): readonly string[] {
  let of = program;
  for (const word of program.parseOptions([...words]).operands) {
    if (of.commands.length === 0) break;
    const named = of.commands.find((command) => command.name() === word);
    if (!named) return words.filter((flag) => flag !== '--help' && flag !== '-h');
    of = named;
  }
  return words;
}

interface CommandGroup {
  readonly heading: string;
  readonly commands: readonly Register[];
}

/** The command that the line begins with; for the help, and for unknown commands, the names of all; else all commands. */
async function groupsFor(words: readonly string[]): Promise<readonly CommandGroup[]> {
  const [first = '--help'] = words;
  if (first === '-V' || first === '--version') return [];
  const named = fileOfCommand(first);
  // Completion describes all commands, which it reads from the tree if the build has written one.
  if (named !== undefined && (!first.startsWith('__') || isTreeWritten()))
    return [{ heading: 'Commands:', commands: [await named.load()] }];
  const needsNamesOnly = isHelp(first) || !/^[-_]/.test(first);
  if (needsNamesOnly && isTreeWritten() && !words.some(fileOfCommand)) return describeCommandGroups();
  return allGroups();
}

/** One file after the other: a loader that compiles them meanwhile (jiti) gives half a module to a second import of it. */
async function allGroups(): Promise<readonly CommandGroup[]> {
  const groups: CommandGroup[] = [];
  for (const { heading, files } of COMMAND_GROUPS) {
    const commands: Register[] = [];
    for (const { load } of files) commands.push(await load());
    groups.push({ heading, commands });
  }
  return groups;
}

const isHelp = (word: string): boolean => word === '--help' || word === '-h';

/** All groups from the tree that the build has written: names, operands and descriptions. */
function describeCommandGroups(): readonly CommandGroup[] {
  const { commands } = loadTree(new Command());
  return COMMAND_GROUPS.map(({ heading, files }) => {
    const names = files.flatMap((file) => file.names);
    return { heading, commands: commands.filter(({ name }) => names.includes(name)).map(describeCommand) };
  });
}

function buildProgram(io: Io, groups: readonly CommandGroup[], finish: (code: number) => void): Command {
  const program = new Command('conveyor')
    .description(
      'Deploys services, daemons, models and configuration through pipelines, in phases, and reverts by itself',
    )
    .version('0.3.0', '-V, --version')
    .addOption(new Option('-o, --output <format>', OUTPUT_FORMATS.join(' | ')).default('table'))
    .option('--no-color', 'no colours (also NO_COLOR)')
    .option('--server <url>', 'use this server (CONVEYOR_SERVER, else the one of conveyor login)')
    .option('--insecure', 'allow unencrypted connections to other machines')
    .option('--break-glass <reason>', 'bypass the server and command Temporal directly (CONVEYOR_BREAK_GLASS)')
    .option('--address <host:port>', 'Temporal server (TEMPORAL_ADDRESS, else localhost:7233)')
    .option('--namespace <name>', 'Temporal namespace (TEMPORAL_NAMESPACE, else default)')
    .option('--task-queue <name>', 'task queue of the workers (CONVEYOR_TASK_QUEUE, else conveyor)')
    .configureHelp({ showGlobalOptions: true, subcommandTerm: formatTerm })
    .helpCommand(false)
    .addHelpText('after', examples(...FIRST_STEPS) + ENDING);
  quietly(program, io);
  const cli = makeCli(io, finish);
  for (const { heading, commands } of groups) {
    program.commandsGroup(heading);
    for (const register of commands) register(program, cli);
  }
  for (const command of program.commands) quietly(command, io);
  return program;
}

/** `release <pipeline>`: leaves out `[options]`, which every command has. */
function formatTerm(command: Command): string {
  const operands = command.registeredArguments.map((argument) => {
    const name = `${argument.name()}${argument.variadic ? '…' : ''}`;
    return argument.required ? `<${name}>` : `[${name}]`;
  });
  return [command.name(), ...operands].join(' ');
}

const FIRST_STEPS = [
  'conveyor demo                         a whole stack, a good and a bad version, in a minute',
  'conveyor init kvstore                 a first pipeline.yaml',
  'conveyor lint pipeline.yaml && conveyor apply pipeline.yaml',
  'conveyor release kvstore --artifact source=12 --wait',
  'conveyor watch kvstore/1',
];

const ENDING = `

Ids: pipeline kvstore, release kvstore/12, deploy kvstore/12/deploy.
Exit codes: 0 ok, 1 error, 2 usage or invalid input, 3 ended not succeeded, 4 not found or not permitted,
  5 --timeout expired (it continues), 130 Ctrl-C (it continues).`;

/** Makes commander throw instead of exiting and print no errors, which we word ourselves. */
function quietly(command: Command, io: Io): void {
  command.exitOverride().configureOutput({
    writeOut: (text) => io.stdout.write(asTyped(text, io.env)),
    writeErr: (text) => io.stderr.write(text),
    outputError: () => undefined,
    getOutHelpWidth: () => Math.min(io.stdout.columns, 120),
    getOutHasColors: () => colorFor(io, io.stdout.isTTY, undefined),
  });
}

function toConveyorError(error: unknown): ConveyorError {
  if (error instanceof ConveyorError) return error;
  if (error instanceof CommanderError) return toUsageError(error);
  return conveyorError('internal', { detail: error instanceof Error ? error.message : String(error) });
}

/** `error: unknown command 'relase'\n(Did you mean release?)` in our own form. */
function toUsageError(error: CommanderError): ConveyorError {
  if (error.code === 'commander.help')
    return conveyorError('usage', { text: 'an argument is missing after it', hint: 'one of the commands above' });
  const [first = '', suggestion] = error.message.replace(/^error: /, '').split('\n');
  const meant = /Did you mean (.*)\?/.exec(suggestion ?? '')?.[1];
  const hint = meant
    ? `did you mean ${meant}?`
    : 'conveyor --help lists the commands, conveyor COMMAND --help its options';
  return conveyorError('usage', { text: first.replace(/'/g, ''), hint });
}

/** The output format, even if the arguments could not be parsed as a whole. */
function findFormat(argv: readonly string[]): string | undefined {
  for (const [at, word] of argv.entries()) {
    if (word === '-o' || word === '--output') return argv[at + 1];
    const joined = /^(?:--output=|-o=?)(\w+)$/.exec(word)?.[1];
    if (joined) return joined;
  }
  return undefined;
}
