import { z } from 'zod';
import { excerptNotJson, explainViolation } from '../../sdk/schemaViolation';

const answerSchema = z.object({
  units: z.array(z.object({ id: z.string(), live: z.int().min(0), state: z.enum(['up', 'down']) })),
});

function explain(change: object): string {
  const answer = { units: [{ id: 'a', live: 1, state: 'up', ...change }] };
  const { field, detail } = explainViolation(answer, answerSchema.safeParse(answer).error!);
  return `${field}: ${detail}`;
}

describe('the sentence about an answer that its schema does not allow names field, rule and value:', () => {
  test.each<[string, object, string]>([
    ['fewer than none', { live: -1 }, 'units.0.live: Too small: expected number to be >=0 (it is -1)'],
    ['a fraction', { live: 0.5 }, 'units.0.live: Invalid input: expected int, received number (it is 0.5)'],
    ['more than can be counted', { live: 2 ** 53 }, '(it is 9007199254740992)'],
    ['1e999', { live: JSON.parse('1e999') as number }, '(it is Infinity)'],
    ['a text', { live: '3' }, 'units.0.live: Invalid input: expected number, received string (it is "3")'],
    ['null', { live: null }, '(it is null)'],
    ['nothing', { live: undefined }, '(it is missing)'],
    ['an empty text', { live: '' }, '(it is "")'],
    ['a list', { live: [1, 2] }, '(it is [1,2])'],
    ['an object', { live: { is: 3 } }, '(it is {"is":3})'],
    ['another word', { state: 'ajar' }, 'expected one of "up"|"down" (it is "ajar")'],
  ])('%s', (_, change, sentence) => {
    expect(explain(change)).toContain(sentence);
  });

  test('also where the answer has no such field at all', () => {
    const { error } = answerSchema.safeParse(undefined);
    expect(explainViolation(undefined, error!)).toMatchObject({
      field: 'body',
      detail: expect.stringMatching(/\(it is missing\)$/) as string,
    });
  });

  test.each<[string, unknown]>([
    ['a long text', 'x'.repeat(9_000)],
    ['a long list', Array.from({ length: 9_000 }, (_, nth) => nth)],
  ])('%s is cut', (_, live) => {
    expect(explain({ live })).toHaveLength('units.0.live: Invalid input: expected number, received string (it is )'.length + 81 - (Array.isArray(live) ? 1 : 0)); // prettier-ignore
    expect(explain({ live })).toMatch(/…\)$/);
  });

  test('a text that moves the cursor or breaks the line stays on one line', () => {
    expect(explain({ live: 'a\nb\u001b[2Jc\u2028d\u202ee' })).toContain('(it is "a\\nb\\u001b[2Jc d\\u202ee")');
  });
});

test('a field whose name is text of the answer stays on one line, and is cut', () => {
  const labels = { [`a\n${'b'.repeat(9_000)}`]: 7 };
  const { error } = z.record(z.string(), z.string()).safeParse(labels);
  expect(explainViolation(labels, error!)).toMatchObject({
    field: `a ${'b'.repeat(198)}…`,
    detail: expect.stringMatching(/\(it is 7\)$/) as string,
  });
});

describe('an answer that is no JSON is shown', () => {
  test('as it is where it is short, on one line', () => {
    expect(excerptNotJson('<html>\n<body>')).toBe('<html> <body>');
  });

  test('with the number that JSON does not have, and its field, where it is long', () => {
    const rows = 'x'.repeat(5_000);
    const shown = excerptNotJson(`{"units":[{"id":"${rows}","live": NaN,"more":"${rows}"}]}`);
    expect(shown).toMatch(/^…x+","live": NaN…$/);
    expect(excerptNotJson(`{"live":-Infinity,"more":"${rows}"}`)).toBe('{"live":-Infinity…');
  });

  test('by its beginning where it is long for another reason', () => {
    expect(excerptNotJson('y'.repeat(5_000))).toBe(`${'y'.repeat(200)}…`);
  });
});
