import { Option, type Command } from 'commander';
import { conveyorError } from '../../domain/errors';
import { formatTime } from '../../domain/text';
import { ALL_VERBS, inputRow, verbRow, type CommandInput, type InputName, type Verb } from '../../domain/verbs';
import { overrideOffer, pick, retry } from './actions';
import { examples, type Cli, type Register } from './command';
import { addReason, sendVerb, type OwnWay, type ReasonOption } from './send';
import { momentOption } from './times';

/** The operator's verbs, by their rows in domain/verbs.ts: each is one update, acknowledged with its effect. */
export const verbCommands: Register = (program, cli) => {
  for (const verb of ALL_VERBS) addVerb(program, cli, verb);
};

/** Verbs that first resolve their target or ask the user. */
const OWN_WAYS: Partial<Record<Verb, OwnWay>> = { pick, retry, 'override-offer': overrideOffer };

function addVerb(program: Command, cli: Cli, verb: Verb): void {
  const { operand, help, example, inputs } = verbRow(verb);
  const ownWay = OWN_WAYS[verb];
  const operands = inputs.filter((name) => inputRow(name).operand !== undefined);
  const usage = [verb, operand, ...operands.map((name) => inputRow(name).operand)].join(' ');
  const command = addReason(program.command(usage)).description(help);
  const options = inputs.flatMap((name) => toInputOption(name) ?? []);
  for (const { option } of options) command.addOption(option);
  (ownWay?.options?.(command) ?? command).addHelpText('after', examples(`conveyor ${verb} ${example}`)).action(
    cli.handle<ReasonOption & Record<string, unknown>, string[]>((call, id = '', ...more) => {
      if (ownWay) return ownWay.send(call, id);
      const given = [
        ...options.map(({ name, option }) => [name, call.options[option.attributeName()], option.long ?? ''] as const),
        ...operands.map((name, at) => [name, more[at], ''] as const),
      ];
      const input = given.map(([name, value, flag]) => parseCommandInput(name, value, flag, call.io.now()));
      return sendVerb(call, id, verb, Object.assign({}, ...input) as Partial<CommandInput>);
    }),
  );
}

interface InputOption {
  readonly name: InputName;
  readonly option: Option;
}

function toInputOption(name: InputName): InputOption | undefined {
  const { is, option, help } = inputRow(name);
  if (option === undefined) return undefined;
  const how = is === 'moment' ? ': 2026-12-27T06:00Z, or 2h from now' : '';
  return { name, option: new Option(option, `${help}${how}`) };
}

/** The input from an option or operand; empty if it is left out. */
function parseCommandInput(name: InputName, value: unknown, flag: string, nowMs: number): Partial<CommandInput> {
  const { is } = inputRow(name);
  // `--no-revert` gives false, and its absence true.
  if (is === 'flag') return value === !flag.startsWith('--no-') ? { [name]: true } : {};
  if (typeof value !== 'string') return {};
  if (is === 'moment') return { [name]: formatTime(momentOption(flag, value, nowMs) ?? nowMs) };
  if (is === 'version' && !/^[^@]+@.+$/.test(value))
    throw conveyorError('usage', { text: `${value} is not name@version`, hint: 'write it as executable@kv:13' });
  if (typeof is !== 'string' && !is.includes(value))
    throw conveyorError('usage', {
      text: `${flag} ${value} is not one of ${is.join(', ')}`,
      hint: `${is[0]} is the default`,
    });
  return { [name]: value };
}
