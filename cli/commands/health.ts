import { backtestCommand } from './backtest';
import type { Register } from './command';
import { statisticsCommand } from './statistics';

/** The subcommands of `health`; each registers itself like the commands of the program. */
const SUBCOMMANDS: readonly Register[] = [backtestCommand, statisticsCommand];

export const healthCommand: Register = (program, cli) => {
  const group = program
    .command('health')
    .description('how well health checks tell good versions from bad ones')
    .helpCommand(false);
  for (const register of SUBCOMMANDS) register(group, cli);
};
