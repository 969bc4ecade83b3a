import { randomUUID } from 'node:crypto';
import { isMainThread, Worker } from 'node:worker_threads';
import { Agent } from './agent';
import { killLeftCommand, locateRecord } from './commands';
import { AgentHome } from './home';
import { lockFolder } from './lock';
import { parseSettings, readAgentSecrets, type AgentSettings } from './settings';
import { findOwnFolder, AGENT_REPLACED, superviseAgent, type StartedAgent } from './supervisor';

/**
 * The agent of a host as a process (docs/reference/agent.md). The main thread starts the agent in a thread: its own program, or a later one that came as a
 * package. It may be killed at any time.
 */

const FOLDER_PATIENCE_MS = 10_000;
const AGENT_TIMES = { requestMs: 30_000, sliceMs: 5 * 60_000, stallMs: 60_000 };
/** The variables that commands of packages get. */
const COMMAND_VARIABLES = ['PATH', 'HOME', 'LANG', 'LC_ALL', 'TZ', 'USER', 'LOGNAME', 'SHELL', 'XDG_RUNTIME_DIR'];

const writeLine = (line: string): void => void process.stderr.write(`${new Date().toISOString()} ${line}\n`);

async function startSupervisor(args: readonly string[]): Promise<void> {
  const { home, host, files, server } = parseSettings(args);
  // A mistake in the files stops the first start, instead of failing at each poll.
  readAgentSecrets(files);
  await lockFolder(home, FOLDER_PATIENCE_MS);
  const ending = new AbortController();
  for (const name of ['SIGTERM', 'SIGINT'] as const) process.once(name, () => ending.abort());
  process.stdout.write(`agent ready: ${host} polls ${server.origin}, in ${home}\n`);
  await superviseAgent({
    ...{ folder: home, host, ownFile: __filename, makeId: randomUUID, log: writeLine, signal: ending.signal },
    startAgent: (file) => startThread(file, args),
  });
  killLeftCommand(locateRecord(home));
  process.exit(0);
}

function startThread(file: string, args: readonly string[]): StartedAgent {
  const thread = new Worker(file, { argv: [...args] });
  const ended = new Promise<number>((resolve) => {
    thread.on('error', (error) => {
      writeLine(`the agent failed: ${error.stack ?? error.message}`);
      resolve(1);
    });
    thread.on('exit', resolve);
  });
  return { ended, stop: async () => void (await thread.terminate()) };
}

async function startAgentThread(args: readonly string[]): Promise<void> {
  const settings = parseSettings(args);
  const { home, host } = settings;
  const agent = new Agent({
    ...pickOptions(settings),
    ...{ home: new AgentHome(home, host), ownFolder: findOwnFolder(home, host, __filename) },
  });
  process.exit((await agent.run()) === 'replaced' ? AGENT_REPLACED : 0);
}

const pickOptions = ({ server, host, labels, allowsHttp, files, spreadMs }: AgentSettings) => ({
  ...{
    server,
    host,
    labels,
    allowsHttp,
    readSecrets: () => readAgentSecrets(files),
    times: { ...AGENT_TIMES, spreadMs },
  },
  ...{ makeId: randomUUID, log: writeLine, onStep: () => undefined, chance: Math.random },
  env: Object.fromEntries(
    COMMAND_VARIABLES.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
  ) as Readonly<Record<string, string>>,
  signal: new AbortController().signal,
});

(isMainThread ? startSupervisor : startAgentThread)(process.argv.slice(2)).catch((error: unknown) => {
  process.stderr.write(`error: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
});
