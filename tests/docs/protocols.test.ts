import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { openApi } from '../../sdk/openapi';
import { MIB, type Method } from '../../sdk/protocol/common';
import { PROTOCOLS } from '../../sdk/protocol/protocols';
import { wordsText } from '../../sdk/protocol/words';

const DOCS = join(__dirname, '../../docs');
const PAGE = join(DOCS, 'reference/protocols.md');
const KINDS = Object.keys(PROTOCOLS) as (keyof typeof PROTOCOLS)[];

const BEGIN = '<!-- The rest is made of sdk/protocol/words: UPDATE_DOCS=1 npx jest tests/docs/protocols -->\n';
const fileOf = (kind: string): string => join(DOCS, 'reference/protocols', `${kind}.openapi.yaml`);
const update = process.env['UPDATE_DOCS'] === '1';

const marks = ({ mutates, optional, maxAnswerBytes }: Method): string =>
  [mutates ? 'changes' : '', optional ? 'optional' : '', maxAnswerBytes ? `answers of ${maxAnswerBytes / MIB} MiB` : '']
    .filter((mark) => mark !== '')
    .join(', ');

function section(kind: keyof typeof PROTOCOLS): string {
  const { title, protocol, words } = PROTOCOLS[kind];
  const methods = Object.entries(protocol).map(([name, method]) => {
    const marked = marks(method as Method);
    const said = wordsText((words as Record<string, Parameters<typeof wordsText>[0]>)[name]!);
    return `### ${name}\n\n${marked === '' ? '' : `*${marked}*\n\n`}${said}\n`;
  });
  return `## ${title}\n\n${methods.join('\n')}`;
}

test('docs/reference/protocols.md has every method in the words that services answer at /openapi.json', () => {
  const written = `${BEGIN}\n${KINDS.map(section).join('\n')}`;
  const [head = ''] = readFileSync(PAGE, 'utf8').split(BEGIN);
  if (update) writeFileSync(PAGE, head + written);
  expect(readFileSync(PAGE, 'utf8')).toBe(head + written);
});

test.each(KINDS)('docs/reference/protocols/%s.openapi.yaml is what such a service answers at /openapi.json', (kind) => {
  const { title, protocol } = PROTOCOLS[kind];
  const text = stringify(openApi(protocol, title), { aliasDuplicateObjects: false, lineWidth: 140 });
  if (update) writeFileSync(fileOf(kind), text);
  expect(readFileSync(fileOf(kind), 'utf8')).toBe(text);
});
