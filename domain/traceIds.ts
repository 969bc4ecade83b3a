import { hash } from './hash';

const hashToHex = (words: number, text: string): string =>
  Array.from({ length: words }, (_, part) => hash(`${part} ${text}`).toString(16).padStart(8, '0')).join('');

/** The trace id of a release in the W3C format: 128 bits in hexadecimal digits. Every process computes the same id. */
export const computeTraceId = (pipeline: string, release: number): string =>
  hashToHex(4, `release/${pipeline}/${release}`);

/** The span id for an id of Conveyor: 64 bits. */
export const computeSpanId = (id: string): string => hashToHex(2, id);
