import { setTimeout as sleep } from 'node:timers/promises';
import type { Context } from 'hono';
import { z } from 'zod';
import { ConveyorError, conveyorError } from '../../domain/errors';
import { unfitCommand } from '../../domain/excess';
import { parseButton, type ButtonCommand } from '../../domain/notify/slackButtons';
import {
  buildReasonDialog,
  buildRefusal,
  buildResultDialog,
  REASON_BLOCK,
  REASON_INPUT,
} from '../../domain/notify/slackDialog';
import type { SlackSettings } from '../../settings/slack';
import type { Bodies } from '../bodies';
import { parseJsonBody, readBytes, rejectInvalidInput } from '../body';
import type { ServerDeps } from '../deps';
import type { RequestGate } from '../gate';
import type { KeyedQueue } from '../turns';
import { callSlack } from './slackApi';
import { SlackPeople } from './slackPeople';
import { fitsSlack, SeenSignatures, whyMalformedSlack } from './slackSignature';

interface SlackDeps extends Pick<ServerDeps, 'client' | 'clientAs' | 'config' | 'now' | 'log' | 'slackFetch'> {
  /** The queue for commands of known callers. */
  readonly lane: RequestGate;
  readonly bodies: Bodies;
  readonly turns: KeyedQueue;
}

/** Slack waits for three seconds, and its trigger is good for as long; a look at who has clicked takes up to one. */
const [ANSWER_WITHIN_MS, OPEN_WITHIN_MS] = [2_500, 1_500];

const clickSchema = z.object({
  type: z.literal('block_actions'),
  user: z.object({ id: z.string() }),
  trigger_id: z.string().max(500),
  actions: z
    .array(z.object({ value: z.string().optional() }))
    .min(1)
    .max(10),
});

const submissionSchema = z.object({
  type: z.literal('view_submission'),
  user: z.object({ id: z.string() }),
  view: z.object({
    private_metadata: z.string(),
    state: z.object({ values: z.record(z.string(), z.record(z.string(), z.object({ value: z.string().nullish() }))) }),
  }),
});

const slackSchema = z.discriminatedUnion('type', [clickSchema, submissionSchema]);

export type SlackHandler = (context: Context) => Promise<Response>;

/**
 * Clicks on buttons in messages of Slack: a dialog asks for the reason, and its submission is a command of the user's principal (slackPeople.ts). The
 * guard decides as for any caller, and the person sees its refusal.
 */
export function slackHandler(deps: SlackDeps): SlackHandler {
  const seen = new SeenSignatures(() => deps.now());
  const people = new SlackPeople(deps);
  return (context) => {
    const slack = requireSlack(deps);
    const headers = {
      timestamp: context.req.header('x-slack-request-timestamp') ?? '',
      signature: context.req.header('x-slack-signature') ?? '',
    };
    const why = whyMalformedSlack(headers, deps.now());
    if (why !== undefined) throw refuseClick(why);
    return deps.bodies.run(
      (reading) => readBytes(context, reading),
      async (body) => {
        if (!fitsSlack(slack.secrets, body, headers)) throw refuseClick('X-Slack-Signature does not match the body');
        if (!seen.take(headers.signature)) throw refuseClick('this request has arrived before');
        const payload = new URLSearchParams(Buffer.from(body).toString('utf8')).get('payload') ?? '';
        const given = parseJsonBody(payload, slackSchema);
        if (given.type === 'view_submission')
          return context.json(
            await submitDialog(deps, people.find(slack, given.user.id), given, context.req.raw.signal),
          );
        await openDialog(deps, people, slack, given);
        return context.body(null, 200);
      },
    );
  };
}

function requireSlack({ config: { slack = null } }: SlackDeps): SlackSettings {
  if (slack !== null && slack.secrets.length > 0) return slack;
  throw conveyorError('webhook-closed', { webhook: 'slack', variables: slack?.secretEnvs ?? [] });
}

const refuseClick = (why: string): Error => conveyorError('bad-signature', { webhook: 'slack', why });

async function openDialog(
  deps: SlackDeps,
  people: SlackPeople,
  slack: SlackSettings,
  { user, trigger_id: trigger, actions }: z.output<typeof clickSchema>,
): Promise<void> {
  const { token } = slack;
  const command = parseButton(actions[0]?.value ?? '');
  // Buttons that are links have no command.
  if (command === undefined) return;
  if (token === null) return deps.log('a click in Slack opens no dialog: the variable of slack.tokenEnv is not set');
  const person = await people.find(slack, user.id);
  const view = 'why' in person ? buildResultDialog(person.why) : buildReasonDialog(command);
  const call = { method: 'views.open', token, body: { trigger_id: trigger, view }, timeoutMs: OPEN_WITHIN_MS };
  if ((await callSlack(deps, call)) === undefined) deps.log('Slack opened no dialog for a click');
}

/** The view that Slack shows next. */
async function submitDialog(
  deps: SlackDeps,
  finding: ReturnType<SlackPeople['find']>,
  { view }: z.output<typeof submissionSchema>,
  signal: AbortSignal,
): Promise<object> {
  const command = parseButton(view.private_metadata);
  const reason = view.state.values[REASON_BLOCK]?.[REASON_INPUT]?.value?.trim() ?? '';
  if (command === undefined) return buildRefusal('this button is not one of Conveyor');
  if (reason === '') return buildRefusal('a reason is missing');
  const submit = async (): Promise<object> => {
    const person = await finding;
    if ('why' in person) return buildRefusal(person.why);
    const turn = () => deps.turns.run(command.id, () => give(deps, command, person.principal, reason));
    return deps.lane.run(turn, signal);
  };
  const late = { response_action: 'update', view: buildResultDialog(`It is under way: conveyor status ${command.id}`) };
  return Promise.race([submit(), sleep(ANSWER_WITHIN_MS, late, { ref: false })]);
}

async function give(
  { client, clientAs, log }: SlackDeps,
  { verb, id }: ButtonCommand,
  actor: string,
  reason: string,
): Promise<object> {
  const input = { actor, reason, ...(verb === 'pick' ? { approve: true } : {}) };
  try {
    rejectInvalidInput(unfitCommand(input));
    const caller = clientAs === undefined ? client : clientAs({ principal: actor, groups: [] });
    const { effect } = await caller.command(id, verb, input);
    return { response_action: 'update', view: buildResultDialog(`${id}: ${effect}`) };
  } catch (error) {
    if (error instanceof ConveyorError) return buildRefusal(error.message);
    log(`a command from Slack failed: ${String(error)}`);
    return buildRefusal('the command failed; the log of the server says why');
  }
}
