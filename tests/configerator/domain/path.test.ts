import { whyNotConfigPath } from '../../../configerator/domain/path';

const ODD = 'a name in it has something else than A-Z, a-z, 0-9, ".", "_" and "-"';
const LEAVES = 'it leaves its folder with . or ..';

test.each([
  ['a', undefined],
  ['shop/limits.json', undefined],
  ['a/..b/c_-.yaml', undefined],
  ['', 'it is empty'],
  ['/a', 'it begins with /, and paths are relative to the tree'],
  ['a//b', ODD],
  ['a/', ODD],
  ['a/../b', LEAVES],
  ['.', LEAVES],
  ['a:b', ODD],
  ['a b', ODD],
  ['é', ODD],
  ['a'.repeat(257), 'it has more than 256 characters'],
])('the path %j: %s', (path, why) => {
  expect(whyNotConfigPath(path)).toBe(why);
});
