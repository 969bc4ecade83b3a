import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

/** As the command line begins, and then writes: all of that takes too long to load from its sources. */
const ROOT = join(__dirname, '../..');
const file = JSON.stringify(join(ROOT, 'cli/processIo.ts'));
const program = `
require(${JSON.stringify(join(ROOT, 'node_modules/jiti'))}).createJiti(${file}).import(${file}).then((it) => {
  it.endQuietlyOnClosedPipe();
  it.processIo().stdout.write('kvstore/13');
});`;

test('a command whose reader has gone ends quietly, and not with success', async () => {
  const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'pipe'] });
  child.stdout.destroy();
  const [[code], stderr] = await Promise.all([once(child, 'close'), text(child.stderr)]);
  expect({ code, stderr }).toEqual({ code: 141, stderr: '' });
});
