import type { ActionLogs, ConveyorClient, RunLog } from '../../client/api';
import { escapeUnsafe } from '../../domain/plainText';
import { newIn } from '../../domain/scriptLog';
import { EXIT } from '../exit';
import type { Io } from '../io';
import { withClient } from '../door';
import { emit, printNote } from '../output';
import { countOption, examples, type Register } from './command';

interface LogsOptions {
  readonly attempt?: string;
  readonly follow?: boolean;
}

const FOLLOW_INTERVAL_MS = 1_000;

export const logsCommand: Register = (program, cli) => {
  program
    .command('logs <release/action>')
    .description(
      'the output of a script, or the page of its service; for a deploy, the output of the commands around its phases',
    )
    .option('--attempt <n>', 'the attempt (default: the newest)')
    .option('-f, --follow', 'continue until it has ended')
    .addHelpText('after', examples('conveyor logs kvstore/12/load-test', 'conveyor logs kvstore/12/load-test --follow'))
    .action(
      cli.handle<LogsOptions, [string]>(({ io, output, connect, options }, id) =>
        withClient(io, connect, async (client) => {
          const { attempt: given, follow: isFollowed = false } = options;
          const attempt = given === undefined ? undefined : countOption('--attempt', given, 1);
          if (output.human) return print(io, client, { id, attempt, isFollowed });
          const seen = await client.logs(id, attempt);
          emit(io, output, seen, { text: () => '', name: seen.runs.map(({ run }) => run) });
          return EXIT.ok;
        }),
      ),
    );
};

interface LogTarget {
  readonly id: string;
  readonly attempt: number | undefined;
  readonly isFollowed: boolean;
}

/** Prints output of scripts unchanged to stdout, and notes about it to stderr. */
async function print(
  io: Io,
  client: Pick<ConveyorClient, 'logs'>,
  { id, attempt, isFollowed }: LogTarget,
): Promise<number> {
  const stop = io.interrupted();
  const shown = new Map<string, PrintedLog>();
  for (;;) {
    const seen = await client.logs(id, attempt);
    for (const run of seen.runs) shown.set(run.run, showRun(io, run, shown.get(run.run) ?? NOTHING_PRINTED));
    if (seen.ended || !isFollowed) return reportEmptyLog(io, seen);
    await io.sleep(FOLLOW_INTERVAL_MS, stop);
    if (stop.aborted) return EXIT.interrupted;
  }
}

/** The part of a run's log that was printed. */
interface PrintedLog {
  readonly characters: number;
  readonly state: RunLog['state'] | null;
  readonly url: string | null;
}
const NOTHING_PRINTED: PrintedLog = { characters: 0, state: null, url: null };

function showRun(io: Io, { title, state, message, url, log }: RunLog, before: PrintedLog): PrintedLog {
  if (before.state === null) printNote(io, `── ${title}`);
  if (url !== null && url !== before.url) printNote(io, `full log: ${url}`);
  const { text, shown } = log === null ? { text: '', shown: 0 } : newIn(log, before.characters);
  const isOver = state !== 'running';
  if (text !== '') io.stdout.write(withFinalNewline(escapeUnsafe(text, '\n\t'), isOver));
  if (isOver && before.state !== state) printNote(io, `── ${state}${message === null ? '' : `: ${message}`}`);
  return { characters: shown, state, url };
}

/** Adds a newline, so that the prompt of a shell begins on its own line. */
const withFinalNewline = (text: string, isOver: boolean): string =>
  isOver && !text.endsWith('\n') ? `${text}\n` : text;

function reportEmptyLog(io: Io, { id, runs, ended: isOver }: ActionLogs): number {
  const wrote = runs.some(({ log, url }) => url !== null || (log !== null && log.head + log.tail !== ''));
  if (!wrote) printNote(io, `${id} ${isOver ? 'wrote nothing' : 'has written nothing yet'}`);
  return EXIT.ok;
}
