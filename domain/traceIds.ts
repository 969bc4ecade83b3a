import { hash } from './hash';

const hexOf = (words: number, text: string): string =>
  Array.from({ length: words }, (_, part) => hash(`${part} ${text}`).toString(16).padStart(8, '0')).join('');

/** Of a release, as W3C has it: 128 bits in hexadecimal digits, which are the same for whoever makes them. */
export const traceIdOf = (pipeline: string, release: number): string => hexOf(4, `release/${pipeline}/${release}`);

/** Of what has this id in Conveyor: 64 bits. */
export const spanIdOf = (id: string): string => hexOf(2, id);
