import { Command } from 'commander';
import { COMMAND_GROUPS, fileOfCommand } from '../../cli/commands';
import { makeCli, type Register } from '../../cli/commands/command';
import type { Io } from '../../cli/io';
import { buildTree, describeCommand } from '../../cli/completion/tree';

const namesOf = ({ commands }: Command): string[] => commands.map((command) => command.name());

function programOf(...registers: readonly (Register | ((program: Command) => void))[]): Command {
  const program = new Command('conveyor').helpCommand(false);
  const cli = makeCli({ env: {} } as Io, () => undefined);
  for (const register of registers) register(program, cli);
  return program;
}

const files = COMMAND_GROUPS.flatMap((group) => group.files);

test.each(files.map((file) => [file.names.join(', '), file] as const))(
  'one file registers %s, and no other command that people see',
  async (_names, { names, load }) => {
    const registered = namesOf(programOf(await load())).filter((name) => name !== '__commands');
    expect(registered.sort()).toEqual([...names].sort());
    expect(names.map((name) => fileOfCommand(name)?.names)).toEqual(names.map(() => names));
  },
);

test('the help that the build has written lists each command as the command itself does', async () => {
  const program = programOf(...(await Promise.all(files.map(({ load }) => load()))));
  const listed = (of: Command) => {
    const help = of.createHelp();
    return help.visibleCommands(of).map((one) => [help.subcommandTerm(one), help.subcommandDescription(one)]);
  };
  const described = programOf(...buildTree(program).commands.map(describeCommand));
  // The options of a command are not in the list.
  const whole = listed(program).map(([term, words]) => [term?.replace(' [options]', ''), words]);
  expect(listed(described)).toEqual(whole);
  expect(whole.length).toBeGreaterThan(40);
});
