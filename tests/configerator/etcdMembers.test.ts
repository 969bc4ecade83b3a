import { EtcdStore } from '../../configerator/store/etcd';
import type { Fetch } from '../../sdk/request';

const DEAD = 'http://etcd-1:2379';
const ALIVE = 'http://etcd-2:2379';

/** A cluster of which one member is gone, and who was asked. */
function cluster() {
  const asked: string[] = [];
  const fetch: Fetch = async (request) => {
    const { origin } = new URL(request.url);
    asked.push(origin);
    if (origin === DEAD) throw new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED') });
    return Response.json({ header: { revision: '1' } });
  };
  return { asked, store: new EtcdStore({ url: `${DEAD},${ALIVE}`, fetch }) };
}

test.each([1, 2, 8])(
  'after %i requests at once to a member that is gone the next one goes to another',
  async (count) => {
    const { asked, store } = cluster();
    const failed = await Promise.allSettled(Array.from({ length: count }, () => store.head('flags')));
    expect(failed).toMatchObject(Array.from({ length: count }, () => ({ status: 'rejected' })));
    expect(await store.head('flags')).toBeUndefined();
    expect(asked.at(-1)).toBe(ALIVE);
  },
);

test('each of several requests that fail at once names the member that did not answer', async () => {
  const { store } = cluster();
  const failed = await Promise.allSettled([store.head('flags'), store.head('flags')]);
  const reason = { code: 'store-unavailable', message: expect.stringContaining(DEAD) as string };
  expect(failed).toMatchObject([{ reason }, { reason }]);
});
