import { conveyorError } from '../domain/errors';
import type { Format } from '../domain/notify/format';
import { FORMAT_NAMES, formatFor } from '../domain/notify/formats';
import { isAllowedHost } from '../domain/notifyHost';
import { joinWords } from '../domain/text';
import type { Fetch } from '../sdk/request';
import { toSigningKey } from '../settings/secrets';
import type { MailAccount } from '../settings/mailAccount';
import { keysFor, type NamedReceiver, type Notifications } from '../settings/notifications';
import { fetchAt } from './fetchAt';
import { resolveHost } from './notifyTarget';

/** The receiver of a notice as the pipeline has it. */
export interface WrittenReceiver {
  /** A URL, or `${NAME}` of a variable that holds one, perhaps with a path after it. */
  readonly url?: string | undefined;
  /** The format of an address; without one, its host decides. */
  readonly format?: string | undefined;
  /** The name of a receiver of the settings, instead of an address. */
  readonly to?: string | undefined;
}

/** A receiver that a request can be sent to. */
export interface NoticeReceiver {
  readonly target: URL;
  readonly format: Format;
  /** The key of its service; empty if that wants none. */
  readonly key: string;
  /** The keys that sign its deliveries. */
  readonly signingKeys: readonly Buffer[];
  readonly fetch: Fetch;
  /** The channel of an app in Slack. */
  readonly channel?: string;
  /** The mailbox of a receiver of mails. */
  readonly mail?: MailAccount;
}

interface ReceiverPorts {
  readonly notifications: Notifications;
  readonly fetch?: Fetch;
}

/** @throws notification-refused, notification-undelivered */
export async function findReceiver(written: WrittenReceiver, ports: ReceiverPorts): Promise<NoticeReceiver> {
  const { url = '', to } = written;
  const receiver = to === undefined ? toAddress(url, written, ports) : toNamedReceiver(to, ports);
  requireAllowedReceiver(written, receiver.target, ports);
  if (to !== undefined || url.startsWith('${')) return receiver;
  return { ...receiver, fetch: ports.fetch ?? (await pinFetch(url, receiver.target, ports)) };
}

/** The address of a schedule, under the rules of receivers. @throws notification-refused, notification-undelivered */
export async function findSchedule(
  url: string,
  ports: ReceiverPorts,
  maxBytes: number,
): Promise<Pick<NoticeReceiver, 'target' | 'fetch'>> {
  const target = expandAddress(url, ports.notifications);
  requireAllowedReceiver({ url }, target, ports);
  const isPlatforms = url.startsWith('${');
  return { target, fetch: ports.fetch ?? (isPlatforms ? fetch : await pinFetch(url, target, ports, maxBytes)) };
}

/** An address that a pipeline wrote out is checked, and no other one is used. Those in variables are the choice of the platform. */
async function pinFetch(url: string, target: URL, { notifications }: ReceiverPorts, maxBytes = 0): Promise<Fetch> {
  const seen = await resolveHost(target, notifications.internal).catch((error: NodeJS.ErrnoException) => {
    throw conveyorError('notification-undelivered', { url, detail: error.code ?? error.message });
  });
  if ('why' in seen) throw refuseReceiver({ url }, seen.why);
  return fetchAt(seen.addresses, maxBytes);
}

function requireAllowedReceiver(written: WrittenReceiver, { hostname }: URL, { notifications }: ReceiverPorts): void {
  if (isAllowedHost(hostname, notifications.allowed)) return;
  throw refuseReceiver(written, 'egress.allow of conveyor.config.yaml does not list its host');
}

function toAddress(url: string, written: WrittenReceiver, ports: ReceiverPorts): NoticeReceiver {
  const target = expandAddress(url, ports.notifications);
  const format = requireFormat(written, target, written.format);
  const lacks = format.needsKey
    ? 'its service wants a key'
    : format.needsMailbox
      ? 'a mail needs recipients'
      : undefined;
  if (lacks !== undefined)
    throw refuseReceiver(written, `${lacks}: name a receiver of notifications.receivers with to`);
  return { target, format, key: '', signingKeys: keysFor(ports.notifications, target), fetch: ports.fetch ?? fetch };
}

function toNamedReceiver(to: string, { notifications, ...ports }: ReceiverPorts): NoticeReceiver {
  const known = notifications.named.find(({ name }) => name === to);
  if (known === undefined)
    throw refuseReceiver({ to }, 'notifications.receivers of conveyor.config.yaml has no receiver of that name');
  if (known.url === null || known.key === null)
    throw refuseReceiver(
      { to },
      `the variable of its ${known.url === null ? 'address' : 'key'} is not set on the worker`,
    );
  const target = parseReceiverAddress(known.url, { to }, known.mail === undefined ? WEB_PROTOCOL : MAIL_PROTOCOL);
  const format = requireFormat({ to }, target, known.format);
  return {
    target,
    format,
    key: known.key ?? '',
    signingKeys: listSigningKeys(known, target, notifications),
    fetch: ports.fetch ?? fetch,
    ...(known.channel === undefined ? {} : { channel: known.channel }),
    ...(known.mail === undefined ? {} : { mail: known.mail }),
  };
}

/** A service with a key of its own gets no signature: it would not check it. */
function listSigningKeys(known: NamedReceiver, target: URL, notifications: Notifications): readonly Buffer[] {
  if (known.key !== undefined) return [];
  return known.secrets.length > 0 ? known.secrets.map(toSigningKey) : keysFor(notifications, target);
}

/** A variable is allowed only at the start of an address, so that its value cannot be sent to another host. */
function expandAddress(url: string, { variables }: Notifications): URL {
  const [, name, rest = ''] = /^\$\{(\w+)\}([/?].*)?$/.exec(url) ?? [];
  if (name === undefined && url.includes('${'))
    throw refuseReceiver({ url }, 'a variable stands at the beginning of an address, and a path or query may follow');
  if (name !== undefined && !Object.hasOwn(variables, name))
    throw refuseReceiver({ url }, `notifications.env of conveyor.config.yaml does not list ${name}`);
  const base = name === undefined ? url : variables[name];
  if (!base) throw refuseReceiver({ url }, `${name} is not set on the worker`);
  return parseReceiverAddress(`${base}${rest}`, { url });
}

const WEB_PROTOCOL = { test: /^https?:$/, words: 'an http or https address' };
const MAIL_PROTOCOL = { test: /^smtps?:$/, words: 'an smtp or smtps address' };

function parseReceiverAddress(text: string, written: WrittenReceiver, protocol = WEB_PROTOCOL): URL {
  const address = URL.canParse(text) ? new URL(text) : null;
  if (address === null || !protocol.test.test(address.protocol))
    throw refuseReceiver(written, `it is not ${protocol.words}`);
  if (address.username !== '' || address.password !== '')
    throw refuseReceiver(written, 'it has a name or password in it');
  return address;
}

function requireFormat(written: WrittenReceiver, { hostname }: URL, name: string | undefined): Format {
  const format = formatFor(hostname, name);
  if (format !== undefined) return format;
  throw refuseReceiver(written, `this worker does not know the format ${name}, only ${joinWords(FORMAT_NAMES, 'and')}`);
}

const refuseReceiver = ({ url, to }: WrittenReceiver, detail: string): Error =>
  conveyorError('notification-refused', { url, to, detail });
