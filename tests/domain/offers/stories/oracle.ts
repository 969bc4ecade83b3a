import type { Offer, OfferBoard, Use } from '../../../../domain/offers/board';
import { matchesAny } from '../../../../domain/pattern';
import type { WishSpec } from '../../../../domain/spec/offers';
import type { PipelineSpec } from '../../../../domain/spec/pipeline';

/** Offers and wishes, judged by rules of their own, so that a mistake of the product's is seen. */

/** A broken invariant of a story; `rule` is its number. */
export class Broken extends Error {
  constructor(rule: number, what: string) {
    super(`invariant ${rule}: ${what}`);
  }
}

export function must(rule: number, holds: boolean, what: () => string): void {
  if (!holds) throw new Broken(rule, what());
}

function isIn(version: string, range: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [first = 0, second] = range.replace(/^\D+/, '').split('.').map(Number);
  if (range.startsWith('>=')) return major > first || (major === first && minor >= (second ?? 0));
  return major === first && (range.startsWith('^') ? minor >= (second ?? 0) : second === undefined || minor === second);
}

/** The part of a value at `net.size`. */
export const findAt = (value: unknown, path: string): unknown =>
  path.split('.').reduce<unknown>((part, key) => (part as Record<string, unknown> | undefined)?.[key], value);

export interface UsedPart {
  readonly from: string;
  readonly offer: string;
  readonly path: string;
  /** The field of the configuration. */
  readonly key: string;
}

/** The parts of offers that the configuration of a deploy names. */
export function listUsedParts({ actions }: PipelineSpec, name: string): UsedPart[] {
  const action = actions[name];
  if (action?.type !== 'deploy') return [];
  return Object.entries(action.with.config as Record<string, unknown>).flatMap(([key, text]) => {
    const [, from, offer, path] = /^\$\{wishes\.(\w+)\.(\w+)\.([\w.]+)\}$/.exec(String(text)) ?? [];
    return from === undefined || offer === undefined || path === undefined ? [] : [{ from, offer, path, key }];
  });
}

export interface Wished extends Pick<WishSpec, 'from' | 'offer' | 'version'> {
  readonly paths: readonly string[];
}

export const listWished = (spec: PipelineSpec, name: string): Wished[] =>
  (spec.wishes ?? [])
    .filter((wish) => wish.for === undefined || wish.for.includes(name))
    .map((wish) => ({
      ...wish,
      paths: listUsedParts(spec, name).flatMap(({ from, offer, path }) =>
        from === wish.from && offer === wish.offer ? [path] : [],
      ),
    }));

export const doesFit = (
  { version, paths }: Pick<Wished, 'version' | 'paths'>,
  made: Pick<Offer, 'version' | 'value'>,
): boolean =>
  (version === undefined || (made.version !== undefined && isIn(made.version, version))) &&
  paths.every((path) => findAt(made.value, path) !== undefined);

/** Whether a deploy of a pipeline may begin with an offer of this board. */
export function isSatisfied(pipeline: string, wish: Wished, board: OfferBoard | null): boolean {
  const offer = board?.offers.find(({ name }) => name === wish.offer);
  if (!board || !offer || offer.withdrawing || offer.notMadeBy || !matchesAny(offer.to, pipeline)) return false;
  return !board.changes.some(({ offers }) => offers.includes(wish.offer)) && doesFit(wish, offer);
}

export interface PinnedUse extends Use {
  readonly user: string;
  readonly release: number;
}

export const listUses = ({ users }: Pick<OfferBoard, 'users'>): PinnedUse[] =>
  users.flatMap(({ user, pins }) =>
    pins.flatMap(({ release, uses }) => uses.map((use) => ({ ...use, user, release }))),
  );

export const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

/** A board in one line. */
export function describeBoard({ offers, users, changes }: OfferBoard): string {
  const made = offers.map(
    ({ name, version, seq, release, withdrawing, notMadeBy }) =>
      `${name} ${version}#${seq} by ${release}${withdrawing ? ' withdrawing' : ''}${notMadeBy ? `, not made by ${notMadeBy.release}` : ''}`,
  );
  const used = listUses({ users }).map(({ user, release, offer, seq }) => `${user}@${release} uses ${offer}#${seq}`);
  const changed = changes.map((one) => `${one.release}/${one.action} changes ${one.offers.join('+')}`);
  return [...made, ...used, ...changed].join(', ') || 'empty';
}
