import type { EtcdApi } from './etcdApi';
import type { KeyValue, RangeRequest } from './etcdWire';

/** How many records one answer has. */
const PAGE = 1000;

/** Reads a whole range, page by page. */
export async function scan(api: EtcdApi, range: RangeRequest): Promise<KeyValue[]> {
  const found: KeyValue[] = [];
  const { limit = PAGE } = range;
  for (let { key } = range; ;) {
    const { kvs } = await api.range({ ...range, key, limit });
    found.push(...kvs);
    const last = kvs.at(-1);
    if (last === undefined || kvs.length < limit) return found;
    key = `${last.key}\0`;
  }
}
