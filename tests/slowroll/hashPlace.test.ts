import { HostCursor, nameSalt } from '../../push-types/slowroll/server/decisions';
import { hashWords } from '../../push-types/slowroll/server/hashPlace';

const HOSTS = 20_000;
const cursor = new HostCursor();
const findPlace = (nth: number, salt: string): number => {
  const [high, low] = hashWords(`host-${nth}`);
  return cursor.moveTo(nth, high, low).findPlace(salt);
};
const places = (salt: string): number[] => Array.from({ length: HOSTS }, (_, nth) => findPlace(nth, salt));
const countBelow = (all: readonly number[], share: number): number => all.filter((place) => place < share).length;

describe('the place of a host in a release', () => {
  test('is even over all hosts, so that a share of places is that share of hosts', () => {
    const all = places(nameSalt('agent', 'fleet/1'));
    for (const share of [0.01, 0.1, 0.5, 0.9]) {
      const deviation = Math.sqrt(HOSTS * share * (1 - share));
      expect(Math.abs(countBelow(all, share) - HOSTS * share)).toBeLessThan(4 * deviation);
    }
  });

  test('is the same in every phase, and no two hosts share one', () => {
    const all = places(nameSalt('agent', 'fleet/1'));
    expect(places(nameSalt('agent', 'fleet/1'))).toEqual(all);
    expect(new Set(all).size).toBe(HOSTS);
  });

  test('is another one in the next release and in another package, so other hosts go first', () => {
    const [one, next, other] = [
      places(nameSalt('agent', 'fleet/1')),
      places(nameSalt('agent', 'fleet/2')),
      places(nameSalt('exporter', 'fleet/1')),
    ];
    const firstInBoth = (two: readonly number[]): number =>
      one.filter((place, nth) => place < 0.1 && (two[nth] ?? 1) < 0.1).length;
    for (const two of [next, other]) expect(Math.abs(firstInBoth(two) - HOSTS * 0.01)).toBeLessThan(60);
  });

  test('is the same in every release for a sticky package', () => {
    expect(places(nameSalt('agent', null))).toEqual(places(nameSalt('agent', null)));
  });
});
