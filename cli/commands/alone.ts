import { ALL_VERBS } from '../../domain/verbs';
import { isTreeWritten } from '../completion/tree';
import type { Register } from './command';

const verbs = async (): Promise<Register> => (await import('./verbs')).verbCommands;

/**
 * Commands with few dependencies: for a command line that begins with one of them, only that command is loaded. Loading
 * all commands takes three times as long.
 */
export const STANDALONE_COMMANDS: Readonly<Record<string, () => Promise<Register>>> = {
  whoami: async () => (await import('./whoami')).whoamiCommand,
  login: async () => (await import('./login')).loginCommand,
  logout: async () => (await import('./logout')).logoutCommand,
  list: async () => (await import('./list')).listCommand,
  history: async () => (await import('./history')).historyCommand,
  status: async () => (await import('./status')).statusCommand,
  watch: async () => (await import('./watch')).watchCommand,
  logs: async () => (await import('./logs')).logsCommand,
  release: async () => (await import('./release')).releaseCommand,
  rerun: async () => (await import('./rerun')).rerunCommand,
  push: async () => (await import('./push')).pushCommand,
  artifact: async () => (await import('./artifact')).artifactCommand,
  ...(isTreeWritten() ? { __complete: async () => (await import('./completion')).completionCommand } : {}),
  ...Object.fromEntries(ALL_VERBS.map((verb) => [verb, verbs])),
};
