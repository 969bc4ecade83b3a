import { examples, type Register } from '../command';
import { conformDependencyGraph } from './dependencyGraph';
import { conformDataSource } from './dataSource';
import { conformTaskController } from './taskController';
import { conformArtifactFinder } from './artifactFinder';
import { conformActionService } from './actionService';
import { conformPushType } from './pushType';
import { conformTickets } from './tickets';

/** The subcommands of `conform`; each registers itself like the commands of the program. */
const SUITES: readonly Register[] = [
  conformPushType,
  conformActionService,
  conformArtifactFinder,
  conformTaskController,
  conformDataSource,
  conformDependencyGraph,
  conformTickets,
];

export const conformCommand: Register = (program, cli) => {
  const group = program
    .command('conform')
    .description('check whether a service conforms to its protocol; changes the state of that service')
    .helpCommand(false)
    .addHelpText(
      'after',
      examples(
        'conveyor conform push-type http://localhost:4630 --units web-a,web-b --new-versions 2.0,2.1',
        'conveyor conform action-service http://localhost:4610 --good-version 12 --bad-version 13',
      ),
    );
  for (const register of SUITES) register(group, cli);
};
