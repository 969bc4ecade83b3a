import fc from 'fast-check';
import {
  FREE_MUTEX,
  listCanaries,
  canariesOn,
  isIdle,
  releaseMutex,
  request,
  revive,
  withHeldSince,
  welcome,
  type Grants,
  type LockRequest,
  type Mutex,
} from '../../domain/mutex';

const ask = (owner: string, requester = owner): LockRequest => ({ owner, requester });
const names = ({ granted }: Grants) => granted.map(({ requester }) => requester);

describe('a mutex', () => {
  const held = request(FREE_MUTEX, ask('a')).mutex;
  const contended = request(request(held, ask('b')).mutex, ask('c')).mutex;

  test('is granted at once when it is free', () => expect(names(request(FREE_MUTEX, ask('a')))).toEqual(['a']));

  test('makes another owner wait', () => expect(names(request(held, ask('b')))).toEqual([]));

  test('goes to the first in line when it is released', () =>
    expect(names(releaseMutex(contended, 'a'))).toEqual(['b']));

  test('goes to what is urgent before all that wait, and to no two at once', () => {
    const urgent = (owner: string) => ({ ...ask(owner), urgent: true });
    const all = [urgent('d'), urgent('e'), ask('f')].reduce((mutex, each) => request(mutex, each).mutex, contended);
    expect(all.holder?.owner).toBe('a');
    const turns = ['a', 'd', 'e', 'b', 'c'].reduce(
      ({ mutex, granted }, owner) => {
        const next = releaseMutex(mutex, owner);
        return { mutex: next.mutex, granted: [...granted, ...names(next)] };
      },
      { mutex: all, granted: [] as string[] },
    );
    expect(turns.granted).toEqual(['d', 'e', 'b', 'c', 'f']);
  });

  test('grants what it granted already again, since the first answer may have been lost', () => {
    const again = request(contended, ask('a'));
    expect(again.mutex).toEqual(contended);
    expect(names(again)).toEqual(['a']);
  });

  test('counts a request that waits once', () => expect(request(contended, ask('b')).mutex).toEqual(contended));

  test('knows since when its holder has held it, whatever others do meanwhile', () => {
    const at = (before: Mutex, { mutex }: Grants, nowMs: number): Mutex => withHeldSince(mutex, before, nowMs);
    const taken = at(FREE_MUTEX, request(FREE_MUTEX, ask('a')), 100);
    const asked = at(taken, request(taken, ask('b')), 200);
    const twice = at(asked, request(asked, ask('a', 'a2')), 300);
    const once = at(twice, releaseMutex(twice, 'a'), 400);
    expect([taken, asked, twice, once].map(({ holder }) => holder?.sinceMs)).toEqual([100, 100, 100, 100]);
    const next = at(once, releaseMutex(once, 'a2'), 500);
    expect(next.holder).toEqual({ owner: 'b', requesters: ['b'], sinceMs: 500 });
    expect(at(next, releaseMutex(next, 'b'), 600).holder).toBeNull();
  });

  test('lets the same owner in several times, and continues when all have let go', () => {
    const twice = request(contended, ask('a', 'a2'));
    expect(names(twice)).toEqual(['a2']);
    const once = releaseMutex(twice.mutex, 'a');
    expect(names(once)).toEqual([]);
    expect(names(releaseMutex(once.mutex, 'a2'))).toEqual(['b']);
  });

  test('grants all that its next owner waits for together', () => {
    const waiting = request(contended, ask('b', 'b2')).mutex;
    expect(names(releaseMutex(waiting, 'a'))).toEqual(['b', 'b2']);
  });

  test('forgets who gives up waiting', () =>
    expect(names(releaseMutex(releaseMutex(contended, 'b').mutex, 'a'))).toEqual(['c']));

  test('is released only by its holder', () => expect(releaseMutex(contended, 'stranger').mutex).toEqual(contended));

  test('is idle without a holder or a line', () => {
    expect(isIdle(contended)).toBe(false);
    expect(isIdle(['a', 'b', 'c'].reduce((mutex, requester) => releaseMutex(mutex, requester).mutex, contended))).toBe(
      true,
    );
  });
});

describe('a guest', () => {
  const guest = (requester: string, units = ['x'], updates = ['u1']) => ({ owner: 'c', requester, updates, units });
  const held = welcome(request(FREE_MUTEX, ask('a')).mutex, guest('c1'));

  test('waits for none, and none waits for it', () => {
    expect(names(request(welcome(FREE_MUTEX, guest('c1')), ask('a')))).toEqual(['a']);
    expect(held.holder).toEqual({ owner: 'a', requesters: ['a'] });
  });
  test('may say anew which updates are its own', () =>
    expect(listCanaries(welcome(held, guest('c1', ['x'], ['u1', 'u2'])))).toEqual([guest('c1', ['x'], ['u1', 'u2'])]));
  test('keeps the lock alive, and leaves as a holder does', () => {
    const alone = releaseMutex(held, 'a').mutex;
    expect(isIdle(alone)).toBe(false);
    expect(isIdle(releaseMutex(alone, 'c1').mutex)).toBe(true);
  });
  test('stays when others come and go', () =>
    expect(listCanaries(releaseMutex(request(held, ask('b')).mutex, 'a').mutex)).toEqual([guest('c1')]));
  test('is in the way only of its units', () => {
    const canaries = [guest('c1', ['x', 'y']), guest('c2', ['z'])];
    expect(canariesOn(canaries, ['y']).map(({ requester }) => requester)).toEqual(['c1']);
    expect(canariesOn(canaries, ['w'])).toEqual([]);
  });
});

const anEvent = fc.record({ kind: fc.constantFrom('request', 'release'), owner: fc.nat(3), part: fc.nat(1) });
const requesterOf = ({ owner, part }: { owner: number; part: number }) => `${owner}/${part}`;

test('never has two owners at once, keeps the order of requests, and grants every request once those before are released', () => {
  fc.assert(
    fc.property(fc.array(anEvent, { maxLength: 60 }), (events) => {
      let mutex: Mutex = FREE_MUTEX;
      let holding: string[] = [];
      let waiting: LockRequest[] = [];
      const follow = (next: Grants) => {
        const owners = new Set([...holding, ...names(next)].map((requester) => requester.split('/')[0]));
        expect(owners.size).toBeLessThanOrEqual(1);
        const [first] = waiting;
        if (holding.length === 0 && first) expect(next.granted[0]?.owner).toBe(first.owner);
        if (next.mutex.holder?.owner !== mutex.holder?.owner && next.mutex.holder)
          expect(next.mutex.fence).toBeGreaterThan(mutex.fence);
        holding = [...new Set([...holding, ...names(next)])];
        waiting = waiting.filter(({ requester }) => !holding.includes(requester));
        ({ mutex } = next);
        expect([...(mutex.holder?.requesters ?? [])].sort()).toEqual([...holding].sort());
        expect(mutex.queue).toEqual(waiting);
        if (waiting.length > 0) expect(holding.length).toBeGreaterThan(0);
      };
      const letGo = (requester: string) => {
        holding = holding.filter((other) => other !== requester);
        waiting = waiting.filter((other) => other.requester !== requester);
        follow(releaseMutex(mutex, requester));
      };
      for (const event of events) {
        const requester = requesterOf(event);
        const asked = ask(String(event.owner), requester);
        if (event.kind === 'release') letGo(requester);
        else {
          if (![...holding, ...waiting.map((other) => other.requester)].includes(requester)) waiting.push(asked);
          follow(request(mutex, asked));
        }
      }
      for (let left = holding[0]; left !== undefined; left = holding[0]) letGo(left);
      expect(isIdle(mutex)).toBe(true);
    }),
  );
});

describe('a mutex that begins anew after its workflow was terminated', () => {
  const NOW = Date.UTC(2026, 0, 5);

  test('gives no fence that the one before may have given', () => {
    const before = request(revive(null, NOW), ask('a')).mutex;
    expect(request(revive(null, NOW + 1_000), ask('b')).mutex.fence).toBeGreaterThan(before.fence);
  });

  test('takes its fences from the time of the server, whatever clock the worker had that carried it over', () => {
    const brought = [] as const;
    for (const aside of [-120_000, 120_000])
      expect(revive({ ...revive(null, NOW + aside), brought }, NOW)).toEqual({ ...revive(null, NOW), brought });
    expect(revive(null, NOW)).toMatchObject({ holder: null, queue: [], fence: NOW });
  });

  test('leaves the fence of a holder as the holder knows it', () => {
    const held = request(revive(null, NOW), ask('a')).mutex;
    expect(revive(held, NOW + 1_000)).toEqual(held);
  });
});
