import type { ConveyorClient } from '../../client/api';
import { ConveyorError, conveyorError } from '../../domain/errors';
import { parseId, releaseId } from '../../domain/ids';
import { plural } from '../../domain/text';
import { offersRerun } from '../../domain/release/rerun';
import type { ActionView, ReleaseStatus } from '../../domain/views';
import type { Io } from '../io';
import { printNote } from '../output';
import type { CommandCall } from './command';
import { sendVerb, type OwnWay, type ReasonOption } from './send';

/** The verbs for one action of a release: `kvstore/12/approve`, or the release if only one of its actions can be meant. */
export const pick: OwnWay = {
  options: (command) =>
    command
      .option('--approve', 'let it continue; older releases that wait at the same pick are cancelled')
      .option('--reject', 'fail the action'),
  send: async (call: CommandCall<PickOptions>, id) => {
    parseActionName(id);
    const approve = await askDecision(call.io, call.options, id);
    return sendVerb(call, id, 'pick', { approve }, (client) => findOnlyAction(client, id, WAITS_FOR_A_PERSON));
  },
};

export const retry: OwnWay = {
  send: (call, id) => {
    parseActionName(id);
    return sendVerb(call, id, 'retry', {}, async (client) => {
      await requireRunning(client, id);
      return findOnlyAction(client, id, HAS_FAILED);
    });
  },
};

/** The users that the deploy does not fit are listed before it is let to begin. */
export const overrideOffer: OwnWay = {
  options: (command) => command.option('--yes', 'let it begin; without it, a terminal asks'),
  send: (call: CommandCall<OverrideOptions>, id) => {
    parseActionName(id);
    return sendVerb(call, id, 'override-offer', {}, async (client) => {
      const action = await findOnlyAction(client, id, WAITS_FOR_USERS);
      await confirmUnfit(call, client, action);
      return action;
    });
  },
};

interface OverrideOptions extends ReasonOption {
  readonly yes?: boolean;
}

async function confirmUnfit(
  { io, options }: CommandCall<OverrideOptions>,
  client: ConveyorClient,
  text: string,
): Promise<void> {
  const id = parseId(text);
  if (id?.kind !== 'action') return;
  const status = await client.status(releaseId(id.pipeline, id.number));
  const unfit = status.kind === 'release' ? status.actions.find(({ name }) => name === id.action)?.unfit : undefined;
  // The release says why not.
  if (!unfit) return;
  const { users, more } = unfit;
  const count = plural(users.length + more, 'deploy');
  printNote(io, `${text} does not fit ${count} of other pipelines, which keep the value that they have:`);
  for (const { offer, user, why } of users) printNote(io, `  ${user} ${why} (${offer})`);
  if (more > 0) printNote(io, `  and ${more} more: conveyor offers show ${id.pipeline}`);
  if (options.yes) return;
  const answer = io.canAsk ? (await io.ask(`Let ${text} begin although they may break? (yes/no) `)).trim() : '';
  if (answer.toLowerCase() === 'yes') return;
  throw conveyorError('usage', { text: `${text} still waits for its users`, hint: 'add --yes to let it begin' });
}

interface PickOptions extends ReasonOption {
  readonly approve?: boolean;
  readonly reject?: boolean;
}

/** Exactly one of the two flags; on a terminal the user is asked. */
async function askDecision(io: Io, { approve, reject }: PickOptions, id: string): Promise<boolean> {
  if (approve !== reject && (approve || reject)) return approve === true;
  if (approve && reject)
    throw conveyorError('usage', { text: '--approve and --reject contradict each other', hint: 'give one of them' });
  if (io.canAsk) {
    const answer = (await io.ask(`Approve or reject ${id}? (approve/reject) `)).trim().toLowerCase();
    if (answer !== '' && 'approve'.startsWith(answer)) return true;
    if (answer !== '' && 'reject'.startsWith(answer)) return false;
  }
  throw conveyorError('usage', {
    text: `neither approved nor rejected: ${id}`,
    hint: 'add --approve or --reject',
  });
}

interface ActionMatch {
  readonly isIt: (action: ActionView) => boolean;
  readonly none: string;
  readonly several: string;
}

const WAITS_FOR_A_PERSON: ActionMatch = {
  isIt: ({ pickBy, endedAt }) => pickBy !== null && endedAt === null,
  none: 'none of its actions waits for a person',
  several: 'several of its actions wait for a person',
};
const HAS_FAILED: ActionMatch = {
  isIt: ({ state }) => state === 'failed',
  none: 'none of its actions has failed',
  several: 'several of its actions have failed',
};

const WAITS_FOR_USERS: ActionMatch = {
  isIt: ({ unfit }) => unfit != null,
  none: 'none of its deploys waits for users of its offers',
  several: 'several of its deploys wait for users of their offers',
};

/** The given id, or for a release the only action that can be meant. */
async function findOnlyAction(
  client: ConveyorClient,
  text: string,
  { isIt, none, several }: ActionMatch,
): Promise<string> {
  if (parseActionName(text) !== undefined) return text;
  const status = await client.status(text);
  const found = status.kind === 'release' ? status.actions.filter(isIt) : [];
  const [first, ...others] = found;
  if (first !== undefined && others.length === 0) return `${text}/${first.name}`;
  const names = found.map(({ name }) => `${text}/${name}`).join(', ');
  throw conveyorError('usage', {
    text: first === undefined ? `${text}: ${none}` : `${text}: ${several}`,
    hint: first === undefined ? `conveyor status ${text} shows them` : `name one: ${names}`,
  });
}

/** The action that an id names; undefined if it names a release. */
function parseActionName(text: string): string | undefined {
  const id = parseId(text);
  if (id?.kind === 'action') return id.action;
  if (id?.kind === 'release') return undefined;
  throw conveyorError('invalid-id', { text, expected: 'an action of a release, such as kvstore/12/approve' });
}

/** An ended release cannot be retried: a new release of the same versions is needed. */
async function requireRunning(client: ConveyorClient, text: string): Promise<void> {
  const id = parseId(text);
  if (id === undefined || id.kind === 'pipeline') return;
  const status = await client.status(releaseId(id.pipeline, id.number));
  if (status.kind !== 'release' || status.endedAt === null) return;
  const { message, retryable, exit } = conveyorError('invalid-state', {
    verb: 'retry',
    id: text,
    why: `${status.id} has ended (${status.state})`,
  });
  const rerun = `run the failed part again in a new release: conveyor rerun ${status.id}; or `;
  const hint = `${offersRerun(status, false) ? rerun : ''}release the same again: ${await againWords(client, status)}`;
  throw new ConveyorError('invalid-state', message, hint, retryable, exit);
}

/** `conveyor release kvstore --artifact source=12`: without the artifacts that the release built itself. */
async function againWords(client: ConveyorClient, { pipeline, artifacts }: ReleaseStatus): Promise<string> {
  const { artifacts: inputs } = await client.spec(pipeline);
  const given = artifacts.filter(
    ({ name }, at) => name in inputs && artifacts.findIndex((one) => one.name === name) === at,
  );
  return [`conveyor release ${pipeline}`, ...given.map(({ name, version }) => `--artifact ${name}=${version}`)].join(
    ' ',
  );
}
