import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './sources';

/** The anchors of a page's headings, as GitHub makes them. @param page relative to the checkout */
export const anchorsOf = (page: string): string[] =>
  [...readFileSync(join(ROOT, page), 'utf8').matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => anchorOf(heading));

const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replace(/ /g, '-');
