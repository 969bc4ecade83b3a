import { widthOf, type View } from '../../cli/render/paint';
import { LISTS, RICH, RICH_CLIENT as client, STATUSES } from '../builders/pictures';
import { NOW } from '../builders/cliSamples';
import { run } from '../builders/cliWorld';

const viewOf = (width: number): View => ({ width, color: false, now: NOW, timeZone: 'UTC' });

const PICTURES = [
  ...Object.entries(STATUSES),
  ...Object.entries(LISTS).map(([name, { draw }]) => [name, draw] as const),
].flatMap(([name, draw]) => [80, 120, 200].map((width) => [name, width, draw] as const));

const wordsOf = (text: string): string[] => text.split(/\s+/).filter((word) => word !== '');
const linksOf = (text: string): string[] => wordsOf(text).filter((word) => word.startsWith('http'));
const isLink = (line: string): boolean => /^ *https?:\S+$/.test(line);
/** A command to copy has `--reason "…"`; every other ellipsis stands for something that was cut. */
const withoutBlanks = (text: string): string => text.replaceAll('"…"', '""');

describe.each(PICTURES)('%s on a terminal of %i columns', (_name, width, draw) => {
  const text = draw(viewOf(width));
  const whole = draw(viewOf(Infinity));

  test('has no longer line but a link, which is whole', () => {
    const long = text.split('\n').filter((line) => widthOf(line) > width);
    expect(long.filter((line) => !isLink(line))).toEqual([]);
    expect(linksOf(text)).toEqual(linksOf(whole));
  });

  test('cuts no word without an ellipsis', () => {
    const words = new Set(wordsOf(whole));
    expect(wordsOf(text).filter((word) => !words.has(word) && !/^…|…$/.test(word))).toEqual([]);
  });

  test('ends no line with spaces', () => {
    expect(text.split('\n').filter((line) => /\s$/.test(line))).toEqual([]);
  });
});

describe.each(Object.entries(LISTS))('%s', (_name, { ids, draw }) => {
  test.each([80, 120, 200])('has one line a row on a terminal of %i columns', (width) => {
    const [heading = '', ...lines] = draw(viewOf(width)).split('\n');
    expect(heading).toMatch(/^[A-Z]/);
    expect(lines.slice(0, ids.length).map((line) => ids.find((id) => line.startsWith(id)))).toEqual(ids);
    expect(lines[ids.length] ?? '').not.toMatch(/^ /);
  });

  test('is whole with -o wide, and in a pipe', () => {
    expect(withoutBlanks(draw(viewOf(Infinity)))).not.toContain('…');
    expect(withoutBlanks(draw(viewOf(80), true))).not.toContain('…');
  });
});

test('short cells, such as a day with its time, stay whole as long as longer ones can be cut', () => {
  expect(LISTS['history']!.draw(viewOf(80))).toMatch(/source=13 +12 Nov 09:00:00 +–$/m);
});

test('an id is cut at its start if a terminal has no room, since its end tells it from others', () => {
  const rows = LISTS['list deploys']!.draw(viewOf(60)).split('\n');
  expect(rows[1]).toMatch(/^…\S*113\/deploy-europe /);
});

describe('a pipe and JSON have everything', () => {
  test.each([RICH.release.id, RICH.deploy.id])('of the status of %s', async (id) => {
    const { out } = await run(['status', id], { client, columns: 80 });
    expect(out).toContain(RICH.deploy.paused?.reason);
    const json = await run(['status', id, '-o', 'json'], { client, columns: 80, isTTY: true });
    expect(json.out).toContain(RICH.deploy.paused?.reason);
  });
});

test('a live picture has the same lines, and draws its links whole', async () => {
  const ended = { status: () => Promise.resolve({ ...RICH.deploy, state: 'ended', outcome: 'reverted' } as never) };
  const { out } = await run(['watch', RICH.deploy.id], { client: ended, columns: 80, isTTY: true });
  const lines = out.replace(/\u001b\[[?0-9;]*[A-Za-z]/g, '').split('\n');
  expect(lines.filter((line) => widthOf(line) >= 80 && !isLink(line))).toEqual([]);
  expect(lines).toContain(RICH.deploy.webUi);
  expect(withoutBlanks(lines.join('\n')).match(/…/g)).toHaveLength(1);
});
