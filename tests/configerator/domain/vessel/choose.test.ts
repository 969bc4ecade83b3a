import fc from 'fast-check';
import { hasBit, noBits, setBit, type Bits } from '../../../../configerator/domain/vessel/bits';
import { nextAsk, type Distance, type Peer, type Swarm } from '../../../../configerator/domain/vessel/choose';

const bitsOf = (pieces: number, there: readonly number[]): Bits => {
  const bits = noBits(pieces);
  for (const piece of there) setBit(bits, piece, true);
  return bits;
};

const peer = (id: string, distance: Distance, there: readonly number[], rest: Partial<Peer> = {}): Peer => ({
  ...{ id, distance, has: bitsOf(8, there), asked: 0, restsUntil: 0 },
  ...rest,
});

const swarm = (peers: readonly Peer[], rest: Partial<Swarm> = {}): Swarm => ({
  ...{ pieces: 8, mine: noBits(8), asking: new Map(), seed: 1, peers },
  ...rest,
});

const NOW = 10_000;

test.each<[string, readonly Peer[], Partial<Swarm>, unknown]>([
  ['nobody has anything', [peer('a', 0, [])], {}, undefined],
  ['the host has all', [peer('a', 0, [1])], { mine: bitsOf(8, [1]) }, undefined],
  ['the rarest first', [peer('a', 0, [1, 2]), peer('b', 0, [1])], {}, { piece: 2, peer: 'a' }],
  ['the same rack before the region', [peer('a', 1, [1]), peer('b', 0, [1])], {}, { piece: 1, peer: 'b' }],
  ['the region before others', [peer('a', 2, [1]), peer('b', 1, [1])], {}, { piece: 1, peer: 'b' }],
  ['anybody before the source', [peer('s', 3, [1]), peer('a', 2, [1])], {}, { piece: 1, peer: 'a' }],
  ['what the source alone has', [peer('s', 3, [1, 2]), peer('a', 0, [1])], {}, { piece: 2, peer: 's' }],
  ['not who rests', [peer('a', 0, [1], { restsUntil: NOW + 1 }), peer('b', 2, [1])], {}, { piece: 1, peer: 'b' }],
  ['who rested', [peer('a', 0, [1], { restsUntil: NOW })], {}, { piece: 1, peer: 'a' }],
  ['two at once of a peer', [peer('a', 0, [1], { asked: 2 })], {}, undefined],
  ['one at once of the source', [peer('s', 3, [1], { asked: 1 })], {}, undefined],
  ['who has less to do', [peer('a', 0, [1], { asked: 1 }), peer('b', 0, [1])], {}, { piece: 1, peer: 'b' }],
  [
    'what is on its way is left alone',
    [peer('a', 0, [1]), peer('b', 0, [1])],
    { asking: new Map([[1, [{ peer: 'a', since: NOW - 2000 }]]]) },
    undefined,
  ],
  [
    'until it takes long: then another one is asked too',
    [peer('a', 0, [1], { asked: 1 }), peer('b', 0, [1])],
    { asking: new Map([[1, [{ peer: 'a', since: NOW - 2001 }]]]) },
    { piece: 1, peer: 'b' },
  ],
  [
    'and no third',
    [peer('c', 0, [1])],
    {
      asking: new Map([
        [
          1,
          [
            { peer: 'a', since: 0 },
            { peer: 'b', since: 0 },
          ],
        ],
      ]),
    },
    undefined,
  ],
])('a host asks: %s', (_, peers, rest, expected) => {
  expect(nextAsk(swarm(peers, rest), NOW)).toEqual(expected);
});

test('who says that it has pieces which the package does not have is asked for none of them', () => {
  const all: Peer = { ...peer('liar', 0, []), has: new Uint8Array(3).fill(255) };
  const mine = bitsOf(18, [...Array(17).keys()]);
  expect(nextAsk(swarm([all], { pieces: 18, mine }), NOW)).toEqual({ piece: 17, peer: 'liar' });
  setBit(mine, 17, true);
  expect(nextAsk(swarm([all], { pieces: 18, mine }), NOW)).toBeUndefined();
});

test('hosts begin with different pieces', () => {
  const all = peer('s', 3, [0, 1, 2, 3, 4, 5, 6, 7]);
  const first = Array.from({ length: 100 }, (_, seed) => nextAsk(swarm([all], { seed }), NOW)?.piece);
  expect(new Set(first).size).toBe(8);
});

const anyPeer = fc.record({
  distance: fc.constantFrom<Distance>(0, 1, 2, 3),
  there: fc.uniqueArray(fc.nat(7)),
  asked: fc.nat(2),
  restsUntil: fc.constantFrom(0, NOW + 1),
});

test('among any peers, a host asks one that has the missing piece, is awake and has room; and asks while there is such a one', () => {
  fc.assert(
    fc.property(fc.array(anyPeer, { maxLength: 6 }), fc.uniqueArray(fc.nat(7)), fc.nat(), (list, mine, seed) => {
      const peers = list.map(({ distance, there, ...rest }, at) => peer(`p${at}`, distance, there, rest));
      const own = bitsOf(8, mine);
      const ask = nextAsk(swarm(peers, { mine: own, seed }), NOW);
      const able = peers.filter(
        ({ asked, restsUntil, distance, has }) =>
          restsUntil <= NOW &&
          asked < (distance === 3 ? 1 : 2) &&
          [...Array(8).keys()].some((piece) => hasBit(has, piece) && !hasBit(own, piece)),
      );
      if (ask === undefined) return expect(able).toEqual([]);
      expect(hasBit(own, ask.piece)).toBe(false);
      expect(able.map(({ id }) => id)).toContain(ask.peer);
      expect(hasBit(peers.find(({ id }) => id === ask.peer)!.has, ask.piece)).toBe(true);
    }),
  );
});

test('as long as an honest peer has each piece and wakes up, a host gets all of them, whatever others lie', () => {
  fc.assert(
    fc.property(fc.array(fc.uniqueArray(fc.nat(7)), { maxLength: 5 }), fc.nat(), (others, seed) => {
      const mine = noBits(8);
      const banned = new Set<string>();
      const all = [peer('honest', 2, [0, 1, 2, 3, 4, 5, 6, 7]), ...others.map((it, at) => peer(`liar${at}`, 0, it))];
      for (let turn = 0; turn < 100; turn += 1) {
        const peers = all.map((one) => ({ ...one, restsUntil: banned.has(one.id) ? NOW + 1 : 0 }));
        const ask = nextAsk(swarm(peers, { mine, seed }), NOW);
        if (ask === undefined) break;
        if (ask.peer === 'honest') setBit(mine, ask.piece, true);
        else banned.add(ask.peer);
      }
      expect([...mine]).toEqual([255]);
    }),
  );
});
