import fc from 'fast-check';
import { runRaw } from '../../configerator/compiler/child/raw';
import { parseStrictJson } from '../../configerator/compiler/child/strictJson';

const whyNot = (text: string): string | undefined => {
  try {
    parseStrictJson(text);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
};
const inChild = (file: string, text: string, schema: string | null = null) =>
  runRaw({ kind: 'raw', files: [{ file, text, schema }] }, () => undefined).outcome[0];

describe('a raw file of JSON is refused', () => {
  test.each([
    ['{\n  "soft": 1,\n  "soft": 2\n}', 'line 3, column 3: the key "soft" comes twice in this object'],
    ['{"a":{"b":1},"c":[{"x":1,"y":{},"\\u0078":2}]}', 'line 1, column 33: the key "x" comes twice in this object'],
    ['{"__proto__":1,"__proto__":2}', 'line 1, column 16: the key "__proto__" comes twice in this object'],
    [`{"${'k'.repeat(80)}":1,"${'k'.repeat(80)}":2}`, expect.stringMatching(/the key "k{59}…" comes twice/)],
    ['{\n "max": 1e400 }', 'line 2, column 9: 1e400 is too large for a number'],
    ['[1, -1E+999]', 'line 1, column 5: -1E+999 is too large for a number'],
    ['1e309', 'line 1, column 1: 1e309 is too large for a number'],
    ['\uFEFF{}', 'it begins with a byte order mark (U+FEFF), which JSON does not have; save it as UTF-8 without one'],
    ['{"a":1,}', expect.stringMatching(/JSON/)],
  ])('%j', (text, why) => {
    expect(whyNot(text)).toEqual(why);
    expect(inChild('a.json', text)).toEqual({ why, of: 'text' });
    expect(inChild('a.json', '1', text)).toEqual({ why, of: 'schema' });
  });
});

test('the same keys in different objects, texts like keys and large finite numbers are JSON as before', () => {
  for (const text of [
    '[{"a":1},{"a":2},{"a":{"a":{"a":"a"}}}]',
    '{"a":"\\"a\\":1,\\"a\\":2, 1e400","b":["a","a",{"a":1e308}],"c":-0.5e-9,"d":true,"e":null}',
    '{"a":"{\\\\","b":"}"}',
    '""',
  ])
    expect(parseStrictJson(text)).toEqual(JSON.parse(text));
});

test('any JSON that a program writes is read as JSON.parse reads it, and refused once one of its keys is repeated', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.constantFrom(undefined, 2, '\t'), (value, space) => {
      const text = JSON.stringify(value, null, space);
      expect(parseStrictJson(text)).toEqual(JSON.parse(text));
    }),
  );
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.jsonValue(), (key, value) => {
      const member = `${JSON.stringify(key)}: ${JSON.stringify(value)}`;
      expect(whyNot(`[{${member}, ${member}}]`)).toMatch(/comes twice/);
    }),
  );
});

test('a megabyte takes as long as its length', () => {
  const keys = Array.from({ length: 90_000 }, (_, n) => `"k${n}":${n}`);
  const startedAt = performance.now();
  expect(whyNot(`{${keys.join()}}`)).toBeUndefined();
  expect(whyNot(`"${'\\u0041'.repeat(170_000)}"`)).toBeUndefined();
  expect(whyNot('['.repeat(2_000) + ']'.repeat(2_000))).toBeUndefined();
  expect(performance.now() - startedAt).toBeLessThan(10_000);
});

describe('a raw file of YAML', () => {
  test.each([
    ['soft: 1\nsoft: 2\n', expect.stringContaining('Map keys must be unique at line 2')],
    ['limits:\n  max: 1e400\n', 'line 2, column 8: 1e400 is too large for a number'],
  ])('%j is refused', (text, why) => expect(inChild('a.yaml', text)).toEqual({ why, of: 'text' }));

  test.each(['max: .inf\nmin: -.INF\nno: .nan\n', 'a: &x { b: 1 }\nc: *x\n', '\uFEFFa: 1\n'])('%j is read', (text) =>
    expect(inChild('a.yaml', text)).toBeNull(),
  );
});
