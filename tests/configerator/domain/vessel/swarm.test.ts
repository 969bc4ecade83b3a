import fc from 'fast-check';
import { VESSEL_LIMITS } from '../../../../domain/limits';
import { countBits, noBits, setBit } from '../../../../configerator/domain/vessel/bits';
import {
  isOffered,
  computeOfferedBits,
  recordServedPiece,
  type ServedPieces,
} from '../../../../configerator/domain/vessel/offer';
import { measureDistance, pickPeers } from '../../../../configerator/domain/vessel/peers';
import { toRemove } from '../../../../configerator/domain/vessel/room';
import { TRUSTED, trustAfter, type AskOutcome } from '../../../../configerator/domain/vessel/trust';

test('a source serves a piece twice, and again once five seconds have gone by', () => {
  const once = recordServedPiece(undefined, 0);
  const twice = recordServedPiece(once, 10);
  expect([isOffered(undefined, 10), isOffered(once, 10), isOffered(twice, 10)]).toEqual([true, true, false]);
  expect(isOffered(twice, 5010)).toBe(true);
  expect(isOffered(recordServedPiece(twice, 5010), 5011)).toBe(true);
  expect(countBits(computeOfferedBits(new Map<number, ServedPieces>([[2, twice]]), 9, 10), 9)).toBe(8);
});

test('for any past of a peer, a liar rests for at least ten minutes, and its messages meanwhile do not end that', () => {
  const outcome = fc.constantFrom<AskOutcome>('good', 'lied', 'failed', 'busy');
  fc.assert(
    fc.property(fc.array(outcome), fc.array(outcome), (before, after) => {
      const trust = trustAfter(
        before.reduce((known, one) => trustAfter(known, one, 0), TRUSTED),
        'lied',
        0,
      );
      expect(trust.restsUntil).toBeGreaterThanOrEqual(600_000);
      const later = after.reduce((known, one) => trustAfter(known, one, 1000), trust);
      expect(later.restsUntil).toBeGreaterThanOrEqual(trust.restsUntil);
      expect(later.restsUntil).toBeLessThanOrEqual(1000 + 7_200_000);
    }),
  );
});

test.each<[AskOutcome, number[]]>([
  ['failed', [1000, 2000, 4000]],
  ['busy', [100, 200, 400]],
])('who %s rests longer each time, until it is good again', (outcome, rests) => {
  let trust = TRUSTED;
  const seen = rests.map(() => (trust = trustAfter(trust, outcome, 0)).restsUntil);
  expect(seen).toEqual(rests);
  expect(trustAfter(trustAfter(trust, 'good', 10_000), outcome, 10_000).restsUntil).toBe(10_000 + (rests[0] ?? 0));
});

test.each([
  [{ rack: 'a', region: 'x' }, { rack: 'a', region: 'x' }, 0],
  [{ rack: 'a', region: 'x' }, { rack: 'b', region: 'x' }, 1],
  [{ rack: 'a', region: 'x' }, { rack: 'a', region: 'y' }, 2],
  [{ region: 'x' }, { region: 'x' }, 1],
  [undefined, undefined, 1],
  [{ region: 'x' }, undefined, 2],
])('from %j it is to %j as far as %i', (own, other, distance) => {
  expect(measureDistance(own, other)).toBe(distance);
});

test('a host asks thirty at most: most of them near, some of each distance, and different ones for each host', () => {
  const all = Array.from({ length: 300 }, (_, at) => ({
    id: `h${at}`,
    labels: { rack: `r${at % 10}`, region: at % 2 ? 'x' : 'y' },
  }));
  const picked = pickPeers(all, { rack: 'r1', region: 'x' }, 7);
  const distances = picked.map(({ labels }) => measureDistance({ rack: 'r1', region: 'x' }, labels));
  expect([0, 1, 2].map((distance) => distances.filter((one) => one === distance).length)).toEqual([12, 10, 8]);
  expect(picked).toHaveLength(VESSEL_LIMITS.peers.max);
  expect(pickPeers(all, { rack: 'r1', region: 'x' }, 8)).not.toEqual(picked);
  expect(pickPeers(all.slice(0, 29), undefined, 7)).toHaveLength(29);
});

test('for room the oldest packages go, never one that is needed, and no more than have to', () => {
  const one = fc.record({ bytes: fc.integer({ min: 1, max: 9 }), isNeeded: fc.boolean(), wantedAt: fc.nat(99) });
  fc.assert(
    fc.property(fc.array(one), fc.integer({ min: 1, max: 9 }), fc.nat(60), (list, bytes, most) => {
      const shelved = list.map((it, at) => ({ ...it, key: String(at) }));
      const sum = (some: typeof shelved): number => some.reduce((all, it) => all + it.bytes, 0);
      const gone = toRemove(shelved, bytes, most);
      if (gone === undefined)
        return expect(sum(shelved.filter(({ isNeeded }) => isNeeded)) + bytes).toBeGreaterThan(most);
      const left = shelved.filter(({ key }) => !gone.includes(key));
      expect(sum(left) + bytes).toBeLessThanOrEqual(most);
      const [last] = gone.slice(-1);
      if (last !== undefined) expect(sum(left) + bytes + (shelved[Number(last)]?.bytes ?? 0)).toBeGreaterThan(most);
      expect(gone.some((key) => shelved[Number(key)]?.isNeeded)).toBe(false);
    }),
  );
});

test('bits are set and taken away one by one', () => {
  const bits = noBits(10);
  setBit(bits, 9, true);
  setBit(bits, 0, true);
  setBit(bits, 0, false);
  expect([...bits]).toEqual([0, 2]);
  expect(countBits(bits, 10)).toBe(1);
});
