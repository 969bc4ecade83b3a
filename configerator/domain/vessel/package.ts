import { conveyorError } from '../../../domain/errors';
import { VESSEL_LIMITS } from '../../../domain/limits';

/** The description of a package in the configuration: its data comes from other hosts, piece by piece (docs/design/config.md#packages). */
export interface Package {
  /** Counts up, for people; hosts need the version that the configuration names last. */
  readonly version: number;
  /** SHA-256 of all data, in hexadecimal. */
  readonly digest: string;
  readonly bytes: number;
  /** The size of each piece except the last, which has the rest. */
  readonly pieceBytes: number;
  /** SHA-256 of each piece. */
  readonly pieces: readonly string[];
  /** The address at which its publisher serves it. */
  readonly source: string;
}

/** Paths of packages: a host is live on such a value once an application has loaded the package. */
export const isPackagePath = (path: string): boolean => path.startsWith(PACKAGES);

const PACKAGES = 'models/';

export const isSha256Digest = (value: unknown): value is string =>
  typeof value === 'string' && /^[0-9a-f]{64}$/.test(value);

/** @throws ConveyorError `package-invalid` */
export function parsePackage(path: string, value: unknown): Package {
  const why = whyNotPackage(value);
  if (why !== undefined) throw conveyorError('package-invalid', { path, why });
  const { version, digest, bytes, pieceBytes, pieces, source } = value as Package;
  return { version, digest, bytes, pieceBytes, pieces, source };
}

/** The same for the text of a value. @throws ConveyorError `package-invalid` */
export function readPackage(path: string, text: string): Package {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw conveyorError('package-invalid', { path, why: (error as Error).message });
  }
  return parsePackage(path, value);
}

function whyNotPackage(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return 'it is not an object';
  const { version, digest, bytes, pieceBytes, pieces, source } = value as Readonly<Record<string, unknown>>;
  if (!isCount(version)) return 'version is not a number from 1';
  if (!isSha256Digest(digest)) return 'digest is not a SHA-256 in hexadecimal';
  if (!isCount(bytes)) return 'bytes is not a number from 1';
  if (!isCount(pieceBytes)) return 'pieceBytes is not a number from 1';
  if (pieceBytes > VESSEL_LIMITS.piece.max) return `pieceBytes is more than ${VESSEL_LIMITS.piece.max}`;
  if (bytes > VESSEL_LIMITS.megabytes.max * MB) return `bytes is more than ${VESSEL_LIMITS.megabytes.max} MB`;
  if (!Array.isArray(pieces)) return 'pieces is not a list';
  if (pieces.length > VESSEL_LIMITS.pieces.max) return `it has more than ${VESSEL_LIMITS.pieces.max} pieces`;
  if (pieces.length !== Math.ceil(bytes / pieceBytes))
    return `${bytes} bytes in pieces of ${pieceBytes} are not ${pieces.length}`;
  if (!pieces.every(isSha256Digest)) return 'a piece is not a SHA-256 in hexadecimal';
  if (typeof source !== 'string' || !/^https?:\/\/[^/\s]+$/.test(source))
    return 'source is not an address such as http://trainer-1:4710';
  return undefined;
}

const MB = 1024 * 1024;

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 1;

/** The number of bytes in a piece. */
export const sizeOfPiece = ({ bytes, pieceBytes }: Pick<Package, 'bytes' | 'pieceBytes'>, piece: number): number =>
  Math.min(pieceBytes, bytes - piece * pieceBytes);

/**
 * The smallest piece size, a power of two from 64 kB, that splits this many bytes into a few hundred pieces, or into as few as possible.
 */
export function pieceBytesFor(bytes: number): number {
  let size = SMALLEST;
  while (size < VESSEL_LIMITS.piece.max && bytes / size > USUAL) size *= 2;
  return size;
}

const SMALLEST = 64 * 1024;
const USUAL = 256;
