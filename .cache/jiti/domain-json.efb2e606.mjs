"use strict";Object.defineProperty(exports, "__esModule", { value: true });exports.isMissing = exports.isJsonObject = exports.areTexts = exports.NESTED = void 0;exports.isNestedTooDeep = isNestedTooDeep;exports.isText = void 0;exports.listNotJson = listNotJson;exports.parseNestedJson = parseNestedJson;exports.sameJson = sameJson; /** An object from JSON or YAML with unchecked fields. */


const isJsonObject = (value) =>
typeof value === 'object' && value !== null && !Array.isArray(value);

/** Whether two values are equal, regardless of the order of their fields. */exports.isJsonObject = isJsonObject;
function sameJson(one, other) {
  if (Array.isArray(one) && Array.isArray(other))
  return one.length === other.length && one.every((item, index) => sameJson(item, other[index]));
  if (!isJsonObject(one) || !isJsonObject(other)) return one === other;
  const keys = Object.keys(one);
  const isIn = (key) => Object.hasOwn(other, key) && sameJson(one[key], other[key]);
  return keys.length === Object.keys(other).length && keys.every(isIn);
}

const isText = (value) => typeof value === 'string';exports.isText = isText;
const areTexts = (value) => Array.isArray(value) && value.every(isText);exports.areTexts = areTexts;
const isMissing = (value) => value === undefined || value === null;

/** A part of a value that JSON does not have, such as `NaN`, which would arrive as null. */exports.isMissing = isMissing;






/** The parts of a value that JSON does not have. A field that is undefined counts as left out. */
function listNotJson(value, path = []) {
  if (Array.isArray(value)) return value.flatMap((item, index) => listNotJson(item, [...path, index]));
  const kind = Object.prototype.toString.call(value).slice('[object '.length, -1);
  if (kind === 'Object')
  return Object.entries(value).flatMap(([key, part]) =>
  part === undefined ? [] : listNotJson(part, [...path, key])
  );
  if (kind === 'Number') return Number.isFinite(value) ? [] : [{ path, what: String(value) }];
  return ['String', 'Boolean', 'Null'].includes(kind) ? [] : [{ path, what: `a ${kind}` }];
}

/** The depth to which incoming JSON may nest: the code that reads, checks or writes it recurses for each level. */
const MAX_NESTING = 100;

/** @throws SyntaxError if the text is not JSON, or nests deeper than MAX_NESTING */
function parseNestedJson(text) {
  if (nestsTooDeep(text)) throw new SyntaxError(NESTED);
  try {
    return JSON.parse(text);
  } catch {
    throw new SyntaxError('not JSON');
  }
}

const NESTED = exports.NESTED = `nested more than ${MAX_NESTING} levels deep`;

/** Counts brackets outside strings, without parsing. */
function nestsTooDeep(text) {
  let [depth, isInText] = [0, false];
  for (let at = 0; at < text.length; at += 1) {
    const letter = text[at];
    if (letter === '\\') at += 1;else
    if (letter === '"') isInText = !isInText;else
    if (isInText) continue;else
    if (letter === '[' || letter === '{') depth += 1;else
    if (letter === ']' || letter === '}') depth -= 1;
    if (depth > MAX_NESTING) return true;
  }
  return false;
}

/** Whether a value that was parsed elsewhere nests deeper than MAX_NESTING. */
function isNestedTooDeep(value) {
  let level = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MAX_NESTING) return true;
    level = level.flatMap((one) => typeof one === 'object' && one !== null ? Object.values(one) : []);
  }
  return false;
} /* v9-8b05b73a2d557794 */
