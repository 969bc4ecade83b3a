import { ALL_VERBS } from '../../domain/verbs';
import type { Register } from './command';

/** The file of one command, or of several that are registered together. */
interface CommandFile {
  readonly names: readonly string[];
  readonly load: () => Promise<Register>;
}

const command = (names: readonly string[], load: CommandFile['load']): CommandFile => ({ names, load });

/**
 * All commands, in the order of the help: from the first pipeline to operating it, then the processes. Files are loaded when needed, because
 * all of them together take many times as long as one.
 */
export const COMMAND_GROUPS: readonly { readonly heading: string; readonly files: readonly CommandFile[] }[] = [
  {
    heading: 'Pipelines:',
    files: [
      command(['init'], async () => (await import('./init')).initCommand),
      command(['lint'], async () => (await import('./lint')).lintCommand),
      command(['advise'], async () => (await import('./advise')).adviseCommand),
      command(['plan'], async () => (await import('./plan')).planCommand),
      command(['apply'], async () => (await import('./apply')).applyCommand),
      command(['pipeline'], async () => (await import('./pipeline')).pipelineCommand),
      command(['offers'], async () => (await import('./offers')).offersCommand),
    ],
  },
  {
    heading: 'Releases:',
    files: [
      command(['release'], async () => (await import('./release')).releaseCommand),
      command(['artifact'], async () => (await import('./artifact')).artifactCommand),
      command(['rerun'], async () => (await import('./rerun')).rerunCommand),
      command(['list'], async () => (await import('./list')).listCommand),
      command(['status'], async () => (await import('./status')).statusCommand),
      command(['where'], async () => (await import('./where')).whereCommand),
      command(['watch'], async () => (await import('./watch')).watchCommand),
      command(['logs'], async () => (await import('./logs')).logsCommand),
      command(['history'], async () => (await import('./history')).historyCommand),
      command(['health'], async () => (await import('./health')).healthCommand),
      command(['freshness'], async () => (await import('../../features/freshness/cli/freshness')).freshnessCommand),
      command(['stats'], async () => (await import('./stats')).statsCommand),
    ],
  },
  {
    heading: 'Configuration:',
    files: [command(['config'], async () => (await import('./config')).config)],
  },
  {
    heading: 'Stepping in (each with --reason):',
    files: [
      command(ALL_VERBS, async () => (await import('./verbs')).verbCommands),
      command(['push'], async () => (await import('./push')).pushCommand),
      command(['bugs'], async () => (await import('../../features/bugs/cli/bugs')).bugsCommand),
    ],
  },
  {
    heading: 'Who you are, and what you may do:',
    files: [
      command(['login'], async () => (await import('./login')).loginCommand),
      command(['logout'], async () => (await import('./logout')).logoutCommand),
      command(['whoami'], async () => (await import('./whoami')).whoamiCommand),
      command(['can'], async () => (await import('./can')).canCommand),
      command(['audit'], async () => (await import('./audit')).auditCommand),
    ],
  },
  {
    heading: 'Processes:',
    files: [
      command(
        ['worker', 'server', 'hcs', 'simulator', 'config-service', 'config-proxy'],
        async () => (await import('./processes')).processCommands,
      ),
      command(['push-type'], async () => (await import('./pushTypes')).pushTypeCommand),
      command(['agent'], async () => (await import('./agent')).agentCommand),
      command(['dev'], async () => (await import('./dev')).devCommand),
      command(['demo'], async () => (await import('./demo')).demoCommand),
      command(['simulate'], async () => (await import('./simulate')).simulateCommand),
      command(['conform'], async () => (await import('./conform')).conformCommand),
      command(['doctor'], async () => (await import('./doctor')).doctorCommand),
      command(['archive'], async () => (await import('./archive')).archiveCommand),
      command(['backup', 'restore'], async () => (await import('./backup')).backupCommands),
      command(['completion', '__complete'], async () => (await import('./completion')).completionCommand),
    ],
  },
];

/** The file that registers a command. */
export const fileOfCommand = (name: string): CommandFile | undefined =>
  COMMAND_GROUPS.flatMap(({ files }) => files).find(({ names }) => names.includes(name));
