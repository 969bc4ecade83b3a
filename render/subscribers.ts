import type { KnownSubscribers, KnownSignatures } from '../configerator/subscriptions';
import type { Exposure, Subscription } from '../configerator/domain/subscriptions';
import { parseId, releaseId } from '../domain/ids';
import { conjugate, plural } from '../domain/text';
import { foldAll, paint, type View } from './paint';
import { renderSignatures } from './signatures';
import { clock } from './times';

type SubscriberTally = Exclude<KnownSubscribers, { readonly unknown: string }>;

/** The subscribers of values, by their paths. */
export type SubscribersByPath = Readonly<Record<string, KnownSubscribers>>;

/** The subscribers of each value, with those that have a wrong one. */
export function renderSubscribers(subscribers: SubscribersByPath, view: View): readonly string[] {
  const colors = paint(view.color);
  const lines = Object.entries(subscribers).flatMap(([path, known]) => {
    if ('unknown' in known) return [colors.yellow(`the subscribers of ${path} are unknown: ${known.unknown}`)];
    const { total, committed, overridden, refused, stale, named, exposed } = known;
    const signed = renderSignatures(path, known.signatures, view);
    const exposures = exposed.map((one) => `  ${exposure(one)}`);
    if (total === 0) return [...signed, `no host subscribes to ${path}`, ...exposures];
    const counts = `${committed} with the committed value, ${overridden} with an override, ${refused} that ${conjugate(refused, 'refuse')}, ${stale} stale`;
    return [
      ...signed,
      `${plural(total, 'host')} ${conjugate(total, 'subscribe')} to ${path}: ${counts}`,
      ...renderUnverified(known),
      ...exposures,
      ...named.map((one) => `  ${colors.red('✗')} ${stateText(one, view)}`),
    ];
  });
  return foldAll(lines, view);
}

/** For signed values: hosts that may serve a forged value for a while. An older server does not count them. */
function renderUnverified({ signatures, unverified }: Partial<SubscriberTally>): readonly string[] {
  const isSigned = signatures !== undefined && !['unsigned', 'absent'].includes(signatures.state);
  return isSigned && unverified
    ? [`  ${plural(unverified, 'host')} may take values unverified (config-proxy --trust)`]
    : [];
}

/** A value on a host. */
export interface HostFacts {
  readonly path: string;
  readonly host: string;
  readonly subscription: Subscription | null;
  readonly value: string | null;
  readonly unknown: string | null;
  readonly signatures?: KnownSignatures | null;
  readonly branch: { readonly commit: string | null; readonly value: string } | null;
}

/** The value of a host; if unknown, that of the branch. */
export function renderHost(
  { path, host, subscription, value, unknown, signatures, branch }: HostFacts,
  view: View,
): readonly string[] {
  const colors = paint(view.color);
  if (subscription === null)
    return [
      colors.yellow(`the value of ${path} on ${host} is unknown: ${unknown}`),
      `the branch has, by ${branch?.commit?.slice(0, 12)}`,
      branch?.value.trimEnd() ?? '',
    ];
  const text = value?.trimEnd() ?? (subscription.version === '' ? 'no value' : `version ${subscription.version}`);
  return [stateText(subscription, view), ...renderSignatures(path, signatures ?? undefined, view), text];
}

/** `web-3 refuses the override 12@1a2b… since 09:00:00: too low` */
function stateText(subscription: Subscription, view: View): string {
  const { host, state, revision, commit, since, refused, loading } = subscription;
  const what = revision === null ? `the commit ${commit?.slice(0, 12) ?? 'none'}` : `the override ${shortly(revision)}`;
  const does = { committed: 'has', overridden: 'has', refused: 'refuses', stale: 'still has' }[state];
  const why = refused ?? (loading === null ? undefined : `it is not used yet: ${loading}`);
  return `${host} ${does} ${what} since ${clock(since, view)}${why === undefined ? '' : `: ${why}`}`;
}

function exposure({ deploy, revision }: Exposure): string {
  const id = parseId(deploy);
  const back = id?.kind === 'action' ? `; conveyor revert ${releaseId(id.pipeline, id.number)} takes it back` : '';
  return `the override ${shortly(revision)} comes from ${deploy}${back}`;
}

/** `12@1a2b3c4d5e6f` */
const shortly = (revision: string): string => revision.replace(/@([0-9a-f]{12})[0-9a-f]*$/, '@$1');
