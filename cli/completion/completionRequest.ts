import { OUTPUT_FORMATS } from '../output';
import { OPERATIONS } from '../../domain/access/operations';
import { STATES } from '../states';
import type { CommandNode, CommandTree, OptionNode } from './tree';

export interface Candidate {
  readonly value: string;
  readonly description: string;
}

/** Candidates that only a server knows; `pipeline` is the one typed before. */
export type CandidateKind =
  | 'pipelines'
  /** Pipelines, and running releases and deploys. */
  | 'ids'
  /** Running releases and deploys. */
  | 'running'
  | 'deploys'
  /** Actions that wait for a person. */
  | 'picks'
  /** Actions that run or have run in a running release. */
  | 'begun'
  /** Releases that ended and did not succeed. */
  | 'unsuccessful'
  /** Failed actions of a running release. */
  | 'failures'
  /** Inputs of the pipeline, as `source=`. */
  | 'inputs'
  /** Deploy actions of the pipeline. */
  | 'deploy-actions'
  /** Known-bad artifacts of the pipeline. */
  | 'known-bad';

/** The completions at the cursor. */
export type Completion =
  | { readonly kind: 'words'; readonly words: readonly Candidate[] }
  | { readonly kind: 'files' }
  | { readonly kind: 'known'; readonly of: CandidateKind; readonly pipeline: string; readonly prefix: string };

const OPERANDS: Readonly<Record<string, CandidateKind | 'files' | readonly string[]>> = {
  pipeline: 'pipelines',
  id: 'running',
  deploy: 'deploys',
  action: 'deploy-actions',
  'name@version': 'known-bad',
  file: 'files',
  files: 'files',
  kind: ['pipelines', 'releases', 'deploys', 'finders'],
  shell: ['bash', 'zsh', 'fish'],
  verb: Object.keys(OPERATIONS),
  what: 'ids',
};

/** Operands whose name alone does not determine their candidates. */
const OPERANDS_OF: Readonly<Record<string, CandidateKind>> = {
  status: 'ids',
  watch: 'ids',
  pick: 'picks',
  retry: 'failures',
  logs: 'begun',
  rerun: 'unsuccessful',
};

const VALUES_OF_OPTIONS: Readonly<Record<string, CandidateKind | 'files' | readonly string[]>> = {
  '--output': OUTPUT_FORMATS,
  '--pipeline': 'pipelines',
  '--artifact': 'inputs',
  '--for': ['phase', 'deploy'],
  '--ports': ['auto'],
  '--file': 'files',
  '--units': 'files',
  '--ready-file': 'files',
  '--html': 'files',
  '--excerpts': 'files',
};

/** Options whose name has another meaning in other commands. */
const VALUES_IN_COMMAND: Readonly<Record<string, Readonly<Record<string, CandidateKind>>>> = {
  list: { '--to': 'pipelines' },
};

/** Values that an option accepts only in one command. */
const MORE_VALUES: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  stats: { '--output': ['html'] },
};

/** `release` and `releases` are the same. */
const listStates = (kind: string = ''): readonly string[] =>
  Object.entries(STATES).find(([name]) => name === kind || name === `${kind}s`)?.[1] ?? [];

const NO_COMPLETION: Completion = { kind: 'words', words: [] };

/** The completions for the last word, which is still being typed, after the words before it. */
export function findCompletion(tree: CommandTree, words: readonly string[]): Completion {
  const current = words.at(-1) ?? '';
  const { command, operands, open, used } = parseTypedWords(tree, words.slice(0, -1));
  const options = [...(command?.options ?? []), ...tree.options];
  if (open !== undefined) return optionValue(open, command, operands, '');
  const joined = /^(--[a-z-]+)=/.exec(current);
  if (joined) {
    const option = options.find(({ long, takesValue }) => takesValue && long === joined[1]);
    return option === undefined ? NO_COMPLETION : optionValue(option, command, operands, joined[0]);
  }
  if (current.startsWith('-')) return optionWords(options, used);
  const { commands } = command ?? tree;
  if (command === undefined || commands.length > 0)
    return operands.length > 0
      ? NO_COMPLETION
      : { kind: 'words', words: commands.map(({ name, description }) => ({ value: name, description })) };
  return findOperand(command, operands) ?? optionWords(options, used);
}

/** Only candidates that begin with the typed part of the word, each once. */
export const filterCandidates = (candidates: readonly Candidate[], current: string): Candidate[] =>
  candidates.filter(
    ({ value }, at) => value.startsWith(current) && candidates.findIndex((one) => one.value === value) === at,
  );

interface TypedWords {
  readonly command: CommandNode | undefined;
  readonly operands: readonly string[];
  /** An option that waits for its value. */
  readonly open: OptionNode | undefined;
  readonly used: ReadonlySet<string>;
}

function parseTypedWords(tree: CommandTree, words: readonly string[]): TypedWords {
  let command: CommandNode | undefined;
  let open: OptionNode | undefined;
  const operands: string[] = [];
  const used = new Set<string>();
  for (const word of words) {
    if (open !== undefined) open = undefined;
    else if (word.startsWith('-')) {
      const option = [...(command?.options ?? []), ...tree.options].find(
        ({ long, short }) => long === word.split('=')[0] || short === word,
      );
      if (option !== undefined) used.add(option.long);
      if (option?.takesValue && !word.includes('=')) open = option;
    } else if (operands.length === 0 && (command ?? tree).commands.length > 0) {
      const next = (command ?? tree).commands.find(({ name }) => name === word);
      if (next !== undefined) command = next;
      else if (command !== undefined || word !== 'help') operands.push(word);
    } else if (command !== undefined) operands.push(word);
  }
  return { command, operands, open, used };
}

const optionWords = (options: readonly OptionNode[], used: ReadonlySet<string>): Completion => ({
  kind: 'words',
  words: options
    .filter(({ long, repeats }) => repeats || !used.has(long))
    .map(({ long, description }) => ({ value: long, description })),
});

function optionValue(
  { long }: OptionNode,
  command: CommandNode | undefined,
  operands: readonly string[],
  prefix: string,
): Completion {
  const own = VALUES_IN_COMMAND[command?.name ?? '']?.[long];
  const values = own ?? (long === '--state' ? listStates(operands[0]) : VALUES_OF_OPTIONS[long]);
  const more = MORE_VALUES[command?.name ?? '']?.[long] ?? [];
  if (values === undefined) return NO_COMPLETION;
  return toCompletion(Array.isArray(values) ? [...values, ...more] : values, operands[0] ?? '', prefix);
}

/** The next operand after these; undefined if the command takes no more. */
function findOperand({ name, operands }: CommandNode, given: readonly string[]): Completion | undefined {
  const last = operands.at(-1);
  const operand = operands[given.length] ?? (last?.variadic ? last : undefined);
  if (operand === undefined) return undefined;
  const values = OPERANDS_OF[name] ?? OPERANDS[operand.name];
  return values === undefined ? NO_COMPLETION : toCompletion(values, given[0] ?? '', '');
}

function toCompletion(
  values: CandidateKind | 'files' | readonly string[],
  pipeline: string,
  prefix: string,
): Completion {
  if (values === 'files') return { kind: 'files' };
  if (typeof values === 'string') return { kind: 'known', of: values, pipeline, prefix };
  return { kind: 'words', words: values.map((value) => ({ value: `${prefix}${value}`, description: '' })) };
}
