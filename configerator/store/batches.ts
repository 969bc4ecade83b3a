import { utf8Bytes } from '../../domain/size';
import type { EtcdOperation } from './etcdWire';

/** Operations that belong in one transaction. */
export interface CommitPart {
  readonly operations: readonly EtcdOperation[];
}

/** The size of one transaction: etcd accepts 128 operations and 1.5 MB. */
const MOST = { operations: 100, bytes: 1_200_000 };

/** Packs groups into batches, in order, each as large as one transaction allows, without dividing a group; returns at least one batch. */
export function splitIntoBatches<T extends CommitPart>(groups: readonly T[]): (readonly T[])[] {
  const batches: T[][] = [[]];
  let [operations, bytes] = [0, 0];
  for (const group of groups) {
    const { length } = group.operations;
    const size = group.operations.reduce((sum, one) => sum + countOperationBytes(one), 0);
    if (operations > 0 && (operations + length > MOST.operations || bytes + size > MOST.bytes)) {
      batches.push([]);
      [operations, bytes] = [0, 0];
    }
    batches.at(-1)?.push(group);
    operations += length;
    bytes += size;
  }
  return batches;
}

/** Splits a list into groups of `size`, in order. */
export const splitIntoGroups = <T>(items: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, at) => items.slice(at * size, (at + 1) * size));

const countOperationBytes = (operation: EtcdOperation): number =>
  'put' in operation ? utf8Bytes(operation.put.key) + utf8Bytes(operation.put.value) : 0;
