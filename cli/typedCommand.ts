import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Env } from '../settings/env';

/** A command in a sentence or alone, coloured or not, unless it already has its full form. */
const COMMAND =
  /(?<!--no-install )(?<=^|[\s"'`(]|\u001b\[[\d;]*m)conveyor(?= [a-z][a-z-]*\b| COMMAND\b| --help)(?! is\b)/gm;

/** Rewrites the commands in a text as the user must type them: a checkout that runs through npm has no `conveyor` on its path. */
export const asTyped = (text: string, env: Env): string =>
  isThroughNpm(env) ? text.replace(COMMAND, 'npx --no-install conveyor') : text;

const isThroughNpm = ({ npm_command: through, PATH = '' }: Env): boolean =>
  through !== undefined &&
  !PATH.split(delimiter).some((folder) => !OF_NPM.test(folder) && existsSync(join(folder, 'conveyor')));

/** The folder that npm adds to the path of its own scripts; no shell has it. */
const OF_NPM = /[\\/]node_modules[\\/]\.bin[\\/]?$/;

/** A text, such as a path, quoted as one word of a printed shell command. */
export const asWord = (text: string): string =>
  /^[\w./:@,+-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
