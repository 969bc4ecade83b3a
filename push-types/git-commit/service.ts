import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Hono } from 'hono';
import { judgeTargets, prometheusQuery, remoteJudge, type Query } from '../../sdk';
import { Memory } from '../../sdk/updates';
import { CommitFleet } from './commitFleet';
import { GitBranch } from './gitBranch';
import { gitCommitPushType, type CommitJudge } from './pushType';
import { loadGitCommitSettings, type GitCommitSettings } from './settings';
import { StateLog } from './stateLog';
import { createWatcher } from './watchers';

export interface GitCommitServiceOptions {
  /** The path of the settings. */
  readonly settings: string;
  /** The folder of the memory and the copies of repositories. */
  readonly home: string;
  readonly prometheus: string | undefined;
  readonly token: string | undefined;
  readonly env: NodeJS.ProcessEnv;
  readonly log: (line: string) => void;
}

/** The push type with its repositories. `run` brings them to their desired state until it is stopped. */
export interface GitCommitService {
  readonly app: Hono;
  readonly settings: GitCommitSettings;
  run(signal: AbortSignal): Promise<void>;
}

/** While a change waits for nothing but the next round. */
const SHORT_PAUSE_MS = 500;

/** @throws Error if the settings have a mistake */
export function openGitCommitService(options: GitCommitServiceOptions): GitCommitService {
  const { home, log, token } = options;
  const settings = loadGitCommitSettings(options.settings);
  const copies = join(home, 'repositories');
  mkdirSync(copies, { recursive: true, mode: 0o700 });
  const branches = new Map(
    Object.entries(settings.repositories).map(([name, repository]) => [
      name,
      new GitBranch({ name, settings: repository, folder: join(copies, `${name}.git`) }),
    ]),
  );
  const watchers = new Map(
    Object.entries(settings.environments).map(([name, { wait }]) => [name, createWatcher(wait)]),
  );
  const memory = new Memory(join(home, 'state.json'));
  const states = new StateLog();
  const fleet = new CommitFleet({
    ...{ memory, settings, branches, log, now: Date.now },
    watcher: (environment) => watchers.get(environment),
    onLook: (task, observation) => states.note(task, observation, Date.now()),
  });
  const app = gitCommitPushType(fleet, {
    judge: createCommitJudge(options, states),
    ...(token !== undefined && { token }),
  });
  return { app, settings, run: (signal) => runCommitRounds(fleet, settings, log, signal) };
}

/** Each repository goes at its own pace. */
async function runCommitRounds(
  fleet: CommitFleet,
  { interval }: GitCommitSettings,
  log: (line: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const keepStepping = async (name: string): Promise<void> => {
    while (!signal.aborted) {
      const isOpen = await fleet.step(name).catch((error: unknown) => {
        log(`${name}: ${String(error)}`);
        return true;
      });
      const pause = isOpen ? interval : Math.min(SHORT_PAUSE_MS, interval);
      await delay(pause, undefined, { signal }).catch(() => undefined);
    }
  };
  await Promise.all(fleet.names.map(keepStepping));
}

/** The Health Check Service judges if there is one, else this process does by what the services said, and by Prometheus, where the label `task` is `<unit>/<cluster>`. */
function createCommitJudge({ prometheus, env }: GitCommitServiceOptions, states: StateLog): CommitJudge {
  const { CONVEYOR_HCS_URL: hcs, CONVEYOR_HCS_TOKEN: token } = env;
  if (hcs) return remoteJudge({ url: hcs, source: 'prometheus', ...(token && { token }) });
  const ask = prometheus === undefined ? states.query : prometheusQuery({ url: prometheus });
  const query: Query = (request, asked) =>
    request.metric.startsWith('gitops.') ? states.query(request, asked) : ask(request, asked);
  return (request) => judgeTargets({ ...request, query });
}
