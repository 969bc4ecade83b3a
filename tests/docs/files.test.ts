import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parse } from 'yaml';
import { parsePipeline } from '../../domain/spec/parse';
import { parseRegistry } from '../../settings/registry';
import { anchorsOf } from '../setup/headings';
import { repositoryFiles } from '../setup/repositoryFiles';
import { runningSources } from '../setup/sources';
import { run } from '../builders/cliWorld';

const ROOT = join(__dirname, '../..');
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');
const README = read('README.md');
const EXTEND = read('docs/guides/extend.md');
const ARCHITECTURE = read('ARCHITECTURE.md');
const PAGES = [
  ...['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'sdk/README.md'],
  ...readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' }).map((file) => join('docs', file)),
].filter((file) => file.endsWith('.md'));

/** The contents of the code blocks of a language. */
const blocks = (text: string, language: string): string[] =>
  [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\``, 'gm'))].map(([, body = '']) => body);

describe('links', () => {
  test.each(PAGES)('links of %s lead to files and headings that exist', (page) => {
    const targets = [...read(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target);
    const broken = targets.filter((target) => {
      if (/^https?:/.test(target)) return false;
      const [path = '', anchor] = target.split('#');
      const file = path === '' ? page : join(dirname(page), path);
      return !existsSync(join(ROOT, file)) || (anchor !== undefined && !anchorsOf(file).includes(anchor));
    });
    expect(broken).toEqual([]);
  });
});

describe('commands in pages', () => {
  const commands = PAGES.flatMap((page) => blocks(read(page), 'sh'))
    .flatMap((block) => block.trim().split('\n'))
    .filter((line) => line !== '');

  test.each([...new Set(commands)])('%s is a command that exists, with the options that it has', async (line) => {
    const [first = '', second = '', third = '', fourth = '', fifth = ''] = line.split(' ');
    if (first === 'export') return expect(second).toMatch(/^(CONVEYOR|TEMPORAL)_[A-Z_]+=\S+$/);
    if (first === 'temporal') return expect(second).toBe('workflow');
    if (first === 'npm') {
      const { scripts } = JSON.parse(read('package.json')) as { scripts: object };
      return expect(Object.keys(scripts)).toContain(second === 'run' ? third : second);
    }
    expect([first, second, third]).toEqual(['npx', '--no-install', 'conveyor']);
    const whole = await run([fourth, '--help']);
    const help = whole.out.includes('\nCommands:\n') ? await run([fourth, fifth, '--help']) : whole;
    expect(help.code).toBe(0);
    for (const option of line.split(' conveyor ')[1]?.match(/ --[a-z-]+/g) ?? [])
      expect(help.out).toContain(option.trim());
  });

  test.each([...PAGES, 'cli/commands/demo.ts', 'cli/commands/dev.ts', 'cli/commands/init.ts'])(
    '%s makes no reader run an untrusted package: npx fetches one where this checkout is not',
    (page) => expect(read(page)).not.toMatch(/npx (?!--no-install )[^\n`]*\bconveyor\b/),
  );

  test('docs/reference/cli.md lists every command of the command line', async () => {
    const page = read('docs/reference/cli.md');
    const table = page.slice(page.indexOf('## All commands'), page.indexOf('## Output'));
    const { out } = await run(['--help']);
    const named = [...out.matchAll(/^ {2}([a-z][a-z-]+)(?: [<[].*)? {2,}\S/gm)].map(([, name = '']) => name);
    expect(named.length).toBeGreaterThan(20);
    expect(named.filter((name) => name !== 'conveyor' && !new RegExp(`\`${name}[\` ]`).test(table))).toEqual([]);
  });

  test('the README shows the pipeline of examples/minimal as it is, and docs/guides/extend.md the extensions', () => {
    expect(blocks(README, 'yaml')).toEqual([read('examples/minimal/pipeline.yaml')]);
    const extensions = blocks(EXTEND, 'ts').map((block) => block.split('\n'));
    expect(extensions).toHaveLength(2);
    for (const [first = '', ...rest] of extensions) expect(rest.join('\n')).toBe(read(first.replace('// ', '')));
  });

  test('docs/guides/extend.md shows a configuration that loads, for the extensions that it shows', () => {
    const { extensions } = parseRegistry(parse(blocks(EXTEND, 'yaml')[0] ?? ''), { HOSTS_TOKEN: 'secret' });
    expect(extensions.map(({ name }) => name)).toEqual(['announce', 'hosts']);
  });

  test.each(['docs/tutorial/service.md', 'docs/tutorial/teams.md'])('pipelines of %s lint without a word', (page) => {
    const texts = blocks(read(page), 'yaml');
    expect(texts.map((text) => parsePipeline(text).problems)).toEqual(texts.map(() => []));
    expect(texts).not.toEqual([]);
  });

  test('docs/guides/operate.md names every environment variable that is read', () => {
    const page = read('docs/guides/operate.md');
    const scripts = ['temporal-dev.sh', ...repositoryFiles().filter((file) => /^scripts\/.+\.(js|sh)$/.test(file))];
    const texts = [...runningSources().map(({ text }) => text), ...scripts.map(read)];
    const used = new Set(texts.flatMap((text) => text.match(/\bCONVEYOR_[A-Z_]+\b/g) ?? []));
    // CI sets the report; repeats are counted there; npm sets the lane; the digest is read by the script's own tests; `npm run chaos` gives its tests the seeds.
    const chaos = ['CONVEYOR_CHAOS', 'CONVEYOR_CONFIG_KILLS', 'CONVEYOR_REPRODUCE'];
    const internal = [
      'CONVEYOR_TEST_BUILT',
      'CONVEYOR_TEST_LANE',
      'CONVEYOR_TEST_REPORT',
      'CONVEYOR_TEST_REPEATS',
      'CONVEYOR_TEMPORAL_SHA',
      ...chaos,
    ];
    expect([...used].filter((name) => !page.includes(`\`${name}\``) && !internal.includes(name))).toEqual([]);
  });
});

describe('the README', () => {
  test('has at most 900 words', () => {
    expect(README.split(/\s+/).length).toBeLessThanOrEqual(900);
  });

  test('says where to read on: the table of contents has every page', () => {
    const index = read('docs/index.md');
    const linked = [...index.matchAll(/\]\(([^)#]+)/g)].map(([, target = '']) => join('docs', target));
    const pages = PAGES.filter((page) => page.startsWith('docs/') && !/^docs\/(adr\/\d|index)/.test(page));
    expect(pages.filter((page) => !linked.includes(page))).toEqual([]);
    expect(README).toContain('(docs/index.md');
  });
});

/** Tests that a page names: `file`: title, at the end of a line or of a row. */
const namedIn = (text: string): { file: string; title: string }[] =>
  [...text.matchAll(/`((?:tests|sdk)\/\S+)`: (.*?)(?: \|)?$/gm)].map(([, file = '', title = '']) => ({ file, title }));

function expectTest({ file, title }: { file: string; title: string }): void {
  const quoted = title.replace(/'/g, "\\'");
  expect(read(file)).toMatch(new RegExp(`(test|describe|\\w*[cC]heck)(\\.each\\([^]*?\\))?\\(\\s*'${escape(quoted)}'`));
}

describe('the guide to securing Conveyor', () => {
  const named = namedIn(read('docs/guides/secure.md'));

  test('names a test for each of the attacks', () => expect(named.length).toBeGreaterThan(20));
  test.each(named)('$file has: $title', expectTest);

  test('lists all the files that start a program, and no other', () => {
    const page = read('docs/guides/secure.md').split('These are all the files that start a program:')[1] ?? '';
    const listed = [...page.matchAll(/^\| `([\w/.-]+)` \|/gm)].map(([, file = '']) => file);
    const starting = runningSources()
      .filter(({ text }) => /^import \{.*\} from 'node:child_process'/m.test(text))
      .map(({ name }) => name)
      .filter((name) => !/^(examples|bench|scripts)\//.test(name));
    expect(listed.toSorted()).toEqual(starting.toSorted());
  });
});

describe('ARCHITECTURE.md', () => {
  const invariants = ARCHITECTURE.slice(ARCHITECTURE.indexOf('## Invariants'));
  const named = namedIn(invariants);

  test('names tests for each of its invariants', () => {
    const parts = invariants.split(/^\d+\. /m).slice(1);
    expect(parts.length).toBeGreaterThanOrEqual(20);
    expect(parts.filter((part) => !/- `(tests|sdk)\//.test(part))).toEqual([]);
  });

  test.each(named)('$file has: $title', expectTest);

  test('names only files and folders that exist', () => {
    const paths = [...ARCHITECTURE.matchAll(/`((?:[\w.-]+\/)+[\w.-]*)`/g)].map(([, path = '']) => path);
    const gone = paths.filter(
      (path) => !/^(pipeline|release|deploy)\/(kvstore|inference)|^lock\//.test(path) && !exists(path),
    );
    expect(paths.length).toBeGreaterThan(50);
    expect(gone).toEqual([]);
  });

  test('has every folder of the checkout in its code map', () => {
    const map = ARCHITECTURE.slice(ARCHITECTURE.indexOf('## Code map'), ARCHITECTURE.indexOf('### Walls'));
    const folders = readdirSync(ROOT, { withFileTypes: true }).filter((it) => it.isDirectory() && !/^\./.test(it.name));
    const own = folders
      .map(({ name }) => name)
      .filter(
        (name) => !['node_modules', 'dist', 'coverage'].includes(name) && readdirSync(join(ROOT, name)).length > 0,
      );
    expect(own.filter((name) => !map.includes(`\`${name}/`))).toEqual([]);
  });
});

const escape = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** As it is written, or in the folder that the table row is about. */
const exists = (path: string): boolean =>
  ['', 'cli/', 'simulator/', 'docs/'].some((folder) => existsSync(join(ROOT, folder, path)));

describe('the other pages', () => {
  test('the list of decisions has all of them', () => {
    const files = readdirSync(join(ROOT, 'docs/adr')).filter((file) => /^\d/.test(file));
    expect(files.length).toBeGreaterThan(5);
    expect(files.filter((file) => !read('docs/adr/README.md').includes(`(${file})`))).toEqual([]);
  });

  describe('the glossary', () => {
    const rows = [...read('docs/glossary.md').matchAll(/^\| \*\*(.+?)\*\* \| (.+?) \| (.*)\|$/gm)];
    const words = rows.map(([, word = '']) => word);

    test('has each word once, in order, and no more than a newcomer can learn', () => {
      expect(words.length).toBeGreaterThan(40);
      expect(words.length).toBeLessThanOrEqual(80);
      expect(words).toEqual([...new Set(words)].sort());
    });

    test('explains every word that it refers to', () => {
      const meant = rows.flatMap(([, , means = '']) => [...means.matchAll(/(?<!\*)\*([a-z -]+)\*(?!\*)/g)]);
      const forms = new Set(words.flatMap((word) => [word, `${word}s`, word.replace(/y$/, 'ies'), `${word}ren`]));
      expect(meant.map(([, word = '']) => word).filter((word) => !forms.has(word))).toEqual([]);
    });
  });
});
