import { Agent } from '../../push-types/slowroll/agent/agent';
import { AgentHome } from '../../push-types/slowroll/agent/home';
import { parseSettings, readAgentSecrets } from '../../push-types/slowroll/agent/settings';

/** A real agent as a process that kills itself with −9 just before the step in `DIE_AT`. Tests bundle it. */

const { home, files, host, ...settings } = parseSettings(process.argv.slice(2));
const agent = new Agent({
  ...settings,
  ...{ host, home: new AgentHome(home, host), readSecrets: () => readAgentSecrets(files), ownFolder: undefined },
  times: { requestMs: 5_000, sliceMs: 60_000, stallMs: 60_000, spreadMs: 0 },
  ...{ env: { PATH: process.env['PATH'] ?? '' }, signal: new AbortController().signal, chance: () => 0 },
  makeId: () => `${process.pid}-${process.hrtime.bigint()}`,
  log: (line) => void process.stderr.write(`${line}\n`),
  onStep: (_, step) => {
    if (step === process.env['DIE_AT']) process.kill(process.pid, 'SIGKILL');
  },
});
void agent.run();
