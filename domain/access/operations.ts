import type { Verb } from '../verbs';

/** The entry points of requests. */
export const DOORS = ['command-line', 'api', 'webhook', 'run'] as const;
export type Door = (typeof DOORS)[number];

/** The roles that operations require. Admins may do everything that a principal may do. */
export const NEEDS = {
  nobody: 'anybody, also without a name',
  key: 'whoever has the key of the run',
  creator: 'a creator of pipelines of that name; once the pipeline exists, one of its owners who is a creator',
  owner: 'an owner of the pipeline',
  evictor: 'an owner of the pipeline, or of a service whose units the deploy holds',
  auditor: 'an owner of the pipeline; for all pipelines together admins alone',
  picker: 'whoever the pick names, else an owner of the pipeline',
  delivery: 'a program with a delivery that the server believes; through the API an owner of the pipeline',
  proposer:
    'an owner of the repository; where it lists none admins alone, and anybody who is known without a platform section',
  reporter: 'whoever platform.bugs lists; anybody who is known without a platform section',
  service: 'pipelines of which every owner is an owner of the service',
  use: 'pipelines of which every owner is in a rule for it',
  scripts: 'pipelines of which every owner is in platform.scripts',
  parent: 'a child that names its parent, if its rule does too or whoever started the parent may release the child',
} as const;
export type Need = keyof typeof NEEDS;

export interface Operation {
  readonly of:
    'platform' | 'pipeline' | 'repository' | 'release' | 'action' | 'deploy' | 'run' | 'unit' | 'use' | 'scripts';
  readonly needs: Need;
  /** The entry points for principals; without any, workers ask on behalf of a pipeline. */
  readonly doors: readonly Door[];
  readonly does: string;
  /** The requirement that a rule of `platform.protection` may add. */
  readonly protection?: 'spec' | 'emergency' | 'approval' | 'checks' | 'window';
}

const COMMANDS: readonly Door[] = ['command-line', 'api'];

const read = (of: Operation['of'], does: string): Operation => ({ of, needs: 'nobody', doors: COMMANDS, does });
const owners = (of: Operation['of'], does: string): Operation => ({ of, needs: 'owner', doors: COMMANDS, does });
const reporters = (does: string): Operation => ({ of: 'platform', needs: 'reporter', doors: COMMANDS, does });
const work = (of: Operation['of'], needs: Need, does: string): Operation => ({ of, needs, doors: [], does });

/** The verbs of people, and all other operations. */
type Name =
  | Verb
  | 'read'
  | 'read-audit'
  | 'create'
  | 'apply'
  | 'import'
  | 'release'
  | 'rerun'
  | 'push'
  | 'submit'
  | 'look-now'
  | 'propose'
  | 'report-bug'
  | 'close-bug'
  | 'deploy'
  | 'use'
  | 'run-scripts'
  | 'start-child';

/**
 * Every operation, once. There are no others: the guard, `conveyor can` and docs/reference/access-matrix.md are derived
 * from it.
 */
export const OPERATIONS: Readonly<Record<Name, Operation>> = {
  read: read('platform', 'lists, status, history, logs, statistics, the spec and the records'),
  'read-audit': { of: 'pipeline', needs: 'auditor', doors: ['api'], does: 'what is on record of a pipeline' },
  create: {
    ...{ of: 'pipeline', needs: 'creator', doors: COMMANDS, protection: 'spec' },
    does: 'apply a pipeline that does not exist',
  },
  apply: { of: 'pipeline', needs: 'creator', doors: COMMANDS, protection: 'spec', does: 'change a pipeline' },
  import: { of: 'pipeline', needs: 'creator', doors: COMMANDS, protection: 'spec', does: 'replace its records' },
  retire: { of: 'pipeline', needs: 'creator', doors: COMMANDS, does: 'end a pipeline' },
  release: { ...owners('pipeline', 'start a release'), protection: 'spec' },
  rerun: { ...owners('release', 'run again what failed'), protection: 'spec' },
  push: { ...owners('pipeline', 'an emergency push'), protection: 'emergency' },
  submit: {
    ...{ of: 'pipeline', needs: 'delivery', doors: ['api', 'webhook'], protection: 'spec' },
    does: 'bring artifacts that may make a release',
  },
  'look-now': { of: 'run', needs: 'key', doors: ['run'], does: 'say that a run has ended' },
  propose: { of: 'repository', needs: 'proposer', doors: COMMANDS, does: 'propose a change of configuration' },
  'report-bug': reporters('report a bug, which stops releases of all pipelines that contain it'),
  'close-bug': reporters('say what fixes a bug, or that it was not a bug'),
  hold: owners('pipeline', 'begin no deploys'),
  unhold: owners('pipeline', 'end a hold'),
  freeze: owners('pipeline', 'begin nothing at all'),
  unfreeze: owners('pipeline', 'end a freeze'),
  'allow-artifact': owners('pipeline', 'take an artifact off the known-bad ones'),
  undeploy: owners('pipeline', 'remove all that it has deployed'),
  'end-use': owners('pipeline', 'end the use of its offers by a deploy that is gone'),
  pause: owners('deploy', 'pause a deploy or release'),
  resume: owners('deploy', 'let it continue'),
  cancel: { of: 'deploy', needs: 'evictor', doors: COMMANDS, does: 'stop a deploy or release where it is' },
  revert: { of: 'deploy', needs: 'evictor', doors: COMMANDS, does: 'bring back what ran before' },
  'skip-phase': { ...owners('deploy', 'leave the rest of a phase to the next'), protection: 'checks' },
  'skip-bake': { ...owners('deploy', 'end a bake'), protection: 'checks' },
  'skip-health-check': { ...owners('deploy', 'continue without a check'), protection: 'checks' },
  'skip-window': { ...owners('deploy', 'go past a window or a soak'), protection: 'window' },
  pick: { of: 'action', needs: 'picker', doors: COMMANDS, protection: 'approval', does: 'approve or reject' },
  retry: owners('action', 'try a failed action again'),
  'override-offer': owners('action', 'deploy although its offers do not fit their users'),
  deploy: work('unit', 'service', 'deploy to a unit of a push type'),
  use: work('use', 'use', 'use an action service, artifact finder, data source or global mutex'),
  'run-scripts': work('scripts', 'scripts', 'run scripts on the workers'),
  'start-child': work('pipeline', 'parent', 'release a child of another pipeline'),
};

export type OperationName = Name;

export const isOperation = (word: string): word is OperationName => Object.hasOwn(OPERATIONS, word);
