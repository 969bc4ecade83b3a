import fc from 'fast-check';
import { parsePackage, pieceBytesFor, readPackage, sizeOfPiece } from '../../../../configerator/domain/vessel/package';
import { VESSEL_LIMITS } from '../../../../domain/limits';

const D = 'd'.repeat(64);
const GOOD = { version: 1, digest: D, bytes: 250, pieceBytes: 100, pieces: [D, D, D], source: 'http://t:4710' };

test('a package is what its publisher wrote, and nothing besides', () => {
  expect(parsePackage('models/feed', { ...GOOD, extra: 1 })).toEqual(GOOD);
});

test.each([
  [null, 'it is not an object'],
  [{ ...GOOD, version: 0 }, 'version is not a number from 1'],
  [{ ...GOOD, digest: 'D'.repeat(64) }, 'digest is not a SHA-256 in hexadecimal'],
  [{ ...GOOD, bytes: 1.5 }, 'bytes is not a number from 1'],
  [{ ...GOOD, pieceBytes: '100' }, 'pieceBytes is not a number from 1'],
  [{ ...GOOD, pieceBytes: VESSEL_LIMITS.piece.max + 1 }, 'pieceBytes is more than 4194304'],
  [{ ...GOOD, bytes: 16 * 1024 ** 3 + 1 }, 'bytes is more than 16384 MB'],
  [{ ...GOOD, pieces: 3 }, 'pieces is not a list'],
  [{ ...GOOD, pieces: [D] }, '250 bytes in pieces of 100 are not 1'],
  [{ ...GOOD, pieces: Array.from({ length: 4097 }, () => D) }, 'it has more than 4096 pieces'],
  [{ ...GOOD, pieces: [D, D, 'x'] }, 'a piece is not a SHA-256 in hexadecimal'],
  [{ ...GOOD, source: 'trainer' }, 'source is not an address such as http://trainer-1:4710'],
  [{ ...GOOD, source: 'http://t/a' }, 'source is not an address such as http://trainer-1:4710'],
])('%j is refused in words', (value, why) => {
  expect(() => parsePackage('models/feed', value)).toThrow(`the value of models/feed is not a valid package: ${why}`);
});

test('a value that is not JSON is refused as one that names no package', () => {
  expect(() => readPackage('models/feed', '{')).toThrow(/^the value of models\/feed is not a valid package: /);
});

test('a package of the largest size has as many pieces as are allowed', () => {
  const bytes = VESSEL_LIMITS.megabytes.max * 1024 * 1024;
  const pieces = Array.from({ length: VESSEL_LIMITS.pieces.max }, () => D);
  expect(parsePackage('models/feed', { ...GOOD, bytes, pieceBytes: pieceBytesFor(bytes), pieces }).bytes).toBe(bytes);
});

test('pieces are as large together as the package, whatever its size', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 2 ** 34 }), (bytes) => {
      const pieceBytes = pieceBytesFor(bytes);
      const count = Math.ceil(bytes / pieceBytes);
      expect(count).toBeLessThanOrEqual(VESSEL_LIMITS.pieces.max);
      const last = sizeOfPiece({ bytes, pieceBytes }, count - 1);
      expect((count - 1) * pieceBytes + last).toBe(bytes);
      expect(last).toBeGreaterThan(0);
    }),
  );
});
