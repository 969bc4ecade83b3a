import { existsSync, readFileSync } from 'node:fs';
import { dirname, extname, join, normalize } from 'node:path';
import { anchorsOf } from '../setup/headings';
import { repositoryFiles } from '../setup/repositoryFiles';
import { ROOT } from '../setup/sources';

/** Everything that the code, the tests and the documents cite is in this repository, or a paper that docs/papers.md lists. */
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');
const TEXTS = new Set(['.ts', '.tsx', '.js', '.mjs', '.md', '.yaml', '.json', '.sh', '.py']);
const NOT_OURS =
  /^(package-lock\.json|CHANGELOG\.md|tests\/fixtures\/histories\/|tests\/docs\/(citations|site)\.test\.ts|scripts\/docs\.js)/;
const files = repositoryFiles().filter((file) => TEXTS.has(extname(file)) && !NOT_OURS.test(file));

interface Citation {
  readonly where: string;
  readonly text: string;
}

const cited = (pattern: RegExp): Citation[] =>
  files.flatMap((file) =>
    [...read(file).matchAll(pattern)].map(([text], index) => ({ where: `${file} (${index + 1})`, text })),
  );

/** From the root, as code cites; beside the file, as documents link; or in docs/ and its reference, as they name each other. */
function pageOf(where: string, path: string): string | undefined {
  const [file = ''] = where.split(' ');
  const places = [path, join(dirname(file), path), join('docs', path), join('docs/reference', path)];
  return places.map(normalize).find((it) => existsSync(join(ROOT, it)));
}

function isBroken({ where, text }: Citation): boolean {
  const [path = '', anchor] = text.split('#');
  const page = pageOf(where, path);
  return page === undefined || (anchor !== undefined && !anchorsOf(page).includes(anchor));
}

describe('citations', () => {
  test('links of pages lead to pages and headings that exist', () => {
    const found = cited(/(?<![\w./-])(?:\.{1,2}\/)*[\w-][\w./-]*\.md(?:#[\w-]+)?(?![\w-])/g);
    expect(found.length).toBeGreaterThan(300);
    expect(found.filter(isBroken)).toEqual([]);
  });

  test('citations of sections name a paper, and docs/papers.md describes the section', () => {
    const papers = sectionsOfPapers();
    const found = files
      .filter((file) => file !== 'docs/papers.md')
      .flatMap((file) => [...read(file).matchAll(/§([\d.]*\d)/g)].map((match) => ({ file, match })));
    expect(found.length).toBeGreaterThan(30);
    const unknown = found.filter(({ file, match: { 1: section = '', index } }) => {
      const before = read(file).slice(Math.max(0, index - 160), index);
      const [, paper = ''] =
        [...before.matchAll(/(?<![A-Za-z])(Conveyor|Twine|Configerator|µs)(?![A-Za-z])/g)].at(-1) ?? [];
      return papers.get(paper)?.includes(section) !== true;
    });
    expect(unknown.map(({ file, match: [text] }) => `${file}: ${text}`)).toEqual([]);
  });

  test('no citation is left that only its authors could read', () => {
    expect(cited(/\bDESIGN(\.md)?\b|pipeline-spec\.md|\/work\/shared/g)).toEqual([]);
  });

  test('that lead nowhere would be seen', () => {
    const at = (text: string): Citation => ({ where: 'domain/ids.ts (1)', text });
    expect(isBroken(at('docs/design/deploy.md#revert'))).toBe(false);
    expect(isBroken(at('docs/design/deploy.md#nowhere'))).toBe(true);
    expect(isBroken(at('docs/nothing.md'))).toBe(true);
  });
});

test('the design names only files and folders that exist', () => {
  const pages = files.filter((file) => file.startsWith('docs/design/'));
  const named = pages.flatMap((page) =>
    [...read(page).matchAll(/`((?:[\w-]+\/)+[\w*.-]*)`/g)].map(([, path = '']) => `${page}: ${path}`),
  );
  const ids = /: (pipeline|release|deploy)\/kvstore|: kvstore\/|: lock\//;
  const gone = named.filter((it) => !ids.test(it) && !existsSync(join(ROOT, it.split(': ')[1]?.split('*')[0] ?? '')));
  expect(named.length).toBeGreaterThan(60);
  expect(gone).toEqual([]);
});

/** By the name of the paper, the sections that its table has. */
function sectionsOfPapers(): ReadonlyMap<string, readonly string[]> {
  const parts = read('docs/papers.md').split(/^## /m).slice(1);
  return new Map(
    parts.map((part) => [
      /^.*/.exec(part)?.[0] ?? '',
      [...part.matchAll(/^\| §([\d.]+) /gm)].map(([, section = '']) => section),
    ]),
  );
}
