import { actionServiceProtocol } from './actionService';
import { artifactFinderProtocol } from './artifactFinder';
import type { Protocol } from './common';
import { dataSourceProtocol } from './dataSource';
import { dependencyGraphProtocol } from './dependencyGraph';
import { pushTypeProtocol } from './pushType';
import { taskControllerProtocol } from './taskController';
import { ticketProtocol } from './tickets';
import type { MethodWords } from './words';
import {
  ACTION_SERVICE_WORDS,
  ARTIFACT_FINDER_WORDS,
  DATA_SOURCE_WORDS,
  DEPENDENCY_GRAPH_WORDS,
  TASK_CONTROLLER_WORDS,
  TICKET_WORDS,
} from './words/others';
import { PUSH_TYPE_WORDS } from './words/pushType';

interface ProtocolDescription {
  readonly title: string;
  readonly protocol: Protocol;
  readonly words: Readonly<Record<string, MethodWords>>;
}

/** Every protocol of an extension, by its kind in `conveyor conform` and `conveyor.config.yaml`. */
export const PROTOCOLS = {
  'push-type': { title: 'Push type', protocol: pushTypeProtocol, words: PUSH_TYPE_WORDS },
  'action-service': { title: 'Action service', protocol: actionServiceProtocol, words: ACTION_SERVICE_WORDS },
  'artifact-finder': { title: 'Artifact finder', protocol: artifactFinderProtocol, words: ARTIFACT_FINDER_WORDS },
  'task-controller': { title: 'Task controller', protocol: taskControllerProtocol, words: TASK_CONTROLLER_WORDS },
  'data-source': { title: 'Data source', protocol: dataSourceProtocol, words: DATA_SOURCE_WORDS },
  'dependency-graph': { title: 'Dependency graph', protocol: dependencyGraphProtocol, words: DEPENDENCY_GRAPH_WORDS },
  tickets: { title: 'Tickets', protocol: ticketProtocol, words: TICKET_WORDS },
} as const satisfies Readonly<Record<string, ProtocolDescription>>;

/** The words of a protocol; none for one that is not in the table. */
export const methodWords = (protocol: Protocol): ProtocolDescription['words'] =>
  Object.values<ProtocolDescription>(PROTOCOLS).find((known) => known.protocol === protocol)?.words ?? {};
