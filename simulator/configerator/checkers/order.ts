import { configChecker } from './checker';

/** The newest commit that a host has seen, and that of each cell, by their numbers; null if a snapshot had no value. */
interface OrderMemory {
  readonly ofHost: (number | null)[];
  readonly ofCell: (number | null)[];
}

/** 16: a host sees the commits of its repository in their order. */
export const orderChecker = configChecker<OrderMemory>({
  name: 'config-order',
  invariant: 16,
  fresh: () => ({ ofHost: [], ofCell: [] }),
  see: (event, { ofHost, ofCell }) => {
    if (event.kind === 'began') {
      ofHost[event.host] = 0;
      for (const cell of event.cells) ofCell[cell] = 0;
    }
    if (event.kind !== 'seen') return null;
    const { host, cell, as, answer, fromCache } = event;
    const [newest, before] = [ofHost[host] ?? 0, ofCell[cell] ?? 0];
    ofCell[cell] = answer.sequence;
    if (fromCache) ofHost[host] = answer.sequence;
    else ofHost[host] = Math.max(newest, answer.sequence);
    // An override says nothing about the commit below it, and another checker watches for steps back.
    if (fromCache || answer.sequence <= before || answer.sequence >= newest) return null;
    return `${as.name} got ${answer.path} of commit ${answer.sequence} after it had seen commit ${newest}`;
  },
});
