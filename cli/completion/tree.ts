import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command, Option } from 'commander';

/** The commands and options that can be typed, as plain data. */
export interface CommandTree {
  /** Options of all commands. */
  readonly options: readonly OptionNode[];
  readonly commands: readonly CommandNode[];
}

export interface CommandNode {
  readonly name: string;
  readonly description: string;
  readonly options: readonly OptionNode[];
  /** Named as in the help: `pipeline`, `id`, `release/action`, … */
  readonly operands: readonly Operand[];
  /** Its subcommands, such as `statistics` of `health`. */
  readonly commands: readonly CommandNode[];
}

interface Operand {
  readonly name: string;
  readonly variadic: boolean;
  readonly required: boolean;
}

export interface OptionNode {
  readonly long: string;
  readonly short: string | null;
  readonly description: string;
  readonly takesValue: boolean;
  readonly repeats: boolean;
}

/** Reads the tree from the program itself, so that it always matches the commands. */
export function buildTree(program: Command): CommandTree {
  return {
    options: optionNodes(program),
    commands: listCommandNodes(program),
  };
}

/** Written by the build, so that completion and the help need not load all commands. */
const WRITTEN = join(__dirname, 'tree.json');

export const isTreeWritten = (): boolean => existsSync(WRITTEN);

/** The tree from the build; without a build, read from the program, which then has all commands loaded. */
export const loadTree = (program: Command): CommandTree =>
  isTreeWritten() ? (JSON.parse(readFileSync(WRITTEN, 'utf8')) as CommandTree) : buildTree(program);

/** Adds a command that can only be listed. */
export const describeCommand =
  ({ name, description, operands }: CommandNode) =>
  (program: Command): void => {
    const command = program.command(name).description(description);
    for (const { name: operand, variadic, required } of operands) {
      const word = `${operand}${variadic ? '...' : ''}`;
      command.argument(required ? `<${word}>` : `[${word}]`);
    }
  };

const listCommandNodes = ({ commands }: Command): CommandNode[] =>
  commands
    .filter((command) => !command.name().startsWith('__'))
    .map((command) => ({
      name: command.name(),
      description: command.description(),
      options: optionNodes(command),
      operands: command.registeredArguments.map((operand) => ({
        ...{ name: operand.name(), variadic: operand.variadic, required: operand.required },
      })),
      commands: listCommandNodes(command),
    }));

const optionNodes = (command: Command): OptionNode[] => [
  ...command.options.filter(({ hidden }) => !hidden).map(toOptionNode),
  { long: '--help', short: '-h', description: 'what it does, with examples', takesValue: false, repeats: false },
];

const toOptionNode = (option: Option): OptionNode => ({
  long: option.long ?? option.flags,
  short: option.short ?? null,
  description: option.description,
  takesValue: option.required || option.optional,
  // An option whose default is a list may be repeated.
  repeats: Array.isArray(option.defaultValue),
});
