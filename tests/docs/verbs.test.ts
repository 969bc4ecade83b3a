import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ALL_VERBS, inputRow, verbRow, type Verb } from '../../domain/verbs';

const FILE = join(__dirname, '../../docs/reference/cli.md');

/** `<id>` as the documents write it: `ID`; words that stand for themselves stay. */
const inCapitals = (usage: string): string =>
  usage.replace(/<(.+?)>/g, (_, word: string) => (/[@|]/.test(word) ? word.replace(/\|/g, '\\|') : word.toUpperCase()));

function rowOf(verb: Verb): string {
  const { operand, inputs, help } = verbRow(verb);
  const rows = inputs.map(inputRow);
  const usage = [verb, operand, ...rows.flatMap((row) => row.operand ?? [])].map(inCapitals).join(' ');
  const options = rows.flatMap((row) => (row.option === undefined ? [] : `\`${inCapitals(row.option)}\`: ${row.help}`));
  return `| \`${usage}\` | ${[help, ...options].join('; ')} |`;
}

test('docs/reference/cli.md has a row for each verb, in the words of its help', () => {
  const docs = readFileSync(FILE, 'utf8');
  const lines = docs.split('\n');
  const isVerb = (line: string) =>
    ALL_VERBS.some((verb) => line.startsWith(`| \`${verb} `) || line.startsWith(`| \`${verb}\``));
  const first = lines.findIndex(isVerb);
  const others = lines.filter((line) => !isVerb(line));
  const wanted = [...others.slice(0, first), ...ALL_VERBS.map(rowOf), ...others.slice(first)].join('\n');
  if (process.env['UPDATE_DOCS']) writeFileSync(FILE, wanted);
  else expect(docs).toBe(wanted);
});
