import { Context } from '@temporalio/activity';
import { joinWords } from '../domain/text';
import { conveyorError } from '../domain/errors';
import type { Format } from '../domain/notify/format';
import { FORMAT_NAMES, formatFor, type FormatName } from '../domain/notify/formats';
import type { Notice } from '../domain/notify/notice';
import { isAllowedHost } from '../domain/notifyHost';
import { NoAnswer, sendRequest, type Fetch, type HttpAnswer } from '../sdk/request';
import { keysFor, type Notifications } from '../settings/notifications';
import type { Registry } from '../settings/registry';
import { signatureHeaders } from '../settings/signature';
import type { Clock } from './clock';
import { asFailure } from './failure';
import { fetchAt } from './fetchAt';
import { resolveHost } from './notifyTarget';

/** The address as the pipeline has it: a URL, or `${NAME}` of a variable that holds one, perhaps with a path after it. */
export interface NotifyRequest {
  readonly url: string;
  /** The format as the pipeline has it; without one, the host decides. */
  readonly format?: FormatName | undefined;
  readonly event: Notice;
}

interface NotifyPorts {
  readonly clock: Clock;
  readonly notifications: Notifications;
  readonly fetch?: Fetch;
}

type NotifyParts = Omit<NotifyPorts, 'notifications'> & { readonly registry: Pick<Registry, 'notifications'> };

export type NotifyActivities = ReturnType<typeof createNotifyActivities>;

export function createNotifyActivities({ registry, ...rest }: NotifyParts) {
  /** One delivery uses one configuration throughout. */
  const now = (): NotifyPorts => ({ ...rest, notifications: registry.notifications });
  return {
    /**
     * Delivers one notice, at least once; receivers recognise a repetition by `webhook-id`. Addresses with secrets in them come
     * from this worker's environment and appear in no error.
     * @throws notification-refused (not retried), notification-undelivered
     */
    notify: ({ url, format, event }: NotifyRequest): Promise<void> =>
      asFailure(async () => {
        const ports = now();
        const { target, fetch } = await resolveTarget(url, ports);
        const request = await buildSignedRequest(ports, target, requireFormat(url, target, format), event);
        const { status } = await postNotice(ports, fetch, url, request);
        if (status >= 200 && status < 300) return;
        const mayPass = status >= 500 || status === 408 || status === 429;
        const detail = `it answered with status ${status}`;
        throw conveyorError(mayPass ? 'notification-undelivered' : 'notification-refused', { url, detail });
      }),
  };
}

/** An address from a variable is the choice of the platform. An address that a pipeline wrote out is checked, and no other one is used. */
async function resolveTarget(
  url: string,
  ports: NotifyPorts,
): Promise<{ readonly target: URL; readonly fetch: Fetch }> {
  const { notifications } = ports;
  const target = expandAddress(url, notifications);
  if (!isAllowedHost(target.hostname, notifications.allowed))
    throw conveyorError('notification-refused', {
      url,
      detail: 'egress.allow of conveyor.config.yaml does not list its host',
    });
  if (url.startsWith('${')) return { target, fetch: ports.fetch ?? fetch };
  const seen = await resolveHost(target, notifications.internal).catch((error: NodeJS.ErrnoException) => {
    throw conveyorError('notification-undelivered', { url, detail: error.code ?? error.message });
  });
  if ('why' in seen) throw conveyorError('notification-refused', { url, detail: seen.why });
  return { target, fetch: ports.fetch ?? fetchAt(seen.addresses) };
}

/**
 * A variable is allowed only at the start of an address, so that its value cannot be sent to another host.
 * @throws notification-refused
 */
function expandAddress(url: string, { variables }: Notifications): URL {
  const refused = (detail: string) => conveyorError('notification-refused', { url, detail });
  const [, name, rest = ''] = /^\$\{(\w+)\}([/?].*)?$/.exec(url) ?? [];
  if (name === undefined && url.includes('${'))
    throw refused('a variable stands at the beginning of an address, and a path or query may follow');
  if (name !== undefined && !Object.hasOwn(variables, name))
    throw refused(`notifications.env of conveyor.config.yaml does not list ${name}`);
  const base = name === undefined ? url : variables[name];
  if (!base) throw refused(`${name} is not set on the worker`);
  const address = URL.canParse(`${base}${rest}`) ? new URL(`${base}${rest}`) : null;
  if (address === null || !/^https?:$/.test(address.protocol)) throw refused('it is not an http or https address');
  if (address.username !== '' || address.password !== '') throw refused('it has a name or password in it');
  return address;
}

/** @throws notification-refused */
function requireFormat(url: string, { hostname }: URL, name: FormatName | undefined): Format {
  const format = formatFor(hostname, name);
  if (format !== undefined) return format;
  const detail = `this worker does not know the format ${name}, only ${joinWords(FORMAT_NAMES, 'and')}`;
  throw conveyorError('notification-refused', { url, detail });
}

async function buildSignedRequest(
  { clock, notifications }: NotifyPorts,
  target: URL,
  format: Format,
  event: Notice,
): Promise<Request> {
  const body = JSON.stringify(format.body(event));
  const atMs = await clock.now();
  return new Request(target, {
    method: 'POST',
    // People have to correct an address that has moved: a signed message goes only to its intended receiver.
    redirect: 'manual',
    body,
    headers: {
      'content-type': format.contentType,
      ...signatureHeaders(keysFor(notifications, target), { id: event.id, atMs, body }),
    },
  });
}

/** Reports only the code of an error, because messages of the network name the address. */
async function postNotice(ports: NotifyPorts, ask: Fetch, url: string, request: Request): Promise<HttpAnswer> {
  const { timeoutMs } = ports.notifications;
  const signal = Context.current().cancellationSignal;
  try {
    return await sendRequest(request, {}, { fetch: ask, timeoutMs, signal, maxBytes: 0 });
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error;
    throw conveyorError('notification-undelivered', { url, detail: error.isLate ? error.message : error.code });
  }
}
