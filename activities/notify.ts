import { Context } from '@temporalio/activity';
import { conveyorError } from '../domain/errors';
import { cloudEvent, isSlack, slackMessage, type Notice } from '../domain/notify';
import { isAllowedHost } from '../domain/notifyHost';
import type { Fetch } from '../sdk/client';
import { keysFor, type Notifications } from '../sdk/notifications';
import type { Registry } from '../sdk/registry';
import { signatureHeaders } from '../sdk/signature';
import type { Clock } from './clock';
import { asFailure } from './failure';
import { fetchAt } from './fetchAt';
import { lookedAt } from './notifyTarget';

/** `url` is as the pipeline has it: an address, or `${NAME}` of a variable that holds one, perhaps with more after it. */
export interface NotifyRequest {
  readonly url: string;
  readonly event: Notice;
}

interface Ports {
  readonly clock: Clock;
  readonly notifications: Notifications;
  readonly fetch?: Fetch;
}

type Parts = Omit<Ports, 'notifications'> & { readonly registry: Pick<Registry, 'notifications'> };

export type NotifyActivities = ReturnType<typeof createNotifyActivities>;

export function createNotifyActivities({ registry, ...rest }: Parts) {
  /** All of one delivery by one configuration. */
  const now = (): Ports => ({ ...rest, notifications: registry.notifications });
  return {
    /**
     * Delivers one notice, at least once; receivers know a repetition by `webhook-id`. Addresses with secrets in them come
     * from this worker's environment and appear in no error.
     * @throws notification-refused (not retried), notification-undelivered
     */
    notify: ({ url, event }: NotifyRequest): Promise<void> =>
      asFailure(async () => {
        const ports = now();
        const { target, fetch } = await targetOf(url, ports);
        const request = await signed(ports, target, event);
        const { status } = await send(ports, fetch, url, request);
        if (status >= 200 && status < 300) return;
        const mayPass = status >= 500 || status === 408 || status === 429;
        const detail = `it answered with status ${status}`;
        throw conveyorError(mayPass ? 'notification-undelivered' : 'notification-refused', { url, detail });
      }),
  };
}

/** An address that the platform gave in a variable is its own choice; one that a pipeline wrote out is looked at, and no other one used. */
async function targetOf(url: string, ports: Ports): Promise<{ readonly target: URL; readonly fetch: Fetch }> {
  const { notifications } = ports;
  const target = addressOf(url, notifications);
  if (!isAllowedHost(target.hostname, notifications.allowed))
    throw conveyorError('notification-refused', {
      url,
      detail: 'egress.allow of conveyor.config.yaml does not list its host',
    });
  if (url.startsWith('${')) return { target, fetch: ports.fetch ?? fetch };
  const seen = await lookedAt(target, notifications.internal).catch((error: NodeJS.ErrnoException) => {
    throw conveyorError('notification-undelivered', { url, detail: error.code ?? error.message });
  });
  if ('why' in seen) throw conveyorError('notification-refused', { url, detail: seen.why });
  return { target, fetch: ports.fetch ?? fetchAt(seen.addresses) };
}

/**
 * A variable is the beginning of an address, so that nobody can have its value sent to another host.
 * @throws notification-refused
 */
function addressOf(url: string, { variables }: Notifications): URL {
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

async function signed({ clock, notifications }: Ports, target: URL, event: Notice): Promise<Request> {
  const slack = isSlack(target.hostname);
  const body = JSON.stringify(slack ? slackMessage(event) : cloudEvent(event));
  const atMs = await clock.now();
  return new Request(target, {
    method: 'POST',
    // An address that moved is for people to correct: what is signed goes where it was meant to.
    redirect: 'manual',
    body,
    headers: {
      'content-type': slack ? 'application/json' : 'application/cloudevents+json; charset=utf-8',
      ...signatureHeaders(keysFor(notifications, target), { id: event.id, atMs, body }),
    },
    signal: AbortSignal.any([Context.current().cancellationSignal, AbortSignal.timeout(notifications.timeoutMs)]),
  });
}

/** Only the code of what went wrong is told: messages of the network name the address. */
async function send(ports: Ports, ask: Fetch, url: string, request: Request): Promise<Response> {
  try {
    const response = await ask(request);
    await response.body?.cancel();
    return response;
  } catch (error) {
    const { name, cause } = error as { name?: string; cause?: { code?: unknown } };
    const detail =
      name === 'TimeoutError' ? `no answer within ${ports.notifications.timeoutMs} ms` : String(cause?.code ?? name);
    throw conveyorError('notification-undelivered', { url, detail });
  }
}
