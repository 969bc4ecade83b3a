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
import { sendRequest } from '../../sdk/request';
import type { SlackSettings } from '../../settings/slack';
import type { Bodies } from '../bodies';
import { parseJsonBody, readBytes, rejectInvalidInput } from '../body';
import type { ServerDeps } from '../deps';
import type { RequestGate } from '../gate';
import type { KeyedQueue } from '../turns';
import { fitsSlack, SeenSignatures, whyMalformedSlack } from './slackSignature';

interface SlackDeps extends Pick<ServerDeps, 'client' | 'clientAs' | 'config' | 'now' | 'log' | 'slackFetch'> {
  /** The queue for commands of known callers. */
  readonly lane: RequestGate;
  readonly bodies: Bodies;
  readonly turns: KeyedQueue;
}

/** Slack waits for three seconds. */
const ANSWER_WITHIN_MS = 2_500;

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
 * Clicks on buttons in messages of Slack: a dialog asks for the reason, and its submission is a command of the principal to whom the settings map the
 * user. The guard decides as for any caller, and the person sees its refusal.
 */
export function slackHandler(deps: SlackDeps): SlackHandler {
  const seen = new SeenSignatures(() => deps.now());
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
          return context.json(await submitDialog(deps, slack, given, context.req.raw.signal));
        await openDialog(deps, slack, given);
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

const describeStranger = (user: string): string =>
  `Conveyor does not know who ${user} is: an admin adds the id to slack.users of conveyor.config.yaml`;

/** Slack gets the dialog with the trigger of the click, which is good for three seconds. */
async function openDialog(
  { log, slackFetch }: SlackDeps,
  { token, users }: SlackSettings,
  { user, trigger_id: trigger, actions }: z.output<typeof clickSchema>,
): Promise<void> {
  const command = parseButton(actions[0]?.value ?? '');
  // Buttons that are links have no command.
  if (command === undefined) return;
  if (token === null) return log('a click in Slack opens no dialog: the variable of slack.tokenEnv is not set');
  const isKnown = Object.hasOwn(users, user.id);
  const view = isKnown ? buildReasonDialog(command) : buildResultDialog(describeStranger(user.id));
  const request = new Request('https://slack.com/api/views.open', {
    method: 'POST',
    headers: { 'content-type': 'application/json; charset=utf-8', authorization: `Bearer ${token}` },
    body: JSON.stringify({ trigger_id: trigger, view }),
  });
  const options = { timeoutMs: ANSWER_WITHIN_MS, maxBytes: 65_536, ...(slackFetch ? { fetch: slackFetch } : {}) };
  const answer = await sendRequest(request, {}, options).catch(() => undefined);
  if (!isOk(answer?.text)) log('Slack opened no dialog for a click');
}

/** Slack answers with status 200, whatever has happened. */
function isOk(text = ''): boolean {
  try {
    return (JSON.parse(text) as { readonly ok?: unknown } | null)?.ok === true;
  } catch {
    return false;
  }
}

/** The view that Slack shows next. */
async function submitDialog(
  deps: SlackDeps,
  { users }: SlackSettings,
  { user, view }: z.output<typeof submissionSchema>,
  signal: AbortSignal,
): Promise<object> {
  const command = parseButton(view.private_metadata);
  const actor = Object.hasOwn(users, user.id) ? users[user.id] : undefined;
  const reason = view.state.values[REASON_BLOCK]?.[REASON_INPUT]?.value?.trim() ?? '';
  if (actor === undefined) return buildRefusal(describeStranger(user.id));
  if (command === undefined) return buildRefusal('this button is not one of Conveyor');
  if (reason === '') return buildRefusal('a reason is missing');
  const done = deps.lane.run(() => deps.turns.run(command.id, () => give(deps, command, actor, reason)), signal);
  const late = { response_action: 'update', view: buildResultDialog(`It is under way: conveyor status ${command.id}`) };
  return Promise.race([done, sleep(ANSWER_WITHIN_MS, late, { ref: false })]);
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
