import { makeOffers, NO_OFFERS, pinOffers, unpinOffers, type OfferBoard } from '../../domain/offers/board';
import { packBoard, unpackBoard } from '../../domain/offers/packedBoard';
import { refusePin } from '../../domain/offers/pinRefusal';
import { hideUsers } from '../../domain/offers/readBoard';
import type { ValueSchema } from '../../domain/offers/schema';
import { OFFER_LIMITS } from '../../domain/limits';
import { jsonBytes } from '../../domain/size';
import { plural } from '../../domain/text';
import { median } from '../actions';
import { print } from '../stack';
import { placeOffer, type PrintRow } from './pipelines';

/** The state of offers with many users, by itself: its size, and the processor time of each message and answer. No server takes part. */
export function measureBoard(counts: readonly number[]): void {
  for (const count of counts) {
    print(listRows(plural(count, 'user'), givenUsers(count, 1)));
    print(listRows(`${plural(count, 'user')}, all of which deploy`, givenUsers(count, 2)));
  }
  const most = findMost();
  print(listRows(`${plural(most, 'user')}, each with another schema of 2 kB`, givenUsers(most, 1, buildSchema)));
}

const AT = '2026-11-23T17:00:00.000Z';
const made = (board: OfferBoard, release: number, version: string): OfferBoard => {
  const offer = { ...placeOffer(version), value: placeOffer().value ?? {}, to: ['*'] };
  return makeOffers(board, { release, action: 'deploy', made: [offer], declared: [offer.name] }, AT);
};

const nameUser = (nth: number): string => `team-${nth}/deploy`;

/** @param buildSchema of the wish of a user; without it, all wish alike */
function givenUsers(count: number, pins: number, buildSchema?: (nth: number) => ValueSchema): OfferBoard {
  const board = made(NO_OFFERS, 1, '1.0.0');
  const [offer] = board.offers;
  const use = { offer: offer?.name ?? '', seq: 1, version: '^1', paths: ['region'] };
  const users = Array.from({ length: count }, (_, nth) => {
    const uses = [buildSchema ? { ...use, schema: buildSchema(nth) } : use];
    return { user: nameUser(nth), pins: Array.from({ length: pins }, (_, n) => ({ release: 141 + n, uses })) };
  });
  return { ...board, users: users.sort((a, b) => (a.user < b.user ? -1 : 1)) };
}

const buildSchema = (nth: number): ValueSchema => ({
  type: 'object',
  required: Array.from({ length: 150 }, (_, at) => `key-${at}-${nth}`),
});

/** The largest number of users with a schema of their own. */
function findMost(): number {
  const isIn = (count: number): boolean =>
    jsonBytes(packBoard(givenUsers(count, 1, buildSchema))) <= OFFER_LIMITS.board.max;
  let most = 1;
  while (isIn(most + 1)) most += 1;
  return most;
}

function listRows(title: string, board: OfferBoard): PrintRow[] {
  const packed = packBoard(board);
  const bytes = jsonBytes(packed);
  const nth = Math.floor(board.users.length / 2);
  const pin = { user: nameUser(nth), release: 200, uses: board.users[nth]?.pins[0]?.uses ?? [] };
  const time = (work: () => unknown): string => `${timeMs(work).toFixed(2)} ms`;
  return [
    [title, `${bytes} bytes, ${((100 * bytes) / OFFER_LIMITS.board.max).toFixed(1)}% of the limit`],
    ['… each for itself, as earlier builds carried it', `${jsonBytes(board)} bytes`],
    ['… answer to a deploy that wishes', `${jsonBytes(hideUsers(board))} bytes, ${time(() => hideUsers(board))}`],
    [
      '… processor time of a pin: check, change',
      `${time(() => refusePin(board, pin))}, ${time(() => pinOffers(board, pin))}`,
    ],
    ['… of its end', time(() => unpinOffers(board, { user: pin.user, release: 141, runs: 'nowhere' }))],
    ['… of a new version', time(() => made(board, 2, '1.1.0'))],
    ['… of packing, unpacking', `${time(() => jsonBytes(packBoard(board)))}, ${time(() => unpackBoard(packed))}`],
  ];
}

const [WARM, SAMPLES] = [5, 21];

/** The median of the processor time, which other processes disturb less than the time. */
function timeMs(work: () => unknown): number {
  const samples = Array.from({ length: WARM + SAMPLES }, () => {
    const from = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(from);
    return (user + system) / 1_000;
  });
  return median(samples.slice(WARM));
}
