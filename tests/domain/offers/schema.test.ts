import fc from 'fast-check';
import {
  compareSchemas,
  findShape,
  isValueSchema,
  VALUE_TYPES,
  whyMismatch,
  type ValueSchema,
} from '../../../domain/offers/schema';
import { sameJson } from '../../../domain/json';

const vpc: ValueSchema = {
  type: 'object',
  properties: {
    id: { type: 'string' },
    net: { type: 'object', properties: { size: { type: 'integer' } }, required: ['size'] },
    zones: { type: 'array', items: { type: 'string' } },
  },
  required: ['id'],
};

test.each([
  ['all parts', { id: 'v', net: { size: 24 }, zones: ['a', 'b'] }, undefined],
  ['parts of which the schema says nothing', { id: 'v', more: 1 }, undefined],
  ['another type', { id: 7 }, 'id is an integer, not a string'],
  ['nothing for a part', { id: null }, 'id is null, not a string'],
  ['no part that is required', { net: { size: 1 } }, 'id is missing'],
  ['no inner part that is required', { id: 'v', net: {} }, 'net.size is missing'],
  ['a fraction', { id: 'v', net: { size: 1.5 } }, 'net.size is a number, not an integer'],
  ['an item of another type', { id: 'v', zones: ['a', true] }, 'zones[1] is a boolean, not a string'],
  ['a list', ['v'], 'the value is an array, not an object'],
])('a value with %s', (_, value, why) => expect(whyMismatch(value, vpc)).toBe(why));

test('an integer is a number', () => expect(whyMismatch(7, { type: 'number' })).toBeUndefined());

const string: ValueSchema = { type: 'string' };
const object = (properties: Record<string, ValueSchema>, required: readonly string[] = []): ValueSchema => ({
  ...{ type: 'object', properties, required },
});

test.each<[string, ValueSchema | undefined, ValueSchema, object]>([
  ['the same', vpc, vpc, { verdict: 'fits' }],
  ['more', object({ id: string, more: string }, ['id']), object({ id: string }, ['id']), { verdict: 'fits' }],
  ['an integer for a number', { type: 'integer' }, { type: 'number' }, { verdict: 'fits' }],
  [
    'a number for an integer',
    { type: 'number' },
    { type: 'integer' },
    { verdict: 'does-not-fit', why: 'the value is a number, not an integer' },
  ],
  [
    'a part that may be missing',
    object({ id: string }),
    object({ id: string }, ['id']),
    { verdict: 'does-not-fit', why: 'id may be missing' },
  ],
  [
    'another type, before all that is not known',
    object({ b: string }),
    object({ a: string, b: { type: 'boolean' } }),
    { verdict: 'does-not-fit', why: 'b is a string, not a boolean' },
  ],
  [
    'a part without a type',
    object({}, ['id']),
    object({ id: string }, ['id']),
    { verdict: 'undecidable', why: 'the type of id is not known' },
  ],
  [
    'items without a type',
    { type: 'array' },
    { type: 'array', items: string },
    { verdict: 'undecidable', why: 'the type of [] is not known' },
  ],
  [
    'a part that every object of JavaScript has',
    object({}),
    object({ constructor: string }),
    { verdict: 'undecidable', why: 'the type of constructor is not known' },
  ],
  ['no schema', undefined, vpc, { verdict: 'undecidable', why: 'the type of the value is not known' }],
])('an offer of %s, compared with a wish', (_, offered, wished, expected) =>
  expect(compareSchemas(offered, wished)).toEqual(expected),
);

const { schemas } = fc.letrec<{ schemas: ValueSchema }>((tie) => ({
  schemas: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom<ValueSchema>(...VALUE_TYPES.map((type) => ({ type }))),
    fc.record({ type: fc.constant('array' as const), items: tie('schemas') }),
    fc.record({
      type: fc.constant('object' as const),
      properties: fc.dictionary(fc.constantFrom('a', 'b'), tie('schemas'), { noNullPrototype: true }),
      required: fc.uniqueArray(fc.constantFrom('a', 'b')),
    }),
  ),
}));
const values = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom<unknown>('x', 1, 1.5, true, null),
    fc.array(tie('value'), { maxLength: 2 }),
    fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('value'), { noNullPrototype: true }),
  ),
})).value;

function valuesOf({ type, properties = {}, required = [], items }: ValueSchema): fc.Arbitrary<unknown> {
  if (type === 'array') return fc.array(items ? valuesOf(items) : values, { maxLength: 2 });
  if (type !== 'object')
    return fc.constantFrom<unknown>(
      ...['x', true, 1, 1.5].filter((value) => whyMismatch(value, { type }) === undefined),
    );
  const parts: Record<string, fc.Arbitrary<unknown>> = {
    ...Object.fromEntries(required.map((key) => [key, values])),
    c: values,
  };
  const typed = Object.entries(properties).map(([key, part]) => [key, valuesOf(part)] as const);
  return fc.record({ ...parts, ...Object.fromEntries(typed) }, { requiredKeys: [...required] });
}

test('each value of an offer that fits a wish by its schema fits it', () =>
  fc.assert(
    fc.property(
      schemas.chain((offered) => fc.tuple(fc.constant(offered), valuesOf(offered))),
      schemas,
      ([offered, value], wished) => {
        expect(whyMismatch(value, offered)).toBeUndefined();
        fc.pre(compareSchemas(offered, wished).verdict === 'fits');
        expect(whyMismatch(value, wished)).toBeUndefined();
      },
    ),
  ));

test('values of one shape fit the same schemas', () =>
  fc.assert(
    fc.property(schemas, values, values, (schema, one, other) => {
      fc.pre(sameJson(findShape(one), findShape(other)));
      expect(whyMismatch(one, schema) === undefined).toBe(whyMismatch(other, schema) === undefined);
    }),
  ));

test('an empty list is no empty object', () => expect(findShape([])).not.toEqual(findShape({})));

test.each([
  ['no object', 'string', false],
  ['an unknown type', { type: 'date' }, false],
  ['broken items', { type: 'array', items: [] }, false],
  ['broken properties', { type: 'object', properties: { a: 1 } }, false],
  ['nothing for its properties', { type: 'object', properties: null }, false],
  ['nothing for what is required', { type: 'object', required: null }, false],
  ['a whole one', vpc, true],
])('a schema sent by hand is checked: %s', (_, value, expected) => expect(isValueSchema(value)).toBe(expected));
