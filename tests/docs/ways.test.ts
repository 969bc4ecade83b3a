import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { ROOT } from '../setup/sources';

/** The ways through the code in ARCHITECTURE.md exist, and stay short enough to walk. */

interface Station {
  readonly file: string;
  /** A name that it shares with a neighbour which it does not import, such as that of an update. */
  readonly name: string | undefined;
}

const text = readFileSync(join(ROOT, 'ARCHITECTURE.md'), 'utf8');
const section = text.slice(text.indexOf('## Two walks through the code'), text.indexOf('## Code map'));

const stations = (from: string): Station[] => {
  const [, after = ''] = section.split(`\n${from}:\n\n`);
  const items = after.split('\n\n')[0]?.split('\n') ?? [];
  return items.map((item) => {
    const [, file = '', name] = /^\d+\. `([^`]+)`(?:.*\(`(\w+)`\))?/.exec(item) ?? [];
    return { file, name };
  });
};

const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

function imports(from: string, to: string): boolean {
  const targets = [...read(from).matchAll(/from '(\.[^']+)'/g)].map(([, path = '']) =>
    normalize(join(dirname(from), path)),
  );
  return targets.some((path) => [`${path}.ts`, `${path}/index.ts`].includes(to));
}

const sharesName = (one: Station, other: Station): boolean =>
  [one.name, other.name].some(
    (name) => name !== undefined && [one, other].every(({ file }) => new RegExp(`\\b${name}\\b`).test(read(file))),
  );

const areLinked = (one: Station, other: Station): boolean =>
  imports(one.file, other.file) || imports(other.file, one.file) || sharesName(one, other);

test.each([
  ['From a webhook to the first update of the fleet', 15],
  ['From an unhealthy verdict to the revert', 5],
])('%s, a reader opens at most %d files, each linked to one before', (from, most) => {
  const way = stations(from);
  expect(way.length).toBeGreaterThan(2);
  expect(way.length).toBeLessThanOrEqual(most);
  expect(way.filter(({ file }) => !existsSync(join(ROOT, file)))).toEqual([]);
  const astray = way.slice(1).filter((next, at) => !way.slice(0, at + 1).some((before) => areLinked(before, next)));
  expect(astray).toEqual([]);
});

test('a way that the code does not have would be found', () => {
  expect(
    areLinked(
      { file: 'workflows/deploy.ts', name: undefined },
      { file: 'activities/updateSender.ts', name: 'nameless' },
    ),
  ).toBe(false);
});
