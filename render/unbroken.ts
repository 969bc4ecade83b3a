/** Patterns that no line break may split, because half of one is useless: links, paths, and commands to type. */

/** A link, or a path. */
const PLACE = /https?:\/\/|^['"(]*[\w.~-]*\/\S/;

/** One word of a shell, which may be quoted. */
const SHELL_WORD = String.raw`(?:'[^'\u001b]*'|\\'|[^\s\u001b'-])(?:'[^'\u001b]*'|\\'|[^\s\u001b'])*`;
/** A word of a command that does not end a sentence or clause. */
const WORD = String.raw`(?!\S*[,;:.](?:\s|$))${SHELL_WORD}`;
const OPTION = String.raw`--?[a-z][a-z-]*(?:[ =](?:"[^"\u001b]*"|${SHELL_WORD}))?`;
/** An operand: without options, a command ends before a word that is not plainly an id, a file or a placeholder. */
const OPERAND = String.raw`(?:'[^'\u001b]*'|[^\s\u001b-]*[/.=:\dA-Z][^\s\u001b]*)`;
const OURS = String.raw`(?:[A-Z_]+=${SHELL_WORD} )*(?:npx --no-install )?(?:conveyor|temporal workflow) [a-z][a-z-]*(?:(?: ${WORD}){0,3}?(?: ${OPTION})+|(?: ${OPERAND})?)`;
/** System commands that hints print. */
const SYSTEM = [
  String.raw`kill -\S+ \d+`,
  String.raw`ps -o \S+(?: -p \d+)?`,
  String.raw`lsof -i :\d+`,
  String.raw`mv ${SHELL_WORD} ${SHELL_WORD}(?: &&)?`,
  String.raw`\./[\w/-]+\.sh(?: --[a-z-]+)*`,
  String.raw`npm (?:test|ci|run [\w:-]+)`,
];
const COMMAND = new RegExp(String.raw`(?<=^|[^\w-]|\u001b\[[\d;]*m)(?:${[OURS, ...SYSTEM].join('|')})`, 'gu');

/** Replaces a space inside a command. */
const GLUE = '\ue000';
export const glueCommands = (text: string): string => text.replace(COMMAND, (command) => command.replaceAll(' ', GLUE));
export const unglueCommands = (text: string): string => text.replaceAll(GLUE, ' ');

/** Whether a colourless word of a glued text may not be split. */
export const isUnbroken = (word: string): boolean => PLACE.test(word) || word.includes(GLUE);
