import { existsSync, realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { killLeftCommand, locateRecord } from './commands';
import { countBegin, endRestore, markRestore } from './decide';
import { AGENT_FILE, AgentHome } from './home';
import { AGENT_PACKAGE, getPackage, setPackage, type InstallStep } from './state';

/** An agent that runs. */
export interface StartedAgent {
  /** Its exit code. */
  readonly ended: Promise<number>;
  /** Ends it now. Resolves once nothing of it runs. */
  stop(): Promise<void>;
}

export interface SupervisorOptions {
  readonly folder: string;
  readonly host: string;
  /** The program that runs now. */
  readonly ownFile: string;
  readonly startAgent: (file: string) => StartedAgent;
  readonly log: (line: string) => void;
  readonly makeId: () => string;
  readonly signal: AbortSignal;
}

/** The exit code of an agent that installed its successor. */
export const AGENT_REPLACED = 75;

const FIRST_PAUSE_MS = 1_000;
const MOST_PAUSE_MS = 60_000;
const TRIAL_SECONDS = 120;

/**
 * Starts the agent that `current` of its package leads to, and again after each end. A new version is on trial until it has reported once: if its time is over
 * before, the version of before returns. The state has one writer, because a file is written here only while no agent runs.
 */
export async function superviseAgent(options: SupervisorOptions): Promise<void> {
  const { folder, signal, log } = options;
  let pause = FIRST_PAUSE_MS;
  while (!signal.aborted) {
    const { file, trialMs } = prepareStart(options);
    const agent = options.startAgent(file);
    const end = await awaitEnd(agent, trialMs, options);
    killLeftCommand(locateRecord(folder));
    if (end === 'stopped') return;
    if (end === 'too-late') {
      giveUpTrial(options, `it did not report within ${trialMs} ms`);
      continue;
    }
    if (end === AGENT_REPLACED) {
      pause = FIRST_PAUSE_MS;
      continue;
    }
    log(`the agent ended with ${end}; it starts again in ${pause} ms`);
    await delay(pause, undefined, { signal }).catch(() => undefined);
    pause = Math.min(pause * 2, MOST_PAUSE_MS);
  }
}

/** The program to start, and the time of its trial if it is a new one. */
function prepareStart(options: SupervisorOptions): { readonly file: string; readonly trialMs: number | undefined } {
  const home = openHome(options);
  const trial = findTrial(home);
  if (trial !== undefined) {
    const state = countBegin(getPackage(home.state, AGENT_PACKAGE), trial);
    home.note(setPackage(home.state, AGENT_PACKAGE, state));
  }
  const { step } = getPackage(home.state, AGENT_PACKAGE);
  if (step?.kind === 'restore') restoreAgent(home, step, options);
  const isTrial = findTrial(home) !== undefined;
  const trialMs = isTrial ? (step?.target.install?.timeoutSeconds ?? TRIAL_SECONDS) * 1_000 : undefined;
  return { file: locateAgent(home, options), trialMs };
}

function locateAgent(home: AgentHome, { ownFile }: SupervisorOptions): string {
  const file = join(home.packageFolder(AGENT_PACKAGE), 'current', AGENT_FILE);
  return existsSync(file) ? realpathSync(file) : ownFile;
}

type AgentExit = number | 'stopped' | 'too-late';

function awaitEnd(agent: StartedAgent, trialMs: number | undefined, options: SupervisorOptions): Promise<AgentExit> {
  const { signal } = options;
  return new Promise((resolve) => {
    const end = (how: AgentExit): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', stop);
      void agent.stop().then(() => resolve(how));
    };
    const stop = (): void => end('stopped');
    const judge = (): void => {
      if (findTrial(openHome(options)) !== undefined) end('too-late');
    };
    const timer = trialMs === undefined ? undefined : setTimeout(judge, trialMs);
    signal.addEventListener('abort', stop, { once: true });
    void agent.ended.then(end);
  });
}

const openHome = ({ folder, host }: SupervisorOptions): AgentHome => new AgentHome(folder, host);

/** The open step of a new agent that is in place, and has not reported. */
function findTrial(home: AgentHome): InstallStep | undefined {
  const { step } = getPackage(home.state, AGENT_PACKAGE);
  return step?.kind === 'install' && home.current(AGENT_PACKAGE) === step.target.folder ? step : undefined;
}

/** Nothing happens if it reported at the last moment. */
function giveUpTrial(options: SupervisorOptions, reason: string): void {
  const home = openHome(options);
  const step = findTrial(home);
  if (step === undefined) return;
  const state = markRestore(getPackage(home.state, AGENT_PACKAGE), step, reason);
  home.note(setPackage(home.state, AGENT_PACKAGE, state));
  restoreAgent(home, state.step ?? step, options);
}

function restoreAgent(home: AgentHome, step: InstallStep, { log, makeId }: SupervisorOptions): void {
  const reason = step.kind === 'restore' ? step.reason : '';
  home.switchBack(AGENT_PACKAGE, step.before);
  const state = endRestore(getPackage(home.state, AGENT_PACKAGE), step, { reason, identifier: makeId() });
  home.note(setPackage(home.state, AGENT_PACKAGE, state));
  log(`${AGENT_PACKAGE}: ${step.target.version} was rolled back: ${reason}`);
}

/** The release of the agent to which a program belongs; undefined if it was installed by hand. */
export function findOwnFolder(folder: string, host: string, file: string): string | undefined {
  const releases = new AgentHome(folder, host).releases(AGENT_PACKAGE);
  const own = dirname(realpathSync(file));
  return existsSync(releases) && dirname(own) === realpathSync(releases) ? basename(own) : undefined;
}
