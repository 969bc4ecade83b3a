import { adviseCommand } from './advise';
import { applyCommand } from './apply';
import { archiveCommand } from './archive';
import { artifactCommand } from './artifact';
import { auditCommand } from './audit';
import { backupCommands } from './backup';
import { bugsCommand } from './bugs';
import { canCommand } from './can';
import type { Register } from './command';
import { completionCommand } from './completion';
import { config } from './config';
import { conformCommand } from './conform';
import { demoCommand } from './demo';
import { devCommand } from './dev';
import { doctorCommand } from './doctor';
import { freshnessCommand } from './freshness';
import { healthCommand } from './health';
import { historyCommand } from './history';
import { initCommand } from './init';
import { lintCommand } from './lint';
import { listCommand } from './list';
import { loginCommand } from './login';
import { logoutCommand } from './logout';
import { logsCommand } from './logs';
import { pipelineCommand } from './pipeline';
import { planCommand } from './plan';
import { processCommands } from './processes';
import { pushCommand } from './push';
import { releaseCommand } from './release';
import { rerunCommand } from './rerun';
import { simulateCommand } from './simulate';
import { statsCommand } from './stats';
import { statusCommand } from './status';
import { verbCommands } from './verbs';
import { watchCommand } from './watch';
import { whoamiCommand } from './whoami';

/** In the order of the help: from the first pipeline to operating it, then the processes. */
export const COMMAND_GROUPS: readonly { readonly heading: string; readonly commands: readonly Register[] }[] = [
  {
    heading: 'Pipelines:',
    commands: [initCommand, lintCommand, adviseCommand, planCommand, applyCommand, pipelineCommand],
  },
  {
    heading: 'Releases:',
    commands: [
      releaseCommand,
      artifactCommand,
      rerunCommand,
      listCommand,
      statusCommand,
      watchCommand,
      logsCommand,
      historyCommand,
      healthCommand,
      freshnessCommand,
      statsCommand,
    ],
  },
  { heading: 'Configuration:', commands: [config] },
  { heading: 'Stepping in (each with --reason):', commands: [verbCommands, pushCommand, bugsCommand] },
  {
    heading: 'Who you are, and what you may do:',
    commands: [loginCommand, logoutCommand, whoamiCommand, canCommand, auditCommand],
  },
  {
    heading: 'Processes:',
    commands: [
      processCommands,
      devCommand,
      demoCommand,
      simulateCommand,
      conformCommand,
      doctorCommand,
      archiveCommand,
      backupCommands,
      completionCommand,
    ],
  },
];
