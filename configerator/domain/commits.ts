import { conveyorError } from '../../domain/errors';
import { CONFIG_LIMITS } from '../../domain/limits';
import { sizeAndLimit, utf8Bytes } from '../../domain/size';
import { whyNotConfigPath } from './path';

interface Commit {
  readonly commit: string;
  readonly sequence: number;
  readonly values: readonly { readonly path: string; readonly value: string | null }[];
}

/**
 * A store's decision on a commit: `apply` if it is the next, `already` if the store has it. It may be larger than a
 * change, because pushes are not limited and everything on the branch has to arrive.
 * @throws ConveyorError `store-out-of-step`, `over-limit` or `invalid-text`
 */
export function judgeCommit(
  repository: string,
  head: { readonly sequence: number; readonly commit: string } | undefined,
  next: Commit,
): 'apply' | 'already' {
  const at = head?.sequence ?? 0;
  const isOther = next.sequence === at && next.commit !== head?.commit;
  if (next.sequence > at + 1 || next.sequence < 1 || isOther)
    throw conveyorError('store-out-of-step', {
      repository,
      head: head ? `${head.sequence}@${head.commit}` : 'its beginning',
      given: `${next.sequence}@${next.commit}`,
    });
  if (next.sequence <= at) return 'already';
  for (const one of next.values) refuseValue(one);
  return 'apply';
}

/** @throws ConveyorError `over-limit` or `invalid-text` */
export function refuseTooMuch(values: Commit['values']): void {
  const { change, values: most } = CONFIG_LIMITS;
  if (values.length > most.max)
    throw conveyorError('over-limit', { what: most.of, size: String(values.length), limit: String(most.max) });
  const bytes = values.reduce((sum, one) => sum + refuseValue(one), 0);
  if (bytes > change.max) throw conveyorError('over-limit', sizes(change.of, bytes, change.max));
}

/** @returns its size */
function refuseValue({ path, value }: Commit['values'][number]): number {
  refusePath(path);
  const size = value === null ? 0 : utf8Bytes(value);
  const { max } = CONFIG_LIMITS.value;
  if (size > max) throw conveyorError('over-limit', sizes(`the value of ${path}`, size, max));
  return size;
}

/** @throws ConveyorError `over-limit` or `invalid-text` */
export function refusePath(path: string): void {
  const { max, of } = CONFIG_LIMITS.path;
  if (path.length > max) throw conveyorError('over-limit', sizes(of, path.length, max));
  const why = whyNotConfigPath(path);
  if (why !== undefined)
    throw conveyorError('invalid-text', { what: `${JSON.stringify(path)} is not the path of a configuration:`, why });
}

const sizes = (what: string, size: number, max: number) => ({ what, ...sizeAndLimit(size, max) });
