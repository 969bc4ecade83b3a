import { colorFor } from '../../cli/output';

test.each<[what: string, env: Record<string, string>, isTTY: boolean, flag: boolean | undefined, colored: boolean]>([
  ['a terminal', {}, true, undefined, true],
  ['a pipe', {}, false, undefined, false],
  ['a terminal with NO_COLOR', { NO_COLOR: '1', FORCE_COLOR: '1' }, true, undefined, false],
  ['a terminal with --no-color', { FORCE_COLOR: '1' }, true, false, false],
  ['a terminal that knows none', { TERM: 'dumb' }, true, undefined, false],
  ['a pipe with FORCE_COLOR=1', { FORCE_COLOR: '1' }, false, undefined, true],
  ['a pipe with FORCE_COLOR=true', { FORCE_COLOR: 'true' }, false, undefined, true],
  ['a pipe with CLICOLOR_FORCE=1', { CLICOLOR_FORCE: '1' }, false, undefined, true],
  ['a pipe with FORCE_COLOR=0', { FORCE_COLOR: '0' }, false, undefined, false],
  ['a pipe with FORCE_COLOR=false', { FORCE_COLOR: 'false' }, false, undefined, false],
  ['a pipe with CLICOLOR_FORCE=0', { CLICOLOR_FORCE: '0' }, false, undefined, false],
  ['a pipe with CLICOLOR_FORCE=false', { CLICOLOR_FORCE: 'false' }, false, undefined, false],
])('%s %j has colours only where they are wanted', (_what, env, isTTY, flag, colored) => {
  expect(colorFor({ env }, isTTY, flag)).toBe(colored);
});
