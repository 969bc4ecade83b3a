import * as fc from 'fast-check';
import { parsers } from 'prettier/plugins/markdown';
import { childrenDetails } from '../../domain/children/view';
import { deployDetails } from '../../domain/deploy/details';
import { NOT_BEGUN, sweepDetails } from '../../domain/finder/sweep';
import { block, code, formatMarkdown, paragraphs, sections, formatSummary } from '../../domain/markdown';
import { releaseDetails } from '../../domain/release/details';
import { action, children, deploy, release, revertedDeploy } from '../builders/cliSamples';

interface Node {
  readonly type: string;
  readonly value?: string;
  readonly children?: readonly Node[];
}

const parse = (text: string): Promise<Node> =>
  Promise.resolve((parsers.remark as { parse(text: string, options: object): unknown }).parse(text, {}) as Node);

/** The parts of a page besides text, in order: how it is built. */
function built(node: Node): string[] {
  const inner = (node.children ?? []).flatMap(built);
  return node.type === 'text' || node.type === 'sentence' ? inner : [node.type, ...inner];
}
const shownBy = (node: Node): string => node.value ?? (node.children ?? []).map(shownBy).join('');

/** The characters of headings, lists, links, images, HTML, code, tables and emphasis in CommonMark or on GitHub. */
const PIECES = [
  ...['# ', '\n# ', '\n\n# ', '## ', '- ', '\n- ', '1. ', '1) ', '+ ', '* ', '> ', '\n---\n', '\n===\n', '***', '    '],
  ...[
    '[x](http://evil.example)',
    '![x](http://evil.example/p.png)',
    '<http://evil.example>',
    '[x]: http://evil.example',
    '[x]',
  ],
  ...[
    '<img src=x>',
    '<script>',
    '</b>',
    '<!--',
    '&lt;',
    '&#35;',
    '`',
    '``',
    '```',
    '\n```\n',
    '~~~',
    '~~x~~',
    '*x*',
    '__x__',
    '_',
  ],
  ...[
    'http://evil.example',
    'https://evil.example/a_b`c',
    'www.evil.example',
    'a@evil.example',
    '| a | b |\n|-|-|\n',
    '\\',
    '\u001b[2J',
  ],
  ...['a', ' ', 'word', '12', '.', '!', '\t'],
];
const hostile = fc.array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 8 }).map((pieces) => pieces.join(''));

test('a text in Markdown of ours is shown as it is, and makes nothing but text', async () => {
  await fc.assert(
    fc.asyncProperty(hostile, async (text) => {
      const page = await parse(
        sections(
          formatMarkdown`## ${text}`,
          formatMarkdown`${text}`,
          formatMarkdown`**by ${text}**: ${text}`,
          formatMarkdown`- ${text}`,
        ),
      );
      const kinds = built(page).filter((type) => type !== 'inlineCode');
      const plain = ['root', 'heading', 'paragraph', 'paragraph', 'strong', 'list', 'listItem', 'paragraph'];
      expect(kinds.filter((type) => !plain.includes(type))).toEqual([]);
      expect(kinds.filter((type) => ['heading', 'list', 'listItem'].includes(type))).toEqual([
        'heading',
        'list',
        'listItem',
      ]);
    }),
    { numRuns: 1000 },
  );
});

test.each([
  ['# Approved', '# Approved'],
  ['1. [x](/y) ![z](w) <b>&lt;', '1. [x](/y) ![z](w) <b>&lt;'],
  ['see http://ci.example/run_1?a=*b* for more', 'see http://ci.example/run_1?a=*b* for more'],
  ['load_test ~10% of *all* | more', 'load_test ~10% of *all* | more'],
  ['- two\nlines', '- two lines'],
  ['mail a@evil.example.', 'mail a@evil.example.'],
])('%j is read as %j', async (text, read) =>
  expect(shownBy(await parse(sections(formatMarkdown`${text}`)))).toBe(read),
);

test('ids, versions, times and numbers are written as they are', () => {
  const text =
    'kvstore/12/deploy: executable@kv:12, web@1.2.3 by user:alice since 2026-11-20 14:02, 0.5 above (rerun of #12)';
  expect(sections(formatMarkdown`${text}`)).toBe(text);
});

test('code ends where ours does', async () => {
  await fc.assert(
    fc.asyncProperty(hostile, async (text) => {
      expect(built(await parse(sections(formatMarkdown`a ${code(text)} b`)))).toEqual([
        'root',
        'paragraph',
        'inlineCode',
      ]);
      expect(built(await parse(sections(block([text, text]))))).toEqual(['root', 'code']);
    }),
  );
});

test('a page that is too long is cut between lines, so that no code is left open', () => {
  const long = formatMarkdown`${'x'.repeat(15_990)}`;
  expect(sections(long, formatMarkdown`${code('![x](http://evil.example)')}`)).toBe('x'.repeat(15_990) + '\n');
});

test('paragraphs of a description stay apart, and nothing else of them has a meaning', async () => {
  expect(built(await parse(paragraphs('One\nthing\n\n# Two\n')))).toEqual(['root', 'paragraph', 'paragraph']);
});

test('a summary is one line that the server takes, however long a name is, and has no links', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(hostile, { maxLength: 60 }), async (texts) => {
      const summary = formatSummary(`kvstore/12: ${texts.join('')}`);
      expect(Buffer.byteLength(summary)).toBeLessThanOrEqual(400);
      expect(built(await parse(summary)).filter((type) => type !== 'inlineCode')).toEqual(['root', 'paragraph']);
    }),
  );
});

const EVIL =
  '\n\n# Forged\n\n[approve](http://evil.example) ![x](http://evil.example/p.png) <img src=x> `http://evil.example` ```';

/** Every text of a view, one after the other, with something behind it. */
function* poisonings<T>(value: T): Generator<T> {
  if (typeof value === 'string') yield `${value}${EVIL}` as T;
  else if (Array.isArray(value))
    for (const [at, inner] of value.entries())
      for (const changed of poisonings<unknown>(inner)) yield value.with(at, changed) as T;
  else if (typeof value === 'object' && value !== null)
    for (const [key, inner] of Object.entries(value))
      for (const changed of poisonings<unknown>(inner)) yield { ...value, [key]: changed };
}

const blocked = release({
  state: 'failed',
  cause: 'operator',
  actions: [action({ message: 'm' }), action({ state: 'blocked', blockedBy: 'b' })],
});
const paused = deploy({
  pausedGroups: [{ group: 'region:x', units: [], at: '2026-11-20T14:00:00.000Z', reason: 'r' }],
});
const view = children({ reason: 'r' });
const PAGES: readonly (readonly [string, () => Iterable<string>])[] = [
  ['a deploy', () => [...poisonings(paused), ...poisonings(revertedDeploy())].map(deployDetails)],
  ['a release', () => [...poisonings(blocked)].map((one) => releaseDetails(one))],
  ['children', () => [...poisonings(view)].map((one) => childrenDetails(`t${EVIL}`, one, [`n${EVIL}`]))],
  [
    'a sweep',
    () => [sweepDetails(`f${EVIL}`, { ...NOT_BEGUN, refused: 9, said: [`s${EVIL}`] }), sweepDetails(`f${EVIL}`, null)],
  ],
];

test.each(PAGES)('the page of %s has no heading, link, image or HTML that others wrote', async (_, pages) => {
  for (const text of pages()) {
    const kinds = built(await parse(text));
    expect(
      kinds.filter((type) => ['link', 'linkReference', 'image', 'imageReference', 'html', 'definition'].includes(type)),
    ).toEqual([]);
    expect(text).not.toMatch(/^# Forged/m);
    expect(kinds.filter((type) => type === 'heading').length).toBeLessThanOrEqual(1);
  }
});
