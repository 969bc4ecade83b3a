import type { SlackThread } from './slackApp';

/** Slack answers with status 200 whatever has happened. */
export type SlackAnswer =
  | { readonly kind: 'ok'; readonly thread: SlackThread | undefined }
  /** The message was deleted, or can no longer be changed. */
  | { readonly kind: 'gone' }
  /** Another try may succeed. */
  | { readonly kind: 'passing'; readonly why: string }
  | { readonly kind: 'refused'; readonly why: string };

const MESSAGE_GONE = ['message_not_found', 'cant_update_message', 'edit_window_closed', 'thread_not_found'];
const PASSING_ERRORS = [
  'ratelimited',
  'rate_limited',
  'internal_error',
  'fatal_error',
  'service_unavailable',
  'request_timeout',
];

export function readSlackAnswer(text: string | undefined): SlackAnswer {
  const answer = parseAnswer(text ?? '');
  if (answer === undefined) return { kind: 'passing', why: 'it did not answer as Slack does' };
  const { ok, error, channel, ts } = answer;
  if (ok === true) {
    const isNamed = typeof channel === 'string' && typeof ts === 'string' && /^\d+\.\d+$/.test(ts);
    return { kind: 'ok', thread: isNamed && channel.length <= LONGEST_ID ? { channel, ts } : undefined };
  }
  const said = typeof error === 'string' && /^[a-z_]{1,60}$/.test(error) ? error : 'no reason';
  if (MESSAGE_GONE.includes(said)) return { kind: 'gone' };
  return { kind: PASSING_ERRORS.includes(said) ? 'passing' : 'refused', why: `Slack refuses it: ${said}` };
}

const LONGEST_ID = 30;

function parseAnswer(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
