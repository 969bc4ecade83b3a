import { readFileSync } from 'node:fs';
import * as path from 'node:path';
import { repositoryFiles } from './setup/repositoryFiles';
import { commentsIn, paragraphsIn, sharesOf, textsIn, type Shares } from './setup/sentences';
import { ROOT, parse, runningSources, testSources } from './setup/sources';

const running = runningSources();
const tested = testSources();

/** Percent of sentences, as measured, rounded up to a tenth: a share may fall, and then its line here does, and never grows. */
const MEASURED = {
  comments: { objectFirst: 0.1, noRole: 0.1 },
  messages: { objectFirst: 0.2, noRole: 1 },
  titles: { objectFirst: 0.1, noRole: 0.1 },
  pages: { objectFirst: 0.4, noRole: 0.3 },
} satisfies Readonly<Record<string, Shares>>;

describe('sentences have their subject first, and a role as their subject', () => {
  test('comments', () => {
    const all = [...running, ...tested];
    expect(all.length).toBeGreaterThan(2_000);
    expect(sharesOf(all.flatMap(commentsIn))).toEqual(atMost(MEASURED.comments));
  });

  test('messages and descriptions', () => {
    expect(sharesOf(running.flatMap((source) => textsIn(source).messages))).toEqual(atMost(MEASURED.messages));
  });

  test('titles of tests', () => {
    const titles = tested.flatMap((source) => textsIn(source).titles);
    expect(titles.length).toBeGreaterThan(3_000);
    expect(sharesOf(titles, { areTitles: true })).toEqual(atMost(MEASURED.titles));
  });

  test('pages, decisions included', () => {
    const pages = repositoryFiles().filter((name) => /\.md$/.test(name) && !/^(CHANGELOG|tests\/)/.test(name));
    expect(pages.length).toBeGreaterThan(50);
    const texts = pages.flatMap((name) => paragraphsIn(readFileSync(path.join(ROOT, name), 'utf8')));
    expect(sharesOf(texts)).toEqual(atMost(MEASURED.pages));
  });

  test('a sentence of the kind would be seen', () => {
    const [object, role] = ['What' + ' a release has.', 'Then no' + 'body looks at it.'];
    const planted = parse(
      'tests/planted.test.ts',
      `/** ${object}\n * ${role} */\nconst a = 'one two three';\n// ${object}\ntest('what' + '', f); test('${'of'} a file', () => g(\`\${x} and ${role}\`));`,
    );
    expect(sharesOf(commentsIn(planted))).toEqual({ objectFirst: 200 / 3, noRole: 100 / 3 });
    expect(sharesOf(textsIn(planted).messages)).toEqual({ objectFirst: 0, noRole: 50 });
    expect(sharesOf(textsIn(planted).titles, { areTitles: true })).toEqual({ objectFirst: 100, noRole: 0 });
    expect(paragraphsIn(`# ${object}\n\n\`\`\`sh\n${role}\n\`\`\`\n- ${role}\n| ${object} | b |`)).toEqual(
      expect.arrayContaining([object, role]),
    );
  });
});

/** Matches shares up to others. */
const atMost = (limit: Shares): unknown => ({
  asymmetricMatch: (actual: Shares) => actual.objectFirst <= limit.objectFirst && actual.noRole <= limit.noRole,
  toString: () => `at most ${JSON.stringify(limit)}`,
});
