import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PipelineStatus } from '../../domain/views';
import { ROOT } from './process';
import { Stack } from './stack';
import { eventually } from './waiting';
import { wordsOf } from './words';

const PAGE = readFileSync(join(ROOT, 'docs/tutorial/teams.md'), 'utf8');

/** A file to save, lines of a file to replace, or a line to type, with its output if the page shows that. */
type Step =
  | { readonly file: string; readonly text: string }
  | { readonly file: string; readonly diff: string }
  | { readonly line: string; readonly shown: string };

const PARTS =
  /^Save this as `([^`]+)`[^]*?^```yaml\n([^]*?)^```|\bIn `([^`]+)`, .*:\n\n```diff\n([^]*?)^```|^```sh\n([^]*?)^```(?:\n\n```text\n([^]*?)^```)?/gm;

/** In the order of the page. */
const STEPS: readonly Step[] = [...PAGE.matchAll(PARTS)].flatMap(
  ([, saved, text = '', changed, diff = '', lines = '', shown = '']): Step[] => {
    if (saved !== undefined) return [{ file: saved, text }];
    if (changed !== undefined) return [{ file: changed, diff }];
    const typed = lines.trim().split('\n');
    return typed.map((line, at) => ({ line, shown: at === typed.length - 1 ? shown : '' }));
  },
);

const titleOf = (step: Step): string =>
  'line' in step ? step.line : `${step.file}: ${('text' in step ? step.text : step.diff).trim().split('\n').at(-1)}`;

/** The text of a file after its lines with a minus were replaced by those with a plus after them. */
function applyDiff(text: string, diff: string): string {
  const without = (lines: string): string => lines.replaceAll(/^[-+]/gm, '');
  const hunks = [...diff.matchAll(/((?:^-.*\n)+)((?:^\+.*\n)*)/gm)];
  expect(hunks).not.toEqual([]);
  return hunks.reduce((all, [, before = '', after = '']) => {
    expect(all).toContain(without(before));
    return all.replace(without(before), () => without(after));
  }, text);
}

/** The lines of an output, without times and padding, and without the mark of the page for lines that it leaves out. */
const linesOf = (output: string): string[] =>
  output
    .split('\n')
    .map((line) =>
      line
        .replaceAll(/\b\d+[smh]( \d+[sm])? ago/g, 'a while ago')
        .replaceAll(/\s+/g, ' ')
        .trim(),
    )
    .filter((line) => line !== '' && line !== '…');

describe('every command of docs/tutorial/teams.md works, in this order', () => {
  const files = new Map<string, string>();
  let stack: Stack;
  beforeAll(async () => void (stack = await Stack.open({ settings: { waitInterval: '500ms' } })));
  afterAll(() => stack.close());

  const save = (file: string, text: string): void => {
    stack.file(file, text);
    files.set(file, text);
  };

  async function type(line: string): Promise<string> {
    const words = wordsOf(line)
      .slice(3)
      .map((word) => (files.has(word) ? join(stack.home, word) : word));
    const { code, stdout, stderr } = await stack.conveyor(words);
    expect({ line, code, stderr }).toEqual({ line, code: 0, stderr: expect.not.stringContaining('error:') });
    return stdout;
  }

  test.each(STEPS.map((step) => [titleOf(step), step] as const))('%s', async (_title, step) => {
    if ('text' in step) return save(step.file, step.text);
    if ('diff' in step) return save(step.file, applyDiff(files.get(step.file) ?? '', step.diff));
    const [first, shown] = [await type(step.line), linesOf(step.shown)];
    // A person looks again until it is as the page shows it.
    let seen = linesOf(first);
    const isAsShown = (): boolean => shown.every((line) => seen.includes(line));
    await eventually('the output is that of the page', async () => {
      if (!isAsShown()) seen = linesOf(await type(step.line));
      return isAsShown();
    }).catch(() => expect(seen).toEqual(expect.arrayContaining(shown)));
  });

  test('the page shows the outputs of its looks, and at the end nothing is offered and the shop runs in the second cluster', async () => {
    expect(STEPS.filter((step) => 'line' in step && step.shown !== '').length).toBeGreaterThanOrEqual(6);
    const status = async (name: string): Promise<PipelineStatus> => (await stack.client.status(name)) as PipelineStatus;
    const [platform, shop] = [await status('platform'), await status('shop')];
    expect([platform, shop].map(({ releases }) => releases.map(({ state }) => state))).toEqual([
      ['succeeded', 'succeeded', 'succeeded'],
      ['succeeded', 'succeeded', 'succeeded', 'succeeded'],
    ]);
    expect(platform.offers ?? []).toEqual([]);
    const jobs = ['shop-c1', 'shop-c2'].map((name) => stack.control('GET', `/control/jobs/${name}`));
    expect(await Promise.all(jobs)).toMatchObject([{ versions: { 'shop:2': 20 } }, { versions: { 'shop:4': 20 } }]);
  });
});
