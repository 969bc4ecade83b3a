import type { Register } from './command';

/**
 * Commands that need little of what the others do: for a line that begins with one of them, that alone is loaded. All together take
 * three times as long.
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
};
