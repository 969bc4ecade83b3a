import type { Register } from './command';

/**
 * Commands that need little of what the others do: for a line that begins with one of them, that alone is loaded. All together take
 * three times as long.
 */
export const ALONE: Readonly<Record<string, () => Promise<Register>>> = {
  whoami: async () => (await import('./whoami')).whoami,
  login: async () => (await import('./login')).login,
  logout: async () => (await import('./logout')).logout,
  list: async () => (await import('./list')).list,
  history: async () => (await import('./history')).history,
  status: async () => (await import('./status')).status,
  watch: async () => (await import('./watch')).watch,
  logs: async () => (await import('./logs')).logs,
};
