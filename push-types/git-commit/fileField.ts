import { isAlias, isMap, isNode, isPair, isScalar, isSeq, parseAllDocuments, Scalar, type Document } from 'yaml';
import { GIT_COMMIT_LIMITS } from '../../sdk';
import type { FieldPlace } from './deployConfig';
import { quoteScalar } from './fieldQuote';

/**
 * One field of a YAML or JSON file: reads its value, and replaces it. The parser only locates the value; the rest of the text stays byte for byte, with its comments, order and
 * line ends. Pure.
 */

/** The file has no such field that could be changed alone; the message says what to do. */
export class FieldError extends Error {
  override readonly name = 'FieldError';
}

/** The value of the field: a tag, a digest or a text. @throws FieldError */
export const readFileField = (text: string, place: FieldPlace): string => locateField(text, place).value;

/** The file with another value in the field. Returns the same text if the field has it already. @throws FieldError */
export function writeField(text: string, place: FieldPlace, value: string): string {
  const found = locateField(text, place);
  if (found.value === value) return text;
  const whole = `${found.prefix}${value}`;
  const written = quoteScalar(whole, found.node, looksLikeJson(text));
  const changed = text.slice(0, found.start) + written + text.slice(found.end);
  if (readFileField(changed, place) !== value)
    throw new FieldError(`${describePlace(place)} cannot be set to ${value}: write its present value in double quotes`);
  return changed;
}

/** The field in words, for messages: `the image web`, `the key image.tag`. */
export function describePlace(place: FieldPlace): string {
  if ('kustomize' in place) return `the image ${place.kustomize}`;
  if ('container' in place) return `the container ${place.container}`;
  return `the key ${place.key.join('.')}`;
}

/** A value with its place in the text. */
interface Located {
  readonly value: string;
  /** The part of the value that stays, such as the name of an image. */
  readonly prefix: string;
  readonly node: Scalar;
  readonly start: number;
  readonly end: number;
}

/** A node, and whether it or a node around it is shared by an anchor. */
interface FoundNode {
  readonly node: unknown;
  readonly isShared: boolean;
}

function locateField(text: string, place: FieldPlace): Located {
  const documents = parseText(text);
  const all = documents.flatMap((document) => findNodes(document, place));
  const [found] = all;
  const name = describePlace(place);
  if (found === undefined) throw new FieldError(explainMissing(text, place));
  if (all.length > 1)
    throw new FieldError(
      `${name} is there ${all.length} times: ${'container' in place ? 'name its kind and name in the field' : 'leave one of them'}`,
    );
  const { node, isShared } = found;
  if (isAlias(node) || isShared || (isNode(node) && 'anchor' in node && node.anchor !== undefined))
    throw new FieldError(`${name} is shared by an anchor, so a change would reach other places: write its value out`);
  if (!isScalar(node) || !node.range || node.value === null)
    throw new FieldError(text.includes('{{') ? explainTemplate(name) : `${name} has no text as its value: write one`);
  if (node.type === 'BLOCK_FOLDED' || node.type === 'BLOCK_LITERAL')
    throw new FieldError(`${name} is a block of several lines: write it on one line`);
  if (node.tag !== undefined) throw new FieldError(`${name} has the tag ${node.tag}: write it as a plain text`);
  const whole = readScalar(node);
  if (/\{\{|\$\{|<%/.test(whole)) throw new FieldError(explainTemplate(name));
  const [start, end] = node.range;
  return { ...splitValue(whole, place), node, start, end };
}

function parseText(text: string): Document.Parsed[] {
  if (Buffer.byteLength(text) > GIT_COMMIT_LIMITS.file.max)
    throw new FieldError(
      `the file is larger than ${GIT_COMMIT_LIMITS.file.max} bytes: keep the field in a file of its own`,
    );
  if (isTooDeep(text)) throw new FieldError('the file nests too deep to be read');
  try {
    const documents = parseAllDocuments(text, { logLevel: 'silent' });
    const list = 'empty' in documents ? [] : documents;
    const error = list.flatMap(({ errors }) => errors)[0];
    if (error !== undefined) throw error;
    return list as Document.Parsed[];
  } catch (error) {
    const [why = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
    throw new FieldError(text.includes('{{') ? explainTemplate('the file') : `the file is not YAML or JSON: ${why}`);
  }
}

const MOST_DEPTH = 100;

/** The parser needs seconds for thousands of levels. Brackets in texts count too; only a file that is made for it has so many open ones. */
function isTooDeep(text: string): boolean {
  if (/(?:[-?:][ \t]+){100}/.test(text)) return true;
  let depth = 0;
  for (const one of text) {
    if (one === '[' || one === '{') depth += 1;
    else if (one === ']' || one === '}') depth = Math.max(0, depth - 1);
    if (depth > MOST_DEPTH) return true;
  }
  return false;
}

function findNodes(document: Document.Parsed, place: FieldPlace): FoundNode[] {
  const root: FoundNode = { node: document.contents, isShared: false };
  if ('kustomize' in place) return findImages(root, place.kustomize, place.pin === 'digest' ? 'digest' : 'newTag');
  if ('container' in place) return findContainers(root, place);
  return place.key.reduce((found, key) => found.flatMap((one) => listChildren(one, key)), [root]);
}

/** The entries of `images` of a kustomization.yaml with this name. */
function findImages(root: FoundNode, name: string, key: 'newTag' | 'digest'): FoundNode[] {
  const entries = listItems(root, ['images']).filter((entry) => readKeyText(entry, 'name') === name);
  for (const entry of entries)
    if (key === 'newTag' && listChildren(entry, 'digest').length > 0)
      throw new FieldError(
        `the image ${name} has a digest, which wins over newTag: remove one of them, or write pin: digest`,
      );
  return entries.flatMap((entry) => listChildren(entry, key));
}

/** The places of containers: in a workload, in a CronJob and in a Pod. */
const CONTAINERS = [
  ['spec', 'template', 'spec', 'containers'],
  ['spec', 'jobTemplate', 'spec', 'template', 'spec', 'containers'],
  ['spec', 'containers'],
];

function findContainers(root: FoundNode, place: Extract<FieldPlace, { container: string }>): FoundNode[] {
  if (place.kind !== undefined && readKeyText(root, 'kind') !== place.kind) return [];
  const names = listChildren(root, 'metadata').map((metadata) => readKeyText(metadata, 'name'));
  if (place.name !== undefined && !names.includes(place.name)) return [];
  return CONTAINERS.flatMap((path) => listItems(root, path))
    .filter((container) => readKeyText(container, 'name') === place.container)
    .flatMap((container) => listChildren(container, 'image'));
}

/** The items of the list at a path. */
function listItems(root: FoundNode, path: readonly string[]): FoundNode[] {
  const lists = path.reduce((found, key) => found.flatMap((one) => listChildren(one, key)), [root]);
  return lists.flatMap((list) =>
    isSeq(list.node) ? list.node.items.map((node) => ({ node, isShared: hasAnchor(list) })) : [],
  );
}

/** The value under a key of a map, or at an index of a list; a list, because the key may be missing. */
function listChildren(parent: FoundNode, key: string | number): FoundNode[] {
  const isShared = hasAnchor(parent);
  const { node } = parent;
  if (isSeq(node)) {
    const item = typeof key === 'number' || /^\d+$/.test(key) ? node.items[Number(key)] : undefined;
    return item === undefined ? [] : [{ node: item, isShared }];
  }
  if (!isMap(node)) return [];
  return node.items.flatMap((pair) =>
    isPair(pair) && isScalar(pair.key) && String(pair.key.value) === String(key)
      ? [{ node: pair.value, isShared }]
      : [],
  );
}

const hasAnchor = ({ node, isShared }: FoundNode): boolean =>
  isShared || ((isMap(node) || isSeq(node)) && node.anchor !== undefined);

function readKeyText(parent: FoundNode, key: string): string | undefined {
  const [child] = listChildren(parent, key);
  return isScalar(child?.node) ? readScalar(child.node) : undefined;
}

/** The text as written: 1.10 stays 1.10. */
const readScalar = (node: Scalar): string =>
  node.type === 'PLAIN' && node.source !== undefined ? node.source : String(node.value);

/** The tag or digest of an image `name:tag` or `name@digest`; of any other field the whole value. */
function splitValue(whole: string, place: FieldPlace): { prefix: string; value: string } {
  if (!('container' in place)) return { prefix: '', value: whole };
  const [image = '', digest] = whole.split('@');
  const colon = image.lastIndexOf(':');
  const hasTag = colon > image.lastIndexOf('/');
  const { container } = place;
  if (place.pin === 'digest') {
    if (digest === undefined)
      throw new FieldError(`the image of the container ${container} has no digest: write name@sha256:…, or pin: tag`);
    if (hasTag)
      throw new FieldError(
        `the image of the container ${container} has a tag and a digest, and a changed digest would belie the tag: remove the tag`,
      );
    return { prefix: `${image}@`, value: digest };
  }
  if (digest !== undefined)
    throw new FieldError(
      `the image of the container ${container} has a digest, which wins over its tag: remove it, or write pin: digest`,
    );
  if (!hasTag) throw new FieldError(`the image of the container ${container} has no tag: write name:tag`);
  return { prefix: image.slice(0, colon + 1), value: image.slice(colon + 1) };
}

const looksLikeJson = (text: string): boolean => /^\s*[{[]/.test(text);

function explainMissing(text: string, place: FieldPlace): string {
  const name = describePlace(place);
  if (/^\s*(-\s+)?<<:/m.test(text))
    return `${name} is not there itself, and the file has merge keys (<<): write it out where it applies`;
  if ('kustomize' in place)
    return `${name} has no ${place.pin === 'digest' ? 'digest' : 'newTag'} under images: add an entry with name and ${place.pin === 'digest' ? 'digest' : 'newTag'} once by hand`;
  if ('container' in place)
    return `${name} is not there, or has no image: compare its name, kind and name of the object`;
  return `${name} is not there: add it once by hand`;
}

const explainTemplate = (name: string): string =>
  `${name} is a template: deploy the file of its values, such as values.yaml, and not the template`;
