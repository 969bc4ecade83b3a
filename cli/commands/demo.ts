import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { conveyorError } from '../../domain/errors';
import { installRoot } from '../../platform/registry';
import { firstSurprise, runStory, type DemoResult } from '../demo/story';
import { renderDemoSummary } from '../demo/summary';
import { pastServer, withClient } from '../door';
import { EXIT } from '../exit';
import { emit, printNote, printNoteLines } from '../output';
import { stackEnvironment, freeAddresses } from '../stack/addresses';
import { startStack, type Stack } from '../stack/stack';
import { examples, type CommandCall, type GlobalOptions, type Register } from './command';

interface DemoOptions extends GlobalOptions {
  readonly keep?: boolean;
}

/** A minute of the simulated world is a second. */
const SPEED = 60;

export const demoCommand: Register = (program, cli) => {
  program
    .command('demo')
    .description('see it work: a stack of its own, a good version, a bad one, and the revert; under a minute')
    .option('--keep', 'leave everything running at the end')
    .addHelpText('after', examples('conveyor demo', 'conveyor demo --keep', 'conveyor demo -o json'))
    .action(cli.handle<DemoOptions>(runDemo));
};

async function runDemo(call: CommandCall<DemoOptions>): Promise<number> {
  const { io, options } = call;
  const stop = io.interrupted();
  const logFolder = join(installRoot(), '.conveyor', 'logs', `demo-${process.pid}`);
  printNote(io, 'Starting a stack of its own, on free ports');
  const settings = { addresses: await freeAddresses(io.env), logFolder, seed: 1, speed: SPEED, ephemeral: true };
  const stack = await startStack(io, settings, stop);
  if (stack === undefined) return EXIT.interrupted;
  let kept = false;
  try {
    const result = await Promise.race([play(call, stack, stop), stack.died.then((error) => Promise.reject(error))]);
    if (result === undefined) return EXIT.interrupted;
    const surprise = firstSurprise(result);
    // Programs get one document on stdout: the result, or the error.
    if (surprise === null || call.output.human)
      emit(io, call.output, result, {
        text: (view, shown) => `\n${renderDemoSummary(shown, view)}`,
        name: result.releases.map(({ id }) => id),
      });
    kept = Boolean(options.keep);
    if (kept) printNoteLines(io, farewellKept(stack, result, pastServer(io.env)));
    if (surprise !== null) throw conveyorError('demo-unexpected', { what: surprise, logFolder });
    if (!kept) printNoteLines(io, FAREWELL);
    if (!kept) rmSync(logFolder, { recursive: true, force: true });
    return EXIT.ok;
  } finally {
    if (kept) stack.leave();
    else await stack.stop();
  }
}

async function play(
  { io, output }: CommandCall<DemoOptions>,
  stack: Stack,
  stop: AbortSignal,
): Promise<DemoResult | undefined> {
  const { temporal, webUi, simulator, taskQueue } = stack.addresses;
  const connect = { address: temporal, webUi, taskQueue, direct: true };
  return withClient(io, connect, (client) => runStory({ io, output, client, simulator, stop }));
}

const FAREWELL = `
Everything that the demo started is being stopped. Three things to try next:
  npm run demo -- --keep                     the same, left running, to look around in the Web UI
  npm run dev                                a stack that stays, with the same fleet
  npx --no-install conveyor init my-service  a pipeline of your own`;

/** How to look around in what keeps running, and how to stop it. */
export function farewellKept(
  stack: Pick<Stack, 'addresses' | 'logFolder' | 'pids'>,
  result: Pick<DemoResult, 'deploys'>,
  more: Readonly<Record<string, string>> = {},
): string {
  const env = Object.entries({ ...stackEnvironment(stack.addresses), ...more }).map(
    ([name, value]) => `${name}=${value}`,
  );
  const bad = result.deploys.at(-1)?.id ?? '';
  return `
It keeps running; its logs are in ${stack.logFolder}. To use it:
  export ${env.join(' ')}
Three things to try next:
  npx --no-install conveyor status ${bad}
  npx --no-install conveyor history kvstore
  npx --no-install conveyor release kvstore --artifact source=14 --wait
To stop it:
  kill ${Object.values(stack.pids()).join(' ')}`;
}
