import { AMOUNT_PATTERN } from '../fleet/amount';
import { NAME } from '../ids';
import { LISTS, MANUAL, STANDARD_FINDERS } from '../finder/standard';
import { CHANGES, LIMITS } from '../health/threshold';
import { CONFIG_LIMITS, SPEC_LIMITS } from '../limits';

/**
 * The rules of the parser and of lint as far as a JSON schema can express them, so that editors show the same errors. Lint has the messages;
 * these are for the `meta` of the schemas. tests/domain/spec/schemaAgrees.long.test.ts compares the two.
 */

type JsonSchema = Readonly<Record<string, unknown>>;

const has = (...required: readonly string[]): JsonSchema => ({ required });
const no = (...keys: readonly string[]): JsonSchema => ({
  properties: Object.fromEntries(keys.map((key) => [key, false])),
});
const when = (condition: JsonSchema, then: JsonSchema): JsonSchema => ({ if: condition, then });

export const ANY_AMOUNT = {
  anyOf: [
    { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER },
    { type: 'string', maxLength: SPEC_LIMITS.word.max, pattern: AMOUNT_PATTERN },
  ],
};

/** A value that can be part of a name. */
export const VALUE_OF_MATRIX = {
  anyOf: [
    { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
    { type: 'string', pattern: NAME.source },
  ],
};

export const NOT_RESERVED = { not: { const: 'constructor' } };

export const MORE_THAN_NOTHING = { not: { pattern: '^[0.]+ *[A-Za-z]+$' } };

/** A calendar needs a mode that uses it, and a zone. */
export const CALENDAR_MODE = {
  allOf: [
    when({ ...has('mode'), properties: { mode: { const: 'calendar' } } }, has('calendar')),
    when(has('calendar'), { ...has('mode', 'timezone'), properties: { mode: { const: 'calendar' } } }),
  ],
};

const TIME_TEXT = '^\\d\\d:\\d\\d$';
const YEARLY_DAY = '^\\d\\d-\\d\\d$';
const DATE_PREFIX = '^\\d{4}-';
const INSTANT = 'T.*(Z|[+-]\\d\\d:\\d\\d)$';

const ends = (pattern: string): JsonSchema => ({ properties: { from: { pattern }, to: { pattern } } });
const zoned = has('timezone');

/** Both ends are of the same kind, with a zone if they are wall times. */
export const BLACKOUT = {
  allOf: [
    when(has('days'), { allOf: [ends(TIME_TEXT), zoned] }),
    when({ not: has('days') }, { anyOf: [{ allOf: [ends(YEARLY_DAY), zoned] }, ends(DATE_PREFIX)] }),
    { anyOf: [zoned, ends(INSTANT)] },
  ],
};

/** All windows close in the same way. */
export const WINDOWS = {
  anyOf: [
    { items: { properties: { onClose: { const: 'pause' } } } },
    ...['finish-phase', 'finish'].map((onClose) => ({
      items: { ...has('onClose'), properties: { onClose: { const: onClose } } },
    })),
  ],
};

const UNCOUNTED = no('maxDeploys');

/** Only deploys are counted in a window. */
export const COUNTED = when(
  { properties: { type: { not: { const: 'deploy' } } } },
  { properties: { window: { ...UNCOUNTED, items: UNCOUNTED } } },
);

/** Each standard finder with its parameters. */
export const FINDER = {
  allOf: Object.entries(STANDARD_FINDERS)
    .filter(([finder]) => finder !== MANUAL)
    .map(([finder, choices]) =>
      when(
        { properties: { finder: { const: finder } } },
        { ...has('with'), properties: { with: { anyOf: choices.map(requireTexts) } } },
      ),
    ),
};

function requireTexts(keys: readonly string[]): JsonSchema {
  const text = { type: 'string', minLength: 1, maxLength: SPEC_LIMITS.finderWith.max };
  return {
    ...has(...keys),
    properties: Object.fromEntries(
      keys.map((key) => [
        key,
        LISTS.has(key) ? { type: 'array', minItems: 1, maxItems: CONFIG_LIMITS.ownedPaths.max, items: text } : text,
      ]),
    ),
    additionalProperties: false,
  };
}

const once = { retry: { properties: { attempts: { maximum: 1 } } } };
const MAKES_NOTHING = { outputs: { maxItems: 0 } };

export const MAKER_OF_NOTHING = { allOf: [{ properties: MAKES_NOTHING }] };
export const PICK = { allOf: [{ properties: { ...MAKES_NOTHING, ...once, timeout: false } }] };
export const CANARY = { allOf: [{ ...has('inputs'), properties: { ...MAKES_NOTHING, inputs: { minItems: 1 } } }] };
export const DEPLOY = {
  allOf: [{ ...has('inputs'), properties: { ...MAKES_NOTHING, ...once, inputs: { minItems: 1 }, timeout: false } }],
};

/** In lockstep all units advance equally. */
export const LOCKSTEP = {
  allOf: [
    when(
      { ...has('lockstep'), properties: { lockstep: { const: true } } },
      {
        properties: {
          phases: {
            items: { ...has('scope'), properties: { scope: { const: '*' }, amount: { not: { type: 'object' } } } },
          },
        },
      },
    ),
  ],
};

/** An address, or the name of a receiver, which has its own format. */
export const RECEIVER = {
  anyOf: [
    { ...has('url'), ...no('to') },
    { ...has('to'), ...no('url', 'format') },
  ],
};

export const VERSION_OF = { dependencies: { version: ['artifact'] } };

const thresholdWith = (keys: readonly string[]): JsonSchema => ({
  properties: { threshold: { anyOf: keys.map((key) => has(key)) } },
});

/** A limit compares with nothing, a change with something. A ready check provides part of this. */
export const CHECK = [
  when(
    { ...has('threshold'), ...thresholdWith(LIMITS) },
    { allOf: [no('compare'), { properties: { method: { const: 'threshold' } } }] },
  ),
  when({ ...has('threshold'), ...thresholdWith(CHANGES), not: has('uses') }, has('compare')),
];
