import type { Target } from '../../sdk';
import type { UnitDefinition } from './units';

/** The text that stands in a field for a version of Conveyor, and back. Pure. */

/** The version has no text that could stand in the field. */
export class ValueError extends Error {
  override readonly name = 'ValueError';
}

const TAG = /^\w[\w.-]{0,127}$/;
const IMAGE_DIGEST = /^sha(256:[0-9a-f]{64}|512:[0-9a-f]{128})$/;

/**
 * The text for a version. A revert brings no artifacts: then the text of before is known, or follows from the version.
 * @throws ValueError
 */
export function findFieldValue(
  { value, field }: Pick<UnitDefinition, 'value' | 'field'>,
  { version, artifacts }: Pick<Target, 'version' | 'artifacts'>,
  known: Readonly<Record<string, string>> = {},
): string {
  const own = artifacts.find((artifact) => artifact.version === version)?.digest;
  const digest = own ?? (artifacts.length === 1 ? artifacts[0]?.digest : undefined);
  const before = known[version];
  if (before !== undefined && (digest === undefined || before.includes(digest))) return before;
  const needsDigest = value.includes('{digest}');
  if (needsDigest && digest === undefined && !IMAGE_DIGEST.test(version))
    throw new ValueError(`${version} has no digest, which the field needs: let the finder or the build give one`);
  const text = value.replaceAll('{version}', version).replaceAll('{digest}', digest ?? version);
  if ('pin' in field && field.pin === 'tag' && !TAG.test(text))
    throw new ValueError(
      `${JSON.stringify(text)} is no tag of an image: write a value such as {version} that makes one`,
    );
  if ('pin' in field && field.pin === 'digest' && !IMAGE_DIGEST.test(text))
    throw new ValueError(`${JSON.stringify(text)} is no digest of an image, such as sha256:…`);
  if (/[\u0000-\u001f\u007f]/.test(text) || text.trim() !== text || text === '')
    throw new ValueError(`${JSON.stringify(text)} is no text of one line`);
  return text;
}

/** The version for a text that stands in the file. */
export function findValueVersion(
  { value }: Pick<UnitDefinition, 'value'>,
  text: string,
  known: Readonly<Record<string, string>> = {},
): string {
  const remembered = Object.entries(known).findLast(([, one]) => one === text)?.[0];
  if (remembered !== undefined) return remembered;
  const [before = '', after = '', ...more] = value.split('{version}');
  const isPlain = value.includes('{version}') && more.length === 0 && !value.includes('{digest}');
  const fits = isPlain && text.length > before.length + after.length && text.startsWith(before) && text.endsWith(after);
  return fits ? text.slice(before.length, text.length - after.length) : text;
}
