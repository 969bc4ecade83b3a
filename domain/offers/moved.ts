import { OFFER_LIMITS } from '../limits';
import type { PipelineSpec } from '../spec/pipeline';
import { plural } from '../text';
import { isBoardEmpty, type OfferBoard } from './board';
import { describeOffer } from './judge';

type KnownBoards = ReadonlyMap<string, OfferBoard | null>;

/**
 * The offers of a pipeline, with their users, when its records were exported; for people. An import brings neither: a value is that of a fleet, and
 * another Temporal may stand for another fleet. There, a deploy makes the offers, and a deploy that begins with them is a user.
 */
export interface ExportedOffers {
  /** `vpc 2.3.0` */
  readonly made: readonly string[];
  /** `shop/deploy` */
  readonly users: readonly string[];
  /** The number of other users. */
  readonly more: number;
}

/** Undefined if there are none. */
export function listExported(board: OfferBoard | null): ExportedOffers | undefined {
  if (board === null || isBoardEmpty(board)) return undefined;
  const { max } = OFFER_LIMITS.exported;
  const users = board.users.map(({ user }) => user);
  return { made: board.offers.map(describeOffer), users: users.slice(0, max), more: Math.max(0, users.length - max) };
}

/** The highest number of a release of the pipeline itself that its offers know; 0 if there is none. Later ones must not have lower numbers. */
export const findNewestRelease = ({ offers, changes, removed = [], newest = [] }: OfferBoard): number =>
  Math.max(
    0,
    ...[...changes, ...removed, ...newest].map(({ release }) => release),
    ...offers.flatMap(({ release, notMadeBy, changedBy }) => [release, notMadeBy?.release ?? 0, changedBy ?? 0]),
  );

/** The records of a pipeline that are imported. */
interface MovedPipeline {
  readonly pipeline: string;
  readonly spec: Pick<PipelineSpec, 'offers'>;
  /** By deploy action: the pipelines whose offers its versions may use. */
  readonly uses?: Readonly<Record<string, readonly string[]>>;
  readonly offers?: ExportedOffers;
}

/** The largest number of users that a note names. */
const NAMED_USERS = 10;

/**
 * The facts about offers that an import does not bring, in words. None if this Temporal knows the offers of the pipeline.
 * @param boards those of the pipeline itself, and of the pipelines whose offers its deploys may use
 */
export function describeMove(
  { pipeline, spec, uses = {}, offers }: MovedPipeline,
  boards: KnownBoards,
): readonly string[] {
  const own = boards.get(pipeline) ?? null;
  const isKnown = own !== null && !isBoardEmpty(own);
  const declared = (spec.offers ?? []).map(describeOffer);
  return [
    ...(isKnown || declared.length === 0
      ? []
      : [`its offers are not made here (${declared.join(', ')}): deploys that wish for them wait for its next deploy`]),
    ...(isKnown || offers === undefined ? [] : noteUsers(offers)),
    ...Object.entries(uses).flatMap(([action, from]) => noteUnknownUser(`${pipeline}/${action}`, from, boards)),
  ];
}

function noteUsers({ users, more }: ExportedOffers): string[] {
  if (users.length + more === 0) return [];
  const others = more + Math.max(0, users.length - NAMED_USERS);
  const named = `${users.slice(0, NAMED_USERS).join(', ')}${others > 0 ? ` and ${others} more` : ''}`;
  return [
    `${plural(users.length + more, 'deploy')} used its offers where the file was written, and no change waits for them here until they deploy again: ${named}`,
  ];
}

function noteUnknownUser(user: string, from: readonly string[], boards: KnownBoards): string[] {
  const unlisted = from.filter((name) => boards.get(name)?.users.every((one) => one.user !== user) ?? true);
  return unlisted.length === 0
    ? []
    : [`${user} may use offers of ${unlisted.join(', ')}, which do not know it as a user here until it deploys again`];
}
