import { conveyorError } from '../../domain/errors';
import { escapeUnsafe } from '../../domain/plainText';
import { findCandidates } from '../completion/candidates';
import { COMPLETION_SCRIPTS } from '../completion/scripts';
import { loadTree, buildTree } from '../completion/tree';
import { filterCandidates, findCompletion, type Candidate, type Completion } from '../completion/completionRequest';
import type { ConnectOptions, Io } from '../io';
import { withClient } from '../door';
import { examples, type Register } from './command';

/** The longest wait after the Tab key. */
const COMPLETION_TIMEOUT_MS = 1500;

export const completionCommand: Register = (program, cli) => {
  program
    .command('completion <shell>')
    .description('print the script with which bash, zsh or fish completes commands, options and ids')
    .addHelpText(
      'after',
      examples(
        'conveyor completion bash >> ~/.bashrc',
        'conveyor completion fish > ~/.config/fish/completions/conveyor.fish',
      ),
    )
    .action(
      cli.handle<object, [string]>(async ({ io }, shell) => {
        io.stdout.write(readScript(shell));
        return 0;
      }),
    );
  program.command('__commands', { hidden: true }).action(
    cli.handle<object, []>(({ io }) => {
      io.stdout.write(JSON.stringify(buildTree(program)));
      return Promise.resolve(0);
    }),
  );
  program.command('__complete [words...]', { hidden: true }).action(
    cli.handle<object, [string[]]>(async ({ io, connect }, words) => {
      const current = words.at(-1) ?? '';
      const wanted = findCompletion(loadTree(program), words);
      if (wanted.kind === 'files') io.stdout.write(':files\n');
      else
        for (const one of filterCandidates(
          await fetchCandidates(io, { ...connect, ...parseConnect(words) }, wanted),
          current,
        ))
          io.stdout.write(`${escapeUnsafe(one.value)}\t${escapeUnsafe(oneLine(one.description))}\n`);
      return 0;
    }),
  );
};

function readScript(shell: string): string {
  const known = Object.entries(COMPLETION_SCRIPTS).find(([name]) => name === shell);
  if (known) return known[1];
  throw conveyorError('usage', {
    text: `there is no completion for ${shell}`,
    hint: `one of ${Object.keys(COMPLETION_SCRIPTS).join(', ')}`,
  });
}

/** The candidates found in time. Without a server there are none, and no error. */
async function fetchCandidates(
  io: Io,
  connect: ConnectOptions,
  wanted: Exclude<Completion, { kind: 'files' }>,
): Promise<readonly Candidate[]> {
  if (wanted.kind === 'words') return wanted.words;
  const { of, pipeline, prefix } = wanted;
  const found: Candidate[] = [];
  const looked = withClient(io, connect, (client) =>
    findCandidates(client, of, pipeline, (some) => found.push(...some)),
  );
  await Promise.race([looked.catch(() => undefined), io.sleep(COMPLETION_TIMEOUT_MS)]);
  return found.map((one) => ({ ...one, value: `${prefix}${one.value}` }));
}

const CONNECTING: Readonly<Record<string, 'server' | 'address' | 'namespace'>> = {
  '--server': 'server',
  '--address': 'address',
  '--namespace': 'namespace',
};

/** The server to which the typed line will go. */
function parseConnect(words: readonly string[]): ConnectOptions {
  return Object.fromEntries(
    words.flatMap((word, at) => {
      const [flag = '', joined] = word.split('=');
      const [key, value] = [CONNECTING[flag], joined ?? words[at + 1]];
      return key === undefined || !value ? [] : [[key, value] as const];
    }),
  );
}

const oneLine = (text: string): string => text.replace(/\s+/g, ' ').slice(0, 100);
