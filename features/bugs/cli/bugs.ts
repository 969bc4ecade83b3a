import { conveyorError } from '../../../domain/errors';
import { reportOfAdvisory, requireBug, type BugReport } from '../domain/bug';
import { parseAdvisory } from '../sdk/advisory';
import { bugTable, bugText } from '../render/bugs';
import { resolveActor, withClient } from '../../../cli/door';
import { requireReason } from '../../../cli/io';
import { emit } from '../../../cli/output';
import { readText } from '../../../cli/textFile';
import { examples, type Register } from '../../../cli/commands/command';
import { addReason, type ReasonOption } from '../../../cli/commands/send';

interface ReportOptions extends ReasonOption {
  readonly target?: string;
  readonly from?: string;
  readonly to?: string;
  readonly advisory?: string;
}

const reportCommand: Register = (group, cli) => {
  addReason(group.command('report'))
    .description('report a bug: releases that contain it end, and nothing that contains it deploys')
    .option('--target <name>', 'the target with the bug, as the dependency graph names it')
    .option('--from <revision>', 'the first revision that has it')
    .option('--to <revision>', 'the first fixed revision, if known')
    .option('--advisory <file>', 'instead of these three: an advisory in the OSV format, compared with SBOMs')
    .addHelpText(
      'after',
      examples(
        'conveyor bugs report --target //lib:rpc --from 12 --reason "it loses replies"',
        'conveyor bugs report --target //lib:rpc --from 12 --to 15 --reason "it loses replies"',
        'conveyor bugs report --advisory GHSA-67mh-4wv8-2f99.json --reason "it opens the network"',
      ),
    )
    .action(
      cli.handle<ReportOptions>(async ({ io, output, connect, options }) => {
        const toReport = readReport(options);
        const actor = resolveActor(io, connect);
        const reason = await requireReason(io, 'bugs report', options.reason);
        return withClient(io, connect, async (client) => {
          const bug = await client.reportBug(toReport(reason), actor);
          emit(io, output, bug, { text: (view, shown) => bugText(shown, view), name: [bug.id] });
          return 0;
        });
      }),
    );
};

/** The report without its reason. @throws ConveyorError `usage`, `file-unreadable`, or `advisory-invalid` */
function readReport({ target, from, to, advisory: file }: ReportOptions): (reason: string) => BugReport {
  const hint = 'conveyor bugs report --help has examples';
  if (file !== undefined) {
    if ([target, from, to].some((option) => option !== undefined))
      throw conveyorError('usage', {
        text: '--advisory cannot be combined with --target, --from and --to',
        hint,
      });
    const advisory = parseAdvisory(readText(file), file);
    return (reason) => reportOfAdvisory(advisory, reason);
  }
  if (target === undefined || from === undefined)
    throw conveyorError('usage', { text: 'a report has --target and --from, or --advisory', hint });
  return (reason) => ({ target, from, to: to ?? null, reason });
}

const closeCommand: Register = (group, cli) => {
  addReason(group.command('close <bug>'))
    .description('close a bug: fixed with --to, a mistake without')
    .option('--to <revision>', 'the first fixed revision; older ones stay refused')
    .addHelpText(
      'after',
      examples(
        'conveyor bugs close bug/7 --to 15 --reason "fixed"',
        'conveyor bugs close bug/7 --reason "it was the test"',
      ),
    )
    .action(
      cli.handle<ReasonOption & { readonly to?: string }, [string]>(async (call, id) => {
        const { io, output, connect, options } = call;
        requireBug(id);
        const actor = resolveActor(io, connect);
        const reason = await requireReason(io, 'bugs close', options.reason);
        return withClient(io, connect, async (client) => {
          const bug = await client.closeBug({ id, to: options.to ?? null, reason }, actor);
          emit(io, output, bug, { text: (view, shown) => bugText(shown, view), name: [bug.id] });
          return 0;
        });
      }),
    );
};

const listCommand: Register = (group, cli) => {
  group
    .command('list')
    .description('reported bugs, newest first')
    .addHelpText('after', examples('conveyor bugs list', 'conveyor bugs list -o json'))
    .action(
      cli.handle(({ io, output, connect }) =>
        withClient(io, connect, async (client) => {
          const bugs = await client.listBugs();
          emit(io, output, bugs, {
            text: (view, shown) => bugTable(shown, view, output.wide),
            name: bugs.map(({ id }) => id),
          });
          return 0;
        }),
      ),
    );
};

const showCommand: Register = (group, cli) => {
  group
    .command('show <bug>')
    .description('the releases that contain a bug, over which dependencies, and the pipelines that run it')
    .addHelpText('after', examples('conveyor bugs show bug/7', 'conveyor bugs show bug/7 -o json'))
    .action(
      cli.handle<object, [string]>(({ io, output, connect }, id) => {
        requireBug(id);
        return withClient(io, connect, async (client) => {
          const bug = (await client.listBugs()).find((one) => one.id === id);
          if (bug === undefined) throw conveyorError('unknown-bug', { id });
          emit(io, output, bug, { text: (view, shown) => bugText(shown, view), name: [bug.id] });
          return 0;
        });
      }),
    );
};

/** Bugs in dependencies, which stop the releases that contain them. */
export const bugsCommand: Register = (program, cli) => {
  const group = program
    .command('bugs')
    .description('report a bug in a library, and find the releases that contain it')
    .addHelpText('after', examples('conveyor bugs report --target //lib:rpc --from 12 --reason "it loses replies"'))
    .helpCommand(false);
  for (const register of [reportCommand, listCommand, showCommand, closeCommand]) register(group, cli);
};
