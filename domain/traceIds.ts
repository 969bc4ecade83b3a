import { hash } from './hash';

const hexOf = (words: number, text: string): string =>
  Array.from({ length: words }, (_, part) => hash(`${part} ${text}`).toString(16).padStart(8, '0')).join('');

/** The trace id of a release, as W3C defines it: 128 bits in hexadecimal digits, the same wherever it is computed. */
export const traceIdOf = (pipeline: string, release: number): string => hexOf(4, `release/${pipeline}/${release}`);

/** The span id for an id of Conveyor: 64 bits. */
export const spanIdOf = (id: string): string => hexOf(2, id);
