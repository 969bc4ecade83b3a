import { computeTraceId } from '../domain/traceIds';
import type { CallContext } from './protocol/common';

/**
 * The W3C trace context of one call. All calls of one release share one trace, regardless of the caller: its id is
 * derived from that of the release. A call without a release has its own trace.
 */
export function createTraceparent(context: Pick<CallContext, 'pipeline' | 'release'> | null): string {
  const isOfRelease = context !== null && context.release > 0;
  const trace = isOfRelease ? computeTraceId(context.pipeline, context.release) : randomHex(16);
  return `00-${trace}-${randomHex(8)}-01`;
}

const randomHex = (bytes: number): string => Buffer.from(crypto.getRandomValues(new Uint8Array(bytes))).toString('hex');
