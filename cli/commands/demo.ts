import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { conveyorError } from '../../domain/errors';
import { installRoot } from '../../settings/registry';
import { configDemo } from '../demo/config/story';
import type { Demo, DemoResult, Stage } from '../demo/demo';
import { serviceDemo } from '../demo/service';
import { bypassServer, withClient } from '../door';
import { EXIT } from '../exit';
import { emit, printNote, printNoteLines } from '../output';
import type { Child } from '../stack/child';
import { stackEnvironment, freeAddresses } from '../stack/addresses';
import { removeCopy } from '../stack/configuration';
import { startStack, type Stack } from '../stack/stack';
import { examples, type CommandCall, type GlobalOptions, type Register } from './command';

interface DemoOptions extends GlobalOptions {
  readonly keep?: boolean;
}

/** A minute of the simulated world takes a second. */
const SPEED = 60;

const DEMOS: Readonly<Record<string, Demo<DemoResult>>> = { service: serviceDemo, config: configDemo };

export const demoCommand: Register = (program, cli) => {
  program
    .command('demo [what]')
    .description('watch Conveyor at work: its own stack, a good version, a bad one, and the revert; under a minute')
    .option('--keep', 'leave everything running at the end')
    .addHelpText(
      'after',
      examples('conveyor demo', 'conveyor demo config', 'conveyor demo --keep', 'conveyor demo -o json'),
    )
    .action(
      cli.handle<DemoOptions, [string | undefined]>((call, what = 'service') => runDemo(call, findDemo(what), what)),
    );
};

function findDemo(what: string): Demo<DemoResult> {
  const demo = Object.hasOwn(DEMOS, what) ? DEMOS[what] : undefined;
  if (demo !== undefined) return demo;
  throw conveyorError('usage', {
    text: `there is no demo ${what}`,
    hint: 'conveyor demo (or conveyor demo service) deploys a service, conveyor demo config a configuration',
  });
}

async function runDemo(call: CommandCall<DemoOptions>, demo: Demo<DemoResult>, what: string): Promise<number> {
  const { io, options } = call;
  const stop = io.interrupted();
  const logFolder = join(installRoot(), '.conveyor', 'logs', `demo-${process.pid}`);
  printNote(io, 'Starting a stack of its own, on free ports');
  const settings = {
    addresses: await freeAddresses(io.env),
    logFolder,
    startedBy: `conveyor demo ${what}`,
    seed: 1,
    speed: SPEED,
    database: 'memory' as const,
    archive: join(logFolder, 'archive.duckdb'),
  };
  const { env, ...own } = await demo.prepare(io, settings);
  const stack = await startStack({ ...io, env: { ...io.env, ...env } }, { ...settings, ...own }, stop);
  if (stack === undefined) return EXIT.interrupted;
  const children: Child[] = [];
  let kept = false;
  let isOver = false;
  try {
    const playing = play(call, demo, { stack, children, stop });
    const result = await Promise.race([playing, stack.died.then((error) => Promise.reject(error))]);
    if (result === undefined) return EXIT.interrupted;
    const surprise = demo.surprise(result);
    // Programs get one document on stdout: the result, or the error.
    if (surprise === null || call.output.human)
      emit(io, call.output, result, {
        text: (view, shown) => `\n${demo.render(shown, view)}`,
        name: result.releases.map(({ id }) => id),
      });
    kept = Boolean(options.keep);
    if (kept)
      printNoteLines(io, formatFarewell({ stack, children, next: demo.next(result), more: bypassServer(io.env) }));
    if (surprise !== null) throw conveyorError('demo-unexpected', { what: surprise, logFolder });
    if (!kept) printNoteLines(io, FAREWELL);
    isOver = !kept;
    return EXIT.ok;
  } finally {
    await end(stack, children, kept);
    if (isOver) rmSync(logFolder, { recursive: true, force: true });
    if (isOver && stack.config) removeCopy(stack.config, io.env);
  }
}

async function end(stack: Stack, children: readonly Child[], isKept: boolean): Promise<void> {
  if (isKept) {
    children.forEach((child) => child.leave());
    return stack.leave();
  }
  await Promise.all(children.map((child) => child.stop()));
  await stack.stop();
}

async function play(
  { io, output }: CommandCall<DemoOptions>,
  demo: Demo<DemoResult>,
  on: Pick<Stage, 'stack' | 'children' | 'stop'>,
): Promise<DemoResult | undefined> {
  const { temporal, webUi, taskQueue } = on.stack.addresses;
  const connect = { address: temporal, webUi, taskQueue, direct: true };
  return withClient(io, connect, (client) => demo.play({ io, output, client, ...on }));
}

const FAREWELL = `
Stopping everything that the demo started. Things to try next:
  npm run demo -- --keep                     the same, left running, to look around in the Web UI
  npm run demo -- config                     a configuration instead of a service
  npm run dev                                a stack that stays, with the same fleet
  npx --no-install conveyor init my-service  a pipeline of your own`;

interface KeptStack {
  readonly stack: Pick<Stack, 'addresses' | 'config' | 'logFolder' | 'pids'>;
  readonly children: readonly Pick<Child, 'pid'>[];
  /** Commands, without the name of the program. */
  readonly next: readonly string[];
  readonly more?: Readonly<Record<string, string>>;
}

/** How to inspect the running stack, and how to stop it. */
export function formatFarewell({ stack, children, next, more = {} }: KeptStack): string {
  const env = Object.entries({ ...stackEnvironment(stack), ...more });
  const pids = [...children.map(({ pid }) => pid), ...Object.values(stack.pids())];
  return `
It keeps running; its logs are in ${stack.logFolder}. To use it:
  export ${env.map(([name, value]) => `${name}=${value}`).join(' ')}
Things to try next:
${next.map((command) => `  npx --no-install conveyor ${command}`).join('\n')}
To stop it:
  kill ${pids.join(' ')}`;
}
