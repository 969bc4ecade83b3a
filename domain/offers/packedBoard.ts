import { jsonBytes } from '../size';
import type { OfferBoard, OfferUser, Pin, Use } from './board';

/**
 * A board as its workflow carries and answers it. Most users of an offer have the same wish, so each different wish is written once, and users name it
 * by its place in the list: ten thousand users take a third of a megabyte.
 */
export interface PackedBoard extends Omit<OfferBoard, 'users'> {
  readonly uses: readonly PackedUse[];
  readonly users: readonly PackedUser[];
}

type PackedUse = Omit<Use, 'seq'>;

/** `["auth/deploy", [12, 0, 4]]`: release 12 of `auth/deploy` uses the first of the uses, with the offer's `seq` 4. */
type PackedUser = readonly [user: string, ...pins: readonly PackedPin[]];
type PackedPin = readonly [by: PackedRelease, ...uses: readonly number[]];
/** A release, or a release and its place. */
type PackedRelease = number | readonly [release: number, place: number];

export function packBoard({ users, ...rest }: OfferBoard): PackedBoard {
  const table = new UseTable();
  const packed = users.map(({ user, pins }): PackedUser => {
    const row: [string, ...PackedPin[]] = [user];
    for (const pin of pins) row.push(packPin(pin, table));
    return row;
  });
  return { ...rest, uses: table.uses, users: packed };
}

function packPin({ release, place, uses }: Pin, table: UseTable): PackedPin {
  const by = place === undefined ? release : ([release, place] as const);
  const packed: [PackedRelease, ...number[]] = [by];
  for (const use of uses) packed.push(table.findIndex(use), use.seq);
  return packed;
}

/** The different uses. Users share them in memory, too, so nearly all are known by identity. */
class UseTable {
  readonly uses: PackedUse[] = [];
  private readonly known = new Map<Use, number>();
  private readonly written = new Map<string, number>();

  findIndex(use: Use): number {
    const known = this.known.get(use);
    if (known !== undefined) return known;
    const { seq: _, ...rest } = use;
    const text = JSON.stringify(rest);
    const index = this.written.get(text) ?? this.uses.push(rest) - 1;
    this.written.set(text, index);
    this.known.set(use, index);
    return index;
  }
}

/** A board that was packed, or written before boards were packed. Equal uses are one object. */
export function unpackBoard(board: OfferBoard | PackedBoard): OfferBoard {
  if (!('uses' in board)) return board;
  const { uses, users, ...rest } = board;
  const shared = new Map<string, Use>();
  const findUse = (index: number, seq: number): Use => {
    const key = `${index} ${seq}`;
    const use = shared.get(key) ?? { ...(uses[index] as PackedUse), seq };
    shared.set(key, use);
    return use;
  };
  return { ...rest, users: users.map((user) => unpackUser(user, findUse)) };
}

type FindUse = (index: number, seq: number) => Use;

function unpackUser(row: PackedUser, findUse: FindUse): OfferUser {
  const [user, ...pins] = row;
  return { user, pins: pins.map((pin) => unpackPin(pin, findUse)) };
}

function unpackPin(pin: PackedPin, findUse: FindUse): Pin {
  const uses: Use[] = [];
  for (let at = 1; at < pin.length; at += 2) uses.push(findUse(pin[at] as number, pin[at + 1] as number));
  return { ...unpackRelease(pin[0]), uses };
}

const unpackRelease = (by: PackedRelease) =>
  typeof by === 'number' ? { release: by } : { release: by[0], place: by[1] };

/** Bytes of a packed board, counted without packing it: each pin asks for them. */
export function countBytes({ users, ...rest }: OfferBoard): number {
  const table = new UseTable();
  let bytes = Math.max(0, users.length - 1);
  for (const { user, pins } of users) {
    bytes += 4 + user.length;
    for (const pin of pins) bytes += 1 + countPin(pin, table);
  }
  return bytes + jsonBytes({ ...rest, uses: table.uses, users: [] });
}

function countPin({ release, place, uses }: Pin, table: UseTable): number {
  let bytes = 2 + countDigits(release) + (place === undefined ? 0 : 3 + countDigits(place));
  for (const use of uses) bytes += 2 + countDigits(table.findIndex(use)) + countDigits(use.seq);
  return bytes;
}

function countDigits(count: number): number {
  let digits = 1;
  for (let next = 10; next <= count; next *= 10) digits += 1;
  return digits;
}
