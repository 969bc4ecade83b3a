import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Env } from '../platform/env';

/** In a sentence or alone, painted or not; one that says already how it is typed stays. */
const COMMAND =
  /(?<!--no-install )(?<=^|[\s"'`(]|\u001b\[[\d;]*m)conveyor(?= [a-z][a-z-]*\b| COMMAND\b| --help)(?! is\b)/gm;

/**
 * Text for people, in which every command that they may type next stands as they have to type it: whoever came through npm has a checkout,
 * where no shell finds `conveyor`.
 */
export const asTyped = (text: string, env: Env): string =>
  isThroughNpm(env) ? text.replace(COMMAND, 'npx --no-install conveyor') : text;

const isThroughNpm = ({ npm_command: through, PATH = '' }: Env): boolean =>
  through !== undefined &&
  !PATH.split(delimiter).some((folder) => !OF_NPM.test(folder) && existsSync(join(folder, 'conveyor')));

/** Where npm itself has what it runs look for programs; no shell looks there. */
const OF_NPM = /[\\/]node_modules[\\/]\.bin[\\/]?$/;

/** A text, such as a path, as one word of a command that is printed to be typed into a shell. */
export const asWord = (text: string): string =>
  /^[\w./:@,+-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
