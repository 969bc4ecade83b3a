import type { Client } from '@temporalio/client';
import type { Artifact } from '../domain/artifact';
import { OFFER, whyCannotFind } from '../domain/finder/standard';
import type { FinderAnswer, FinderRefusal } from '../domain/finder/sweep';
import { formatOfferChange, isOfferFor, type Offer } from '../domain/offers/board';
import type { Subscription } from '../sdk/protocol/artifactFinder';
import { atOnce } from './atOnce';
import type { Clock } from './clock';
import { findOffered } from './offerBoards';

interface OfferFinderParts {
  readonly client: Client;
  readonly clock: Clock;
}

/** The clocks of Temporal, which dates a change, and of the worker may differ by this much. Within it, the same change is found again. */
const LATE_MS = 300_000;
const READS_AT_ONCE = 20;
const BOARD_TIMEOUT_MS = 10_000;

/**
 * The standard finder `offer`, which runs in the worker: a pipeline that takes an offer as an artifact gets a release with each change of it (µs
 * §5.3). It implements the method of the artifact finder protocol. Its cursor is a time.
 */
export async function findOfferChanges(
  parts: OfferFinderParts,
  { subscriptions, cursor }: { readonly subscriptions: readonly Subscription[]; readonly cursor?: string },
): Promise<FinderAnswer> {
  const now = await parts.clock.now();
  const since = Number(cursor ?? NaN);
  const valid = subscriptions.filter(({ with: wanted }) => whyCannotFind(OFFER, wanted) === undefined);
  const known = await readOffers(parts, new Set(valid.map(getSource)));
  const found: FinderAnswer['found'][number][] = [];
  const refused: FinderRefusal[] = [];
  for (const subscription of subscriptions) {
    const { pipeline, artifact } = subscription;
    const judged = judgeSubscription(known, subscription, since);
    if (judged === null) continue;
    if ('version' in judged) found.push({ pipeline, artifact: judged });
    else refused.push({ pipeline, artifact, ...judged });
  }
  return { found, cursor: String(now - LATE_MS), refused };
}

const getSource = ({ with: wanted }: Subscription): string => String(wanted['pipeline']);

/** The offers that are made, without their users, by pipeline; a text if they do not answer. */
type KnownOffers = ReadonlyMap<string, readonly Offer[] | string>;

async function readOffers({ client, clock }: OfferFinderParts, pipelines: ReadonlySet<string>): Promise<KnownOffers> {
  const known = new Map<string, readonly Offer[] | string>();
  await atOnce(READS_AT_ONCE, [...pipelines], async (pipeline) => {
    const deadline = (await clock.now()) + BOARD_TIMEOUT_MS;
    const read = client.withDeadline(deadline, async () => (await findOffered(client, pipeline))?.offers ?? []);
    known.set(pipeline, await read.catch(() => `the offers of ${pipeline} do not answer`));
  });
  return known;
}

/**
 * An offer that has changed since then as an artifact, or the reason why it cannot be one. Null if it has not, is not made, or is being withdrawn.
 */
function judgeSubscription(
  known: KnownOffers,
  subscription: Subscription,
  since: number,
): Artifact | Pick<FinderRefusal, 'message' | 'lasts'> | null {
  const { pipeline, artifact, with: wanted } = subscription;
  const wrong = whyCannotFind(OFFER, wanted);
  if (wrong !== undefined) return { message: wrong, lasts: true };
  const from = getSource(subscription);
  const offers = known.get(from) ?? [];
  if (typeof offers === 'string') return { message: offers };
  const offer = offers.find(({ name }) => name === wanted['offer']);
  if (offer === undefined || offer.withdrawing || Date.parse(offer.since) <= since) return null;
  return isOfferFor(offer, pipeline)
    ? toArtifact(artifact, from, offer)
    : { message: `${from} does not offer ${offer.name} to ${pipeline}`, lasts: true };
}

const toArtifact = (name: string, from: string, offer: Offer): Artifact => ({
  ...{ name, kind: 'offer', version: formatOfferChange(offer), producedBy: `${from}/${offer.release}` },
  metadata: { committedAt: offer.since },
});
