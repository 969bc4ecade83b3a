import { formatFileSize } from '../../../cli/backup/files';

test.each([
  [1, '1 byte'],
  [999, '999 bytes'],
  [1_000, '1.0 kB'],
  [500_000, '500.0 kB'],
  [999_949, '999.9 kB'],
  [999_950, '1.0 MB'],
  [12_345_678, '12.3 MB'],
  [8e12, '8000.0 GB'],
])('the size of a file of %d bytes is %s', (bytes, said) => expect(formatFileSize(bytes)).toBe(said));
